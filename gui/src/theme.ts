// Light, dark or high contrast: as the system says, unless the user chose.

import { useEffect, useState } from "preact/hooks";
import { readPreference, writePreference } from "./store.ts";

export const THEMES = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];

export function nextTheme(theme: Theme): Theme {
	return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
}

// The choice, what is in force (it changes with the system's), and how to choose.
export function useTheme(): [Theme, string, (next: Theme | ((old: Theme) => Theme)) => void] {
	const [choice, setChoice] = useState<Theme>(() =>
		THEMES.find((theme) => theme === readPreference("theme")) ?? "system");
	const [inForce, setInForce] = useState("");
	useEffect(() => {
		const queries = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"].map((query) => matchMedia(query));
		const apply = () => {
			const [isDark, isContrast] = queries.map((query) => query.matches);
			const theme = choice !== "system" ? choice : isContrast ? (isDark ? "contrast" : "contrast-light") : isDark ? "dark" : "light";
			document.documentElement.dataset.theme = theme;
			setInForce(theme);
		};
		apply();
		for (const query of queries) query.addEventListener("change", apply);
		return () => {
			for (const query of queries) query.removeEventListener("change", apply);
		};
	}, [choice]);
	return [choice, inForce, (next) => setChoice((old) => {
		const theme = typeof next === "function" ? next(old) : next;
		writePreference("theme", theme);
		return theme;
	})];
}
