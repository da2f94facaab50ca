// Two profiles side by side.  Lines are matched by file, function and text, not by
// number: a line that moved is the same line.  What is left over in a function, when it
// is equally many lines on both sides, was edited and is matched in order.

import type { Line, Profile } from "./model.ts";
import type { StackFunction, Stacks } from "./stacks.ts";
import { ownTimes } from "./stacks.ts";

export interface Pair {
	readonly before: Line | undefined; // undefined: the line is new
	readonly after: Line | undefined; // undefined: it is gone
	readonly isEdited: boolean;
	readonly delta: number; // seconds, self
	readonly isNoise: boolean; // the 95 % intervals overlap
	readonly peakDelta: number; // MB
}

export interface Comparison {
	readonly pairs: readonly Pair[]; // largest change first
	readonly totalBefore: number;
	readonly totalAfter: number;
	readonly slower: number; // how many pairs are, beyond noise
	readonly faster: number;
	readonly verdict: string;
}

const SMALL_SECONDS = 0.001;
const SMALL_MB = 1;

export function compare(before: Profile, after: Profile): Comparison {
	const pairs = matchLines(before, after)
		.map(([b, a, isEdited]) => makePair(before, after, b, a, isEdited))
		.sort((x, y) => Number(x.isNoise) - Number(y.isNoise) || Math.abs(y.delta) - Math.abs(x.delta));
	const real = pairs.filter((pair) => !pair.isNoise);
	const slower = real.filter((pair) => pair.delta > 0).length;
	const faster = real.filter((pair) => pair.delta < 0).length;
	return {
		pairs,
		totalBefore: before.total,
		totalAfter: after.total,
		slower,
		faster,
		verdict: verdictOf(before, after, slower, faster),
	};
}

function verdictOf(before: Profile, after: Profile, slower: number, faster: number): string {
	const ratio = after.total > 0 ? before.total / after.total : 1;
	const time = slower + faster === 0 && Math.abs(ratio - 1) < 0.05
		? "No change"
		: ratio >= 1.02 ? `${times(ratio)} faster` : ratio <= 0.98 ? `${times(1 / ratio)} slower` : "As fast as before";
	const parts = [time];
	const mb = after.memory.peak - before.memory.peak;
	if (before.hasMemory && after.hasMemory && Math.abs(mb) > Math.max(SMALL_MB, before.memory.peak * 0.02))
		parts.push(`${Math.abs(mb).toFixed(0)} MB ${mb > 0 ? "more" : "less"} at the peak`);
	const lines = (n: number, what: string) => n > 0 && parts.push(`${n} line${n > 1 ? "s" : ""} ${what}`);
	lines(slower, "slower");
	lines(faster, "faster");
	return `${parts.join(", ")}.`;
}

function times(ratio: number): string {
	return ratio < 1.1 ? `${((ratio - 1) * 100).toFixed(0)}%` : `${ratio.toFixed(1)}×`;
}

function makePair(before: Profile, after: Profile, b: Line | undefined, a: Line | undefined, isEdited: boolean): Pair {
	const delta = (a?.self ?? 0) - (b?.self ?? 0);
	const [lowBefore, highBefore] = interval(b, before.total);
	const [lowAfter, highAfter] = interval(a, after.total);
	return {
		before: b,
		after: a,
		isEdited,
		delta,
		isNoise: Math.abs(delta) < SMALL_SECONDS || (lowAfter <= highBefore && lowBefore <= highAfter),
		peakDelta: (a?.peak ?? 0) - (b?.peak ?? 0),
	};
}

// In seconds.  A line without samples may still have run a little; where the file has no
// interval, a tenth either way.
function interval(line: Line | undefined, total: number): [number, number] {
	if (!line) return [0, total * 0.002];
	if (line.low === undefined || line.high === undefined) return [line.self * 0.9, line.self * 1.1];
	return [(line.low * total) / 100, (line.high * total) / 100];
}

type Match = [Line | undefined, Line | undefined, boolean];

function matchLines(before: Profile, after: Profile): Match[] {
	const matched: Match[] = [];
	const groupsBefore = byFunction(before);
	const groupsAfter = byFunction(after);
	for (const key of new Set([...groupsBefore.keys(), ...groupsAfter.keys()]))
		matched.push(...matchFunction(groupsBefore.get(key) ?? [], groupsAfter.get(key) ?? []));
	return matched;
}

function matchFunction(before: readonly Line[], after: readonly Line[]): Match[] {
	const matched: Match[] = [];
	const waiting = new Map<string, Line[]>();
	for (const line of before) {
		const text = line.text.trim();
		waiting.set(text, [...(waiting.get(text) ?? []), line]);
	}
	const left: Line[] = [];
	for (const line of after) {
		const same = waiting.get(line.text.trim())?.shift();
		if (same) matched.push([same, line, false]);
		else left.push(line);
	}
	const gone = [...waiting.values()].flat().sort((a, b) => a.line - b.line);
	if (gone.length === left.length) return [...matched, ...gone.map((line, i): Match => [line, left[i], true])];
	return [...matched, ...gone.map((line): Match => [line, undefined, false]), ...left.map((line): Match => [undefined, line, false])];
}

function byFunction(profile: Profile): Map<string, Line[]> {
	const groups = new Map<string, Line[]>();
	for (const file of profile.files)
		for (const line of file.lines) {
			let name = "<module>";
			if (line.functionStart > 0)
				for (const func of file.functions) if (func.line <= line.functionStart && func.text !== "<module>") name = func.text;
			const key = `${file.name}\n${name}`;
			const group = groups.get(key);
			if (group) group.push(line);
			else groups.set(key, [line]);
		}
	return groups;
}

export interface StackUnion {
	readonly stacks: Stacks; // the frames of both; no columns of its own
	readonly before: Float64Array; // a node's own microseconds
	readonly after: Float64Array;
	readonly widths: Float64Array; // the larger of the two: a frame is as wide as it ever was
}

// One tree of both, by function: what is only on one side has 0 on the other.
export function uniteStacks(before: Profile, after: Profile): StackUnion | undefined {
	if (!before.stacks || !after.stacks) return undefined;
	const functions: StackFunction[] = [];
	const functionOf = new Map<string, number>();
	const parent = [0];
	const func = [-1];
	const line = [0];
	const nodeOf = new Map<string, number>();
	const own: [number[], number[]] = [[0], [0]];
	[before, after].forEach((profile, side) => {
		const stacks = profile.stacks!;
		const times = ownTimes(stacks);
		const place = new Int32Array(stacks.count);
		for (let node = 1; node < stacks.count; node++) {
			const called = stacks.functions[stacks.func[node]!];
			const name = `${nameBelow(called?.file ?? "", profile.folder)}\n${called?.name}`;
			let id = functionOf.get(name);
			if (id === undefined) {
				id = functions.length;
				functionOf.set(name, id);
				functions.push(called ?? { name: "?", file: "", firstLine: 0, isInScope: false });
			}
			const key = `${place[stacks.parent[node]!]} ${id}`;
			let united = nodeOf.get(key);
			if (united === undefined) {
				united = parent.length;
				nodeOf.set(key, united);
				parent.push(place[stacks.parent[node]!]!);
				func.push(id);
				line.push(stacks.line[node]!);
				own[0].push(0);
				own[1].push(0);
			}
			place[node] = united;
			own[side]![united]! += times[node]!;
		}
	});
	const left = Float64Array.from(own[0]);
	const right = Float64Array.from(own[1]);
	const stacks: Stacks = {
		...after.stacks, // its columns and threads are not those of the union
		count: parent.length,
		parent: Int32Array.from(parent),
		func: Int32Array.from(func),
		line: Int32Array.from(line),
		functions,
		threadNodes: new Int32Array(),
		threadOf: new Int32Array(),
		threadTimes: new Float64Array(),
	};
	return { stacks, before: left, after: right, widths: left.map((time, i) => Math.max(time, right[i]!)) };
}

function nameBelow(path: string, folder: string): string {
	if (folder !== "" && path.startsWith(`${folder}/`)) return path.slice(folder.length + 1);
	return path.replace(/^.*\/(site-packages|dist-packages|python3[^/]*)\//, "");
}
