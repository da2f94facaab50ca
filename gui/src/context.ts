// What every view is given: the profile, the part of it that is shown, and how to change that.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { functionAround, nameAround } from "./diff.ts";
import type { Server } from "./load.ts";
import type { Line, Profile } from "./model.ts";
import type { Matcher } from "./search.ts";
import type { Slice } from "./slice.ts";
import type { State } from "./state.ts";
import type { Scope } from "./suggest.ts";

export interface App {
	readonly profile: Profile;
	readonly baseline: Profile | undefined;
	readonly server: Server | undefined;
	readonly slice: Slice;
	readonly state: State;
	readonly matcher: Matcher | undefined;
	readonly theme: string; // changes when colours do: canvases draw anew
	// Shows something else.  `isStep`: the back button leads back (the default).
	go(change: Partial<State>, isStep?: boolean): void;
	say(text: string): void; // a short notice, also for screen readers
	suggest(line: Line, scope?: Scope): void; // opens the panel for it
	setBaseline(profile: Profile | undefined): void;
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
	const app = useContext(AppContext);
	if (!app) throw new Error("outside of the page");
	return app;
}

export function placeOf(profile: Profile, line: Line): string {
	return `${profile.files[line.file]?.name ?? "?"}:${line.line}`;
}

export function matches(app: App, line: Line, func = ""): boolean {
	return app.matcher === undefined || app.matcher({
		file: app.profile.files[line.file]?.name ?? "",
		func,
		code: line.text,
		percent: line.percent,
	});
}

// The text of a line, as far as the profile has it.
export function sourceLine(profile: Profile, file: number, line: number): string {
	const source = profile.files[file]?.source;
	if (!source) return "";
	return (Array.isArray(source) ? source[line - 1] : (source as ReadonlyMap<number, string>).get(line)) ?? "";
}

// The line of a function that takes most of its own time.
export function hottestIn(app: App, func: Line): Line | undefined {
	const functions = app.profile.files[func.file]?.functions ?? [];
	const isIn = (line: Line) => {
		const around = functionAround(functions, line);
		return around ? around.text === func.text && around.line === func.line : func.text === "<module>";
	};
	const lines = app.slice.linesOf[func.file]?.filter(isIn) ?? [];
	return lines.reduce<Line | undefined>((most, line) => (!most || line.self > most.self ? line : most), undefined);
}

export function functionOf(profile: Profile, line: Line): string {
	return nameAround(profile.files[line.file]?.functions ?? [], line);
}
