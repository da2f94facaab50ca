// The tree of stacks in flat arrays: node 0 is the root, a node's parent has a smaller
// index, so one pass from the end sums up.  Figures are a node's own.

import * as raw from "./raw.ts";

// Names of the node's columns after parent, function and line; microseconds and bytes.
const COLUMNS = [
	"samples", "python", "native", "system", "wait", "cpu", "idle",
	"allocated", "kept", "copied", "atPeak", "gil", "gc", "gpu",
] as const;
export type StackColumn = (typeof COLUMNS)[number];

export interface StackFunction {
	readonly name: string;
	readonly file: string; // "": not Python
	readonly firstLine: number;
	readonly isInScope: boolean;
}

export interface Stacks {
	readonly count: number;
	readonly parent: Int32Array;
	readonly func: Int32Array; // -1: the root
	readonly line: Int32Array;
	readonly column: Readonly<Record<StackColumn, Float64Array>>;
	readonly functions: readonly StackFunction[];
	// Parallel lists: microseconds of a node in a thread.
	readonly threadNodes: Int32Array;
	readonly threadOf: Int32Array;
	readonly threadTimes: Float64Array;
}

function emptyColumns(count: number): Record<StackColumn, Float64Array> {
	return Object.fromEntries(
		COLUMNS.map((name) => [name, new Float64Array(count)]),
	) as Record<StackColumn, Float64Array>;
}

export function readStacks(value: unknown): Stacks | undefined {
	const record = raw.object(value);
	const rows = raw.list(record.nodes);
	if (rows.length < 2) return undefined;
	const strings = raw.list(record.strings).map(raw.text);
	const files = raw.list(record.files).map((item) => {
		const [path, scope] = raw.numbers(item);
		return { path: strings[path ?? -1] ?? "", isInScope: scope === 1 };
	});
	const functions = raw.list(record.functions).map((item): StackFunction => {
		const [name, file, firstLine] = raw.numbers(item);
		const where = files[file ?? -1];
		return {
			name: strings[name ?? -1] ?? "?",
			file: where?.path ?? "",
			firstLine: firstLine ?? 0,
			isInScope: where?.isInScope ?? false,
		};
	});
	const count = rows.length;
	const parent = new Int32Array(count);
	const func = new Int32Array(count);
	const line = new Int32Array(count);
	const column = emptyColumns(count);
	rows.forEach((item, i) => {
		const row = raw.list(item);
		const above = raw.number(row[0]);
		parent[i] = above >= 0 && above < i ? above : 0;
		const called = raw.number(row[1]);
		func[i] = called >= 0 && called < functions.length && i > 0 ? called : -1;
		line[i] = raw.number(row[2]);
		for (let c = 3; c < row.length && c - 3 < COLUMNS.length; c++)
			column[COLUMNS[c - 3]!][i] = raw.number(row[c]);
	});
	return { count, parent, func, line, column, functions, ...readThreads(record.threads, count) };
}

function readThreads(value: unknown, count: number) {
	const triples = raw.list(value).map(raw.numbers)
		.filter(([node]) => node !== undefined && node >= 0 && node < count);
	return {
		threadNodes: Int32Array.from(triples, (triple) => triple[0]!),
		threadOf: Int32Array.from(triples, (triple) => triple[1] ?? -1),
		threadTimes: Float64Array.from(triples, (triple) => triple[2] ?? 0),
	};
}

// Scalene's own list: [["file function:line;", …], {python_time, c_time, cpu_samples}].
export function readScaleneStacks(value: unknown, total: number): Stacks | undefined {
	const stacks = raw.list(value);
	if (stacks.length === 0) return undefined;
	const parent = [0];
	const func = [-1];
	const line = [0];
	const functions: StackFunction[] = [];
	const functionOf = new Map<string, number>();
	const nodeOf = new Map<string, number>();
	const own: [number, number, number][] = [];
	for (const item of stacks) {
		const [frames, figures] = raw.list(item);
		let node = 0;
		for (const frame of raw.texts(frames)) {
			const parts = /^(.*) (\S+):(\d+);?$/s.exec(frame);
			const [file, name, lineno] = parts ? parts.slice(1) : ["", frame, "0"];
			const key = `${file}\n${name}`;
			let called = functionOf.get(key);
			if (called === undefined) {
				called = functions.length;
				functionOf.set(key, called);
				functions.push({ name: name ?? "?", file: file ?? "", firstLine: 0, isInScope: true });
			}
			const place = `${node} ${called} ${lineno}`;
			let next = nodeOf.get(place);
			if (next === undefined) {
				next = parent.length;
				nodeOf.set(place, next);
				parent.push(node);
				func.push(called);
				line.push(Number(lineno));
			}
			node = next;
		}
		const times = raw.object(figures);
		own.push([node, raw.number(times.python_time) * total * 1e6, raw.number(times.c_time) * total * 1e6]);
	}
	const column = emptyColumns(parent.length);
	for (const [node, python, native] of own) {
		column.python[node]! += python;
		column.native[node]! += native;
	}
	return {
		count: parent.length,
		parent: Int32Array.from(parent),
		func: Int32Array.from(func),
		line: Int32Array.from(line),
		column,
		functions,
		...readThreads([], 0),
	};
}

// A node's time, all kinds, in microseconds.
export function ownTimes(stacks: Stacks): Float64Array {
	const { python, native, system, wait } = stacks.column;
	return python.map((time, i) => time + native[i]! + system[i]! + wait[i]!);
}

// The same for some threads.
export function threadTimes(stacks: Stacks, isWanted: (thread: number) => boolean): Float64Array {
	const times = new Float64Array(stacks.count);
	for (let i = 0; i < stacks.threadNodes.length; i++)
		if (isWanted(stacks.threadOf[i]!)) times[stacks.threadNodes[i]!]! += stacks.threadTimes[i]!;
	return times;
}

export interface Neighbour {
	readonly func: number;
	readonly line: number; // where it calls, or is
	readonly seconds: number;
}

// Who calls the line (or, with line 0, the whole function), and whom it calls, by
// inclusive time.  A stack counts once for each neighbour, also when it is recursive.
export function neighbours(
	stacks: Stacks, isHere: (node: number) => boolean, times: Float64Array,
): { callers: Neighbour[]; callees: Neighbour[] } {
	const inclusive = sumUp(stacks.parent, times);
	const callers = new Map<string, { func: number; line: number; seconds: number }>();
	const callees = new Map<string, { func: number; line: number; seconds: number }>();
	const add = (to: typeof callers, node: number, weight: number) => {
		const func = stacks.func[node]!;
		const line = stacks.line[node]!;
		const key = `${func}:${to === callers ? line : 0}`;
		const sum = to.get(key);
		if (sum) sum.seconds += weight / 1e6;
		else to.set(key, { func, line, seconds: weight / 1e6 });
	};
	// below[n]: there is a node of ours above n, so its stack has been counted already.
	const below = new Uint8Array(stacks.count);
	for (let node = 1; node < stacks.count; node++) {
		const parent = stacks.parent[node]!;
		const here = isHere(node);
		below[node] = below[parent]! || isHere(parent) ? 1 : 0;
		if (here && !below[node] && parent > 0 && inclusive[node]! > 0) add(callers, parent, inclusive[node]!);
		if (!here && isHere(parent) && inclusive[node]! > 0) add(callees, node, inclusive[node]!);
	}
	const byTime = (from: typeof callers) => [...from.values()].sort((a, b) => b.seconds - a.seconds);
	return { callers: byTime(callers), callees: byTime(callees) };
}

// Inclusive sums: every node's own value plus those of all nodes below it.
export function sumUp(parent: Int32Array, own: Float64Array): Float64Array {
	const sums = Float64Array.from(own);
	for (let node = sums.length - 1; node > 0; node--) sums[parent[node]!]! += sums[node]!;
	return sums;
}
