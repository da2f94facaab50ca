// The frame around the views: bar, tabs, search, keys, themes.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AppContext, type App } from "./context.ts";
import { closeMenus, handleKey } from "./keys.ts";
import { followLive, type Connection, type Loaded } from "./load.ts";
import type { Line, Profile } from "./model.ts";
import { Help } from "./parts/help.tsx";
import { usePrinting } from "./parts/print.tsx";
import { RangeChip } from "./parts/range.tsx";
import { SuggestDialog } from "./parts/suggest.tsx";
import { TopBar } from "./parts/topbar.tsx";
import { parseQuery } from "./search.ts";
import { partOfRun, wholeRun } from "./slice.ts";
import type { State } from "./state.ts";
import { readAddress, writeAddress } from "./store.ts";
import type { Scope } from "./suggest.ts";
import { nextTheme, useTheme } from "./theme.ts";
import { Compare } from "./views/compare.tsx";
import { Flame } from "./views/flame.tsx";
import { Memory } from "./views/memory.tsx";
import { Source } from "./views/source.tsx";
import { Summary } from "./views/summary.tsx";
import { Timeline } from "./views/timeline.tsx";

const NOTICE_MS = 4000;

export function Page({ loaded }: { loaded: Loaded }) {
	const [profile, setProfile] = useState<Profile>(loaded.profile);
	const [baseline, setBaseline] = useState<Profile | undefined>(loaded.baseline);
	const [state, setState] = useState<State>(readAddress);
	const [notice, setNotice] = useState("");
	const [isHelp, setHelp] = useState(false);
	const [suggestion, setSuggestion] = useState<{ line: Line; scope: Scope }>();
	const [connection, setConnection] = useState<Connection>(loaded.profile.isPartial ? "live" : "the program has ended");
	const [choice, theme, setTheme] = useTheme();
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

	const latest = useRef(state);
	latest.current = state;
	const go = useCallback((change: Partial<State>, isStep = true) => {
		const next = { ...latest.current, ...change };
		latest.current = next;
		writeAddress(next, isStep);
		setState(next);
	}, []);
	const suggest = useCallback((line: Line, scope: Scope = "line") => setSuggestion({ line, scope }), []);
	const say = useCallback((text: string) => {
		clearTimeout(timer.current);
		setNotice(text);
		timer.current = setTimeout(() => setNotice(""), NOTICE_MS);
	}, []);

	useEffect(() => {
		const back = () => setState(readAddress());
		addEventListener("popstate", back);
		addEventListener("hashchange", back);
		return () => {
			removeEventListener("popstate", back);
			removeEventListener("hashchange", back);
		};
	}, []);
	useEffect(() => (loaded.server?.isLive && loaded.profile.isPartial ? followLive((next) => {
		setProfile((old) => {
			// The order of the files changes while the program runs; the one looked at stays.
			const path = old.files[latest.current.file]?.path;
			const index = next.files.findIndex((file) => file.path === path);
			if (index >= 0 && index !== latest.current.file) go({ file: index }, false);
			return next;
		});
	}, setConnection) : undefined), []);

	const slice = useMemo(
		() => (state.range ? partOfRun(profile, state.range) : wholeRun(profile)),
		[profile, state.range?.from, state.range?.to],
	);
	const matcher = useMemo(() => parseQuery(state.query), [state.query]);
	const app: App = { profile, baseline, server: loaded.server, slice, state, matcher, theme, go, say, suggest, setBaseline };

	usePrinting(app);
	useEffect(() => {
		// A second key may come before the first one's change is on screen.
		const press = (event: KeyboardEvent) => handleKey(event, { ...app, state: latest.current }, {
			toggleHelp: () => setHelp((isOpen) => !isOpen),
			nextTheme: () => setTheme(nextTheme),
		});
		addEventListener("keydown", press);
		return () => removeEventListener("keydown", press);
	});
	useEffect(() => {
		const leave = (event: Event) => void closeMenus(event.target);
		addEventListener("pointerdown", leave);
		addEventListener("focusin", leave);
		return () => {
			removeEventListener("pointerdown", leave);
			removeEventListener("focusin", leave);
		};
	}, []);
	return (
		<AppContext.Provider value={app}>
			<TopBar theme={choice} setTheme={setTheme} openHelp={() => setHelp(true)} connection={connection} />
			<RangeChip />
			<main id="view" class={`view-${state.view}`} tabIndex={-1}>
				{state.view === "summary" && <Summary />}
				{state.view === "source" && <Source />}
				{state.view === "flame" && <Flame />}
				{state.view === "timeline" && <Timeline />}
				{state.view === "memory" && <Memory />}
				{state.view === "compare" && <Compare />}
			</main>
			<div class="notice" role="status" aria-live="polite">{notice}</div>
			{suggestion && <SuggestDialog {...suggestion} close={() => setSuggestion(undefined)} />}
			{isHelp && <Help close={() => setHelp(false)} />}
		</AppContext.Provider>
	);
}
