// What is shown, as far as a link should lead there again.  It lives in the address:
// #v=source&f=2&l=34.  Keys are short, defaults are left out, unknown keys are ignored.

import type { Range } from "./timeline.ts";

export const VIEWS = ["summary", "source", "flame", "timeline", "memory", "compare"] as const;
export type View = (typeof VIEWS)[number];

const METRICS = [
	"time", "cpu", "wait", "idle", "allocated", "atPeak", "kept", "copied", "gil", "gc", "gpu",
] as const;
export type Metric = (typeof METRICS)[number];

export interface State {
	readonly view: View;
	readonly file: number; // -1: all files
	readonly line: number; // the selected one, 0: none
	readonly mode: "all" | "active" | "functions";
	readonly sort: string; // column, "" is the file's own order
	readonly isAscending: boolean;
	readonly query: string;
	readonly range: Range | undefined;
	readonly metric: Metric;
	readonly thread: number; // -1: all; -2 - n: all of process n
	readonly isInverted: boolean;
	readonly isScopeOnly: boolean;
	readonly isTable: boolean;
	readonly zoom: readonly number[]; // functions from the root
}

export const DEFAULT: State = {
	view: "summary",
	file: 0,
	line: 0,
	mode: "all",
	sort: "",
	isAscending: false,
	query: "",
	range: undefined,
	metric: "time",
	thread: -1,
	isInverted: false,
	isScopeOnly: false,
	isTable: false,
	zoom: [],
};

function oneOf<T extends string>(value: string | null, allowed: readonly T[], otherwise: T): T {
	return allowed.find((item) => item === value) ?? otherwise;
}

function integer(value: string | null, otherwise: number): number {
	return value !== null && /^-?\d{1,9}$/.test(value) ? Number(value) : otherwise;
}

export function parseState(hash: string): State {
	const keys = new URLSearchParams(hash.replace(/^#/, ""));
	const range = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(keys.get("t") ?? "");
	const from = Number(range?.[1]);
	const to = Number(range?.[2]);
	const sort = /^([a-zA-Z]{1,20})(\.asc)?$/.exec(keys.get("s") ?? "");
	return {
		view: oneOf(keys.get("v"), VIEWS, DEFAULT.view),
		file: integer(keys.get("f"), DEFAULT.file),
		line: Math.max(0, integer(keys.get("l"), DEFAULT.line)),
		mode: oneOf(keys.get("w"), ["all", "active", "functions"], DEFAULT.mode),
		sort: sort?.[1] ?? "",
		isAscending: sort?.[2] !== undefined,
		query: (keys.get("q") ?? "").slice(0, 200),
		range: range && to > from ? { from, to } : undefined,
		metric: oneOf(keys.get("m"), METRICS, DEFAULT.metric),
		thread: integer(keys.get("th"), DEFAULT.thread),
		isInverted: keys.get("inv") === "1",
		isScopeOnly: keys.get("own") === "1",
		isTable: keys.get("tab") === "1",
		zoom: (keys.get("z") ?? "").split(".").filter((item) => /^\d{1,9}$/.test(item)).map(Number),
	};
}

export function formatState(state: State): string {
	const keys = new URLSearchParams();
	const put = (key: string, value: string | number, standard: string | number) => {
		if (value !== standard) keys.set(key, String(value));
	};
	put("v", state.view, DEFAULT.view);
	put("f", state.file, DEFAULT.file);
	put("l", state.line, DEFAULT.line);
	put("w", state.mode, DEFAULT.mode);
	put("s", state.sort && state.sort + (state.isAscending ? ".asc" : ""), "");
	put("q", state.query, "");
	if (state.range) put("t", `${trim(state.range.from)}-${trim(state.range.to)}`, "");
	put("m", state.metric, DEFAULT.metric);
	put("th", state.thread, DEFAULT.thread);
	put("inv", state.isInverted ? 1 : 0, 0);
	put("own", state.isScopeOnly ? 1 : 0, 0);
	put("tab", state.isTable ? 1 : 0, 0);
	put("z", state.zoom.join("."), "");
	return keys.toString();
}

function trim(seconds: number): string {
	return seconds.toFixed(3).replace(/\.?0+$/, "");
}
