// Two profiles side by side, by the rules of `heatline diff` (src/profile/diff.h).
//
// Lines are matched by file, function and text rather than by number, so a line that
// moved is the same line (of several with the same text the one at the same place in the
// function, else the next); then by file and text, then by function and text, at last by
// function and the letters of the text.  Time that k samples stand for is known to the
// 95 % interval of that count; a difference is real when the intervals do not overlap, of
// the time and of the part of it that was the program's own (a busy machine is no slowdown).

import { megabytes, seconds } from "./format.ts";
import type { Line, Profile } from "./model.ts";
import { ownTimes, type StackFunction, type Stacks } from "./stacks.ts";

export interface Pair {
	readonly before: Line | undefined; // undefined: the line is new
	readonly after: Line | undefined; // undefined: it is gone
	readonly isEdited: boolean;
	readonly delta: number; // seconds, self
	readonly isNoise: boolean;
	readonly peakDelta: number; // MB
	readonly isPeakNoise: boolean;
}

export interface Comparison {
	readonly pairs: readonly Pair[]; // what is real first, the largest change first
	readonly slower: number; // how many lines are, beyond noise
	readonly faster: number;
	readonly verdict: string;
}

export function compare(before: Profile, after: Profile): Comparison {
	const pairs = matchLines(before, after)
		.map((match) => makePair(before, after, match))
		.sort((x, y) => Number(x.isNoise) - Number(y.isNoise) || Math.abs(y.delta) - Math.abs(x.delta));
	const real = pairs.filter((pair) => !pair.isNoise);
	const slower = real.filter((pair) => pair.delta > 0).length;
	const faster = real.length - slower;
	return { pairs, slower, faster, verdict: verdictOf(before, after, slower, faster) };
}

function verdictOf(before: Profile, after: Profile, slower: number, faster: number): string {
	const instead = `${seconds(after.total)} instead of ${seconds(before.total)}`;
	let text = !isWholeReal(before, after)
		? `No difference in time beyond noise: ${instead}`
		: `${after.total > before.total ? "Slower" : "Faster"}: ${instead} (${ratioOf(before.total, after.total)})`;
	const change = after.memory.peak - before.memory.peak;
	if (before.hasMemory && after.hasMemory && isPeakReal(before, after))
		text += `; peak memory ${megabytes(Math.abs(change))} ${change > 0 ? "more" : "less"}`;
	if (slower > 0) text += `; ${slower} line${slower > 1 ? "s" : ""} got slower`;
	if (faster > 0) text += `; ${faster} line${faster > 1 ? "s" : ""} got faster`;
	return `${text}.`;
}

function ratioOf(before: number, after: number): string {
	const low = Math.min(before, after);
	const high = Math.max(before, after);
	if (low > 0 && high >= 1.5 * low) return `${Math.min(high / low, 9999).toFixed(1)} times as ${after > before ? "long" : "fast"}`;
	return `${after > before ? "+" : "−"}${(((high - low) / (before || 1)) * 100).toFixed(0)}%`;
}

// ---- noise ----

const QUANTILE = 1.959964; // 97.5 % of the normal distribution
const LEAST_SHARE = 0.01; // of memory: less is no difference
const WHOLE_NOISE = 0.05; // of a whole time, standard deviation
const START_NOISE = 0.01; // seconds, of starting and ending
const MB = 1048576;

// The 95 % interval of seconds that are a part of a whole.
function interval(profile: Profile, whole: number, time: number): [number, number] {
	if (!(profile.samples > 0 && whole > 0)) return [0, Infinity]; // nothing is known
	const perSample = whole / profile.samples;
	const count = time / perSample;
	const middle = count + QUANTILE ** 2 / 2;
	const half = QUANTILE * Math.sqrt(count + QUANTILE ** 2 / 4);
	return [(middle - half) * perSample, (middle + half) * perSample];
}

// 1: more after, beyond noise; -1: less; 0: neither.
function comparePart(before: Profile, after: Profile, wholes: [number, number], parts: [number, number]): number {
	const [lowBefore, highBefore] = interval(before, wholes[0], parts[0]);
	const [lowAfter, highAfter] = interval(after, wholes[1], parts[1]);
	return Number(lowAfter > highBefore) - Number(lowBefore > highAfter);
}

// Of a whole time from run to run: it is read off clocks, also where samples are few.
function wholeVariance(profile: Profile, time: number): number {
	if (!(profile.samples > 0)) return Infinity; // nothing is known
	return Math.min(time ** 2 / profile.samples, (WHOLE_NOISE * time) ** 2 + START_NOISE ** 2);
}

function compareWhole(before: Profile, after: Profile, times: [number, number]): number {
	const noise = QUANTILE * Math.sqrt(wholeVariance(before, times[0]) + wholeVariance(after, times[1]));
	return Number(times[1] - times[0] > noise) - Number(times[0] - times[1] > noise);
}

// On a CPU or waiting, not ready to run and kept from it.
const own = (profile: Profile) => profile.cpu + profile.times.wait;
const ownOf = (line: Line | undefined) => (line ? line.cpu + line.wait : 0);
const knowsOwn = (before: Profile, after: Profile) => before.cpu > 0 && after.cpu > 0;

function isWholeReal(before: Profile, after: Profile): boolean {
	const order = compareWhole(before, after, [before.total, after.total]);
	return order !== 0 && (!knowsOwn(before, after) || compareWhole(before, after, [own(before), own(after)]) === order);
}

function isLineReal(before: Profile, after: Profile, b: Line | undefined, a: Line | undefined): boolean {
	const order = comparePart(before, after, [before.total, after.total], [b?.self ?? 0, a?.self ?? 0]);
	return order !== 0 && (!knowsOwn(before, after) ||
		comparePart(before, after, [own(before), own(after)], [ownOf(b), ownOf(a)]) === order);
}

// Of bytes in MB that a line holds: blocks larger than the sampling window are exact.
function variance(profile: Profile, line: Line | undefined, mb: number): number {
	if (!line) return 0;
	const rate = profile.elapsed > 0 ? (profile.memory.allocated * MB) / profile.elapsed : 0;
	const window = Math.max(8192, rate / 2500);
	const block = line.allocations > 0 ? (line.allocated * MB) / line.allocations : 0;
	return block >= 1.5 * window ? 0 : mb * (window / MB);
}

function isMemoryReal(before: number, after: number, sum: number): boolean {
	const change = Math.abs(after - before);
	return change > QUANTILE * Math.sqrt(sum) && change > LEAST_SHARE * Math.max(before, after);
}

// The peak is known as well as its parts are.
function isPeakReal(before: Profile, after: Profile): boolean {
	const sum = (profile: Profile) => profile.lines.reduce((all, line) => all + variance(profile, line, line.atPeak), 0);
	return isMemoryReal(before.memory.peak, after.memory.peak, sum(before) + sum(after));
}

function makePair(before: Profile, after: Profile, { before: b, after: a, isEdited }: Match): Pair {
	const peaks = [b?.peak ?? 0, a?.peak ?? 0] as const;
	return {
		before: b,
		after: a,
		isEdited,
		delta: (a?.self ?? 0) - (b?.self ?? 0),
		isNoise: !isLineReal(before, after, b, a),
		peakDelta: peaks[1] - peaks[0],
		isPeakNoise: !isMemoryReal(...peaks, variance(before, b, peaks[0]) + variance(after, a, peaks[1])),
	};
}

// ---- which line is which ----

interface Match {
	before: Line | undefined;
	after: Line | undefined;
	isEdited: boolean;
}

interface Item {
	readonly line: Line;
	readonly path: string;
	readonly func: string;
	readonly text: string;
	readonly place: string; // lines from the function's beginning, and how many of them have the same text
}

const TELLING = 6; // a line with less text than this is like many others
const letters = (text: string) => text.replace(/[^A-Za-z_\u0080-\uffff]/g, "");

// From the most to the least particular key; undefined: left to later passes.
const PASSES: readonly ((item: Item) => string | undefined)[] = [
	(item) => `${item.path}\n${item.func}\n${item.text}\n${item.place}`,
	(item) => `${item.path}\n${item.func}\n${item.text || item.line.line}`,
	(item) => (item.text.length < TELLING ? undefined : `${item.path}\n${item.text}`),
	(item) => (item.text.length < TELLING ? undefined : `${item.func}\n${item.text}`),
	(item) => (letters(item.text).length < TELLING ? undefined : `${item.path}\n${item.func}\n${letters(item.text)}`),
];

function matchLines(before: Profile, after: Profile): Match[] {
	const matched: Match[] = [];
	let left = itemsOf(before);
	let right = itemsOf(after);
	PASSES.forEach((keyOf, pass) => {
		const waiting = new Map<string, Item[]>();
		for (const item of left) {
			const key = keyOf(item);
			const queue = key === undefined ? undefined : waiting.get(key);
			if (queue) queue.push(item);
			else if (key !== undefined) waiting.set(key, [item]);
		}
		const found = new Set<Item>();
		right = right.filter((item) => {
			const key = keyOf(item);
			const same = key === undefined ? undefined : waiting.get(key)?.shift();
			if (!same) return true;
			found.add(same);
			matched.push({ before: same.line, after: item.line, isEdited: pass === PASSES.length - 1 });
			return false;
		});
		left = left.filter((item) => !found.has(item));
	});
	return [
		...matched,
		...left.map((item) => ({ before: item.line, after: undefined, isEdited: false })),
		...right.map((item) => ({ before: undefined, after: item.line, isEdited: false })),
	];
}

function itemsOf(profile: Profile): Item[] {
	return profile.files.flatMap((file) => {
		const texts = file.isWhole ? [...file.source.values()].map((text) => text.trim()) : [];
		return file.lines.map((line) => {
			const text = line.text.trim();
			return { line, path: file.name, func: nameAround(file.functions, line), text, place: placeOf(texts, line, text) };
		});
	});
}

const SAME_LINES = 500; // before a line, among which those with its text are counted

function placeOf(texts: readonly string[], line: Line, text: string): string {
	let same = 0;
	for (let number = Math.max(line.functionStart, line.line - SAME_LINES, 1); number < line.line; number++) same += Number(texts[number - 1] === text);
	return `${line.line - line.functionStart} ${same}`;
}

// The innermost function with figures around a line; undefined: none, or the module.
export function functionAround(functions: readonly Line[], line: Line): Line | undefined {
	let found: Line | undefined;
	if (line.functionStart > 0)
		for (const func of functions) if (func.line <= line.functionStart && func.text !== "<module>") found = func;
	return found;
}

export function nameAround(functions: readonly Line[], line: Line): string {
	return functionAround(functions, line)?.text ?? "<module>";
}

// ---- the flame graph of the difference ----

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
