// Keys for everything.  One table: what the help shows is what the keys do.

import { hottestIn, type App } from "./context.ts";
import { copyMarkdown } from "./markdown.ts";
import type { Line } from "./model.ts";
import { openInEditor } from "./parts/detail.tsx";
import { canSuggest } from "./parts/suggest.tsx";
import { VIEWS, type View } from "./state.ts";
import { readPreference } from "./store.ts";

export interface Actions {
	toggleHelp(): void;
	nextTheme(): void;
}

interface Key {
	readonly key: string;
	readonly does: string;
	act(app: App, actions: Actions): void;
}

const VIEW_NAMES: Readonly<Record<View, string>> = {
	summary: "summary",
	source: "source",
	flame: "flame graph",
	timeline: "timeline",
	memory: "memory",
	compare: "comparison with another run",
};

export const KEYS: readonly Key[] = [
	...VIEWS.map((view, i): Key => ({
		key: String(i + 1),
		does: VIEW_NAMES[view],
		act: (app) => app.go({ view }),
	})),
	{ key: "/", does: "search; there Enter and Shift+Enter go from match to match", act: () => focusSearch() },
	{ key: "j", does: "next hot line", act: (app) => stepHot(app, 1) },
	{ key: "k", does: "previous hot line", act: (app) => stepHot(app, -1) },
	{ key: "n", does: "next line that matches the search", act: (app) => stepLine(app, 1) },
	{ key: "p", does: "previous line that matches", act: (app) => stepLine(app, -1) },
	{ key: "g", does: "go to a line", act: (app) => goToLine(app) },
	{ key: "o", does: "open the line in the editor", act: (app) => openLine(app) },
	{ key: "s", does: "suggest an optimisation of the selected line or function, or of the hottest line", act: (app) => suggestLine(app) },
	{ key: "i", does: "flame graph: invert", act: (app) => app.go({ view: "flame", isInverted: !app.state.isInverted, zoom: [] }) },
	{ key: "t", does: "flame graph: as a table", act: (app) => app.go({ view: "flame", isTable: !app.state.isTable }) },
	{ key: "a", does: "source: all lines, or only those with figures", act: (app) => app.go({ view: "source", mode: app.state.mode === "all" ? "active" : "all" }) },
	{ key: "f", does: "source: functions", act: (app) => app.go({ view: "source", mode: app.state.mode === "functions" ? "all" : "functions" }) },
	{ key: "r", does: "the whole run again", act: (app) => app.go({ range: undefined }) },
	{ key: "m", does: "copy as Markdown", act: (app) => void copyMarkdown(app) },
	{ key: "d", does: "theme: system, light, dark, high contrast", act: (_, actions) => actions.nextTheme() },
	{ key: "?", does: "this help", act: (_, actions) => actions.toggleHelp() },
	{ key: "Escape", does: "close, clear the search, unselect", act: (app) => stepOut(app) },
];

export function handleKey(event: KeyboardEvent, app: App, actions: Actions): void {
	if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
	const target = event.target instanceof Element ? event.target : undefined;
	if (target?.closest("dialog[open]")) return;
	const isTyping = target?.matches("input:not([type=checkbox]), select, textarea") ?? false;
	if (isTyping && event.key !== "Escape") return;
	if (event.key.length === 1 && readPreference("keys") === "off" && event.key !== "?") return;
	const found = KEYS.find((key) => key.key === event.key);
	if (!found) return;
	event.preventDefault();
	found.act(app, actions);
}

function focusSearch(): void {
	const box = document.getElementById("search");
	if (box instanceof HTMLInputElement) {
		box.focus();
		box.select();
	}
}

// Along the hottest lines of the whole program, in the order of their time.
function stepHot(app: App, step: number): void {
	const hot = app.slice.lines.filter((line) => line.self > 0);
	const at = hot.findIndex((line) => line.file === app.state.file && line.line === app.state.line);
	const next = hot[app.state.view !== "source" || at < 0 ? 0 : Math.min(Math.max(at + step, 0), hot.length - 1)];
	if (next) app.go({ view: "source", file: next.file, line: next.line, mode: app.state.mode === "functions" ? "all" : app.state.mode, sort: "" });
}

// Along the lines that match, in the order of files and lines.
export function stepLine(app: App, step: number): void {
	const { state, matcher, profile } = app;
	const found = app.slice.linesOf.flat().filter((line) =>
		!matcher || matcher({ file: profile.files[line.file]?.name ?? "", func: "", code: line.text, percent: line.percent }));
	if (found.length === 0) return app.say("Nothing matches.");
	const at = found.findIndex((line) => line.file === state.file && line.line === state.line);
	const next = found[(Math.max(at, step > 0 ? -1 : 0) + step + found.length) % found.length]!;
	app.go({ view: "source", file: next.file, line: next.line, sort: "" });
}

function goToLine(app: App): void {
	const answer = prompt("Line number");
	const line = Number(answer);
	if (answer && Number.isInteger(line) && line > 0) app.go({ view: "source", file: Math.max(app.state.file, 0), line, mode: "all", sort: "", query: "" });
}

function openLine(app: App): void {
	if (!app.server?.canOpenEditor) app.say("Only a page from “heatline view” can open the editor.");
	else if (app.state.line > 0) void openInEditor(app, app.state);
	else app.say("Select a line first.");
}

function suggestLine(app: App): void {
	const { state, slice } = app;
	const isSelected = state.view === "source" && state.line > 0;
	const find = (lists: readonly (readonly Line[])[]) => lists[state.file]?.find((line) => line.line === state.line);
	const func = isSelected && state.mode === "functions" ? find(slice.functionsOf) : undefined;
	const line = func ? hottestIn(app, func) : isSelected ? find(slice.linesOf) : slice.lines[0];
	if (!canSuggest(app)) app.say("This page has no prompts: open the profile with “heatline view”.");
	else if (line) app.suggest(line, func ? "function" : "line");
	else app.say("This line has no figures.");
}

// Closes the menus that are open, except the one that holds `inside`; true if there were any.
export function closeMenus(inside?: EventTarget | null): boolean {
	let isAny = false;
	for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
		if (inside instanceof Node && menu.contains(inside)) continue;
		menu.open = false;
		isAny = true;
	}
	return isAny;
}

function stepOut(app: App): void {
	if (closeMenus()) return;
	const focused = document.activeElement;
	if (focused instanceof HTMLElement && focused.id === "search") {
		app.go({ query: "" }, false);
		focused.blur();
	} else if (app.state.line > 0) app.go({ line: 0 });
	else if (app.state.zoom.length > 0) app.go({ zoom: app.state.zoom.slice(0, -1) });
	else if (app.state.query) app.go({ query: "" });
}
