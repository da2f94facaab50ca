// What the views show: the whole run, or the part of it under the brush.  The whole run
// has the file's own figures.  For a part, time is summed up from the timeline's stacks
// and booked as the profiler does: to the innermost frame in scope.  The kinds of time
// are split as in the whole run; memory has no such record and stays that of the whole.

import type { Line, Profile, Times } from "./model.ts";
import { ownTimes, type StackFunction, type Stacks } from "./stacks.ts";
import { binsOf, nodeTimesIn, type Range, type State, type Timeline } from "./timeline.ts";

export interface Slice {
	readonly range: Range | undefined; // undefined: the whole run
	readonly seconds: number; // wall time
	readonly total: number; // base of the percentages
	readonly base: string; // the same in words
	readonly times: Times;
	readonly gil: number; // seconds that threads waited for it
	readonly gc: number; // seconds of garbage collection
	readonly lines: readonly Line[]; // hottest first
	readonly functions: readonly Line[];
	readonly linesOf: readonly (readonly Line[])[]; // by file, in order
	readonly functionsOf: readonly (readonly Line[])[];
	readonly filePercent: readonly number[];
	readonly nodeTimes: Float64Array | undefined; // microseconds by stack node
}

export function wholeRun(profile: Profile): Slice {
	return {
		range: undefined,
		seconds: profile.elapsed,
		total: profile.total,
		base: profile.isScalene ? "of the elapsed time" : "of the total time: main threads' wall time plus other threads' CPU time",
		times: profile.times,
		gil: profile.gil,
		gc: profile.gc,
		lines: profile.lines,
		functions: profile.functions,
		linesOf: profile.files.map((file) => file.lines),
		functionsOf: profile.files.map((file) => file.functions),
		filePercent: profile.files.map((file) => file.percent),
		nodeTimes: profile.stacks && ownTimes(profile.stacks),
	};
}

export function partOfRun(profile: Profile, range: Range): Slice {
	const { timeline, stacks } = profile;
	if (!timeline || !stacks) return wholeRun(profile);
	const [first, last] = binsOf(timeline, range);
	const nodeTimes = nodeTimesIn(timeline, range, stacks.count);
	const total = nodeTimes.reduce((sum, time) => sum + time, 0) / 1e6;
	const sums = bookTimes(stacks, nodeTimes, lineKeys(stacks));
	const functionSums = bookTimes(stacks, nodeTimes, functionKeys(profile, stacks));
	const linesOf = profile.files.map((file) =>
		file.lines.map((line) => withTimes(line, sums.get(`${file.path}\n${line.line}`), total)));
	const functionsOf = profile.files.map((file) =>
		file.functions.map((line) => withTimes(line, functionSums.get(functionKey(file.path, line.text, line.line)), total)));
	const lines = linesOf.flat().sort((a, b) => b.self - a.self);
	const seconds = (last - first) * timeline.binSeconds;
	return {
		range,
		seconds,
		total,
		base: "of the time of all stacks in the selected range",
		times: nodeKinds(stacks, nodeTimes),
		gil: threadSeconds(timeline, "gil", first, last),
		gc: threadSeconds(timeline, "gc", first, last),
		lines,
		functions: functionsOf.flat().sort((a, b) => b.self - a.self),
		linesOf,
		functionsOf,
		filePercent: linesOf.map((list) => list.reduce((sum, line) => sum + line.percent, 0)),
		nodeTimes,
	};
}

// Of all threads.
function threadSeconds(timeline: Timeline, state: State, first: number, last: number): number {
	return timeline.threads.reduce((sum, one) => one.states[state].subarray(first, last).reduce((a, b) => a + b, sum), 0) / 1000;
}

// Seconds by kind: each node's time, split as its time in the whole run.
function nodeKinds(stacks: Stacks, nodeTimes: Float64Array): Times {
	const sum = { python: 0, native: 0, system: 0, wait: 0 };
	for (let node = 0; node < stacks.count; node++)
		if (nodeTimes[node]! > 0) addKinds(sum, stacks, node, nodeTimes[node]! / 1e6);
	return sum;
}

function addKinds(sum: { -readonly [kind in keyof Times]: number }, stacks: Stacks, node: number, seconds: number): void {
	const { python, native, system, wait } = stacks.column;
	const all = python[node]! + native[node]! + system[node]! + wait[node]!;
	if (all === 0) {
		sum.python += seconds; // folded into a caller that has no time of its own
		return;
	}
	sum.python += (seconds * python[node]!) / all;
	sum.native += (seconds * native[node]!) / all;
	sum.system += (seconds * system[node]!) / all;
	sum.wait += (seconds * wait[node]!) / all;
}

interface Booked extends Times {
	python: number;
	native: number;
	system: number;
	wait: number;
	inclusive: number;
}

function lineKeys(stacks: Stacks): (string | undefined)[] {
	return Array.from(stacks.func, (index, node) => {
		const func = stacks.functions[index];
		return func?.isInScope ? `${func.file}\n${stacks.line[node]!}` : undefined;
	});
}

// Functions of one name, methods of several classes, are told apart by their first line.
function functionKey(file: string, name: string, firstLine: number): string {
	return `${file}\n${name}\n${firstLine}`;
}

// A comprehension counts for the function that it is written in, unless it is listed itself.
function functionKeys(profile: Profile, stacks: Stacks): (string | undefined)[] {
	const listed = new Set(profile.files.flatMap((file) =>
		file.functions.map((line) => functionKey(file.path, line.text, line.line))));
	return Array.from(stacks.func, (index, node) => {
		const func = stacks.functions[index];
		if (!func?.isInScope) return undefined;
		const key = functionKey(func.file, func.name, func.firstLine);
		const writer = listed.has(key) ? func : writerOf(stacks, node, func);
		return functionKey(writer.file, writer.name, writer.firstLine);
	});
}

const COMPREHENSION = /(^|\.)<(?:listcomp|setcomp|dictcomp|genexpr)>$/;

// The rule is that of book.c: by the name from Python 3.11 on, before that by the lines.
function writerOf(stacks: Stacks, node: number, func: StackFunction): StackFunction {
	let name = func.name;
	while (COMPREHENSION.test(name)) name = name.replace(COMPREHENSION, "").replace(/\.<locals>$/, "");
	let found: StackFunction | undefined;
	for (let at = stacks.parent[node]!; name !== func.name && at > 0; at = stacks.parent[at]!) {
		const outer = stacks.functions[stacks.func[at]!];
		if (!outer || outer.file !== func.file || COMPREHENSION.test(outer.name)) continue;
		if (outer.firstLine > func.firstLine || outer.firstLine <= (found?.firstLine ?? -1)) continue;
		if (name ? outer.name === name : !outer.name.includes(".")) found = outer;
	}
	return found ?? func;
}

function bookTimes(
	stacks: Stacks, nodeTimes: Float64Array, keys: readonly (string | undefined)[],
): Map<string, Booked> {
	const booked = new Map<string, Booked>();
	const of = (key: string): Booked => {
		let sum = booked.get(key);
		if (!sum) booked.set(key, (sum = { python: 0, native: 0, system: 0, wait: 0, inclusive: 0 }));
		return sum;
	};
	for (let node = 1; node < stacks.count; node++) {
		const seconds = nodeTimes[node]! / 1e6;
		if (seconds === 0) continue;
		const seen = new Set<string>();
		for (let at = node; at > 0; at = stacks.parent[at]!) {
			const key = keys[at];
			if (key === undefined || seen.has(key)) continue;
			const sum = of(key);
			sum.inclusive += seconds;
			if (seen.size === 0) addKinds(sum, stacks, node, seconds);
			seen.add(key);
		}
	}
	return booked;
}

function withTimes(line: Line, booked: Booked | undefined, total: number): Line {
	const times = booked ?? { python: 0, native: 0, system: 0, wait: 0, inclusive: 0 };
	const self = times.python + times.native + times.system + times.wait;
	const share = line.self > 0 ? self / line.self : 0;
	return {
		...line,
		...times,
		self,
		percent: total > 0 ? (self / total) * 100 : 0,
		inclusivePercent: total > 0 ? (times.inclusive / total) * 100 : 0,
		cpu: line.cpu * share,
		gil: line.gil * share,
		gc: line.gc * share,
		idle: 0,
		samples: line.samples === undefined ? undefined : Math.round(line.samples * share),
		low: undefined,
		high: undefined,
	};
}
