// The flame graph as numbers: no drawing here.
//
// A frame tree merges the nodes of the profile's stacks that are the same function below
// the same callers (or, inverted, the same callees).  Arrays are in the order in which
// frames are met from the root, so a frame's parent comes before it, and children of one
// frame stand together, widest first.

import { sumUp, type Stacks } from "./stacks.ts";

export interface Frames {
	readonly count: number;
	readonly parent: Int32Array; // -1: the root, frame 0
	readonly func: Int32Array; // -1: the root
	readonly line: Int32Array; // the hottest line of the frame
	readonly node: Int32Array; // the first node of the stacks that is in it
	readonly depth: Int32Array;
	readonly self: Float64Array;
	readonly value: Float64Array; // inclusive
	readonly start: Float64Array; // in units of value, from 0
	readonly firstChild: Int32Array; // children: [firstChild, firstChild + children)
	readonly children: Int32Array;
	readonly deepest: number;
}

export interface FlameOptions {
	readonly isInverted: boolean;
	readonly hidden?: (func: number) => boolean; // these frames are folded into their callers
}

const MOST_DEPTH = 4096;

export function makeFrames(stacks: Stacks, weights: Float64Array, options: FlameOptions): Frames {
	return layOut(options.isInverted ? mergeInverted(stacks, weights, options) : merge(stacks, weights, options));
}

interface Merged {
	parent: number[];
	func: number[];
	line: number[];
	node: number[];
	self: number[];
}

// Two integers as one key of a Map: exact while a tree has fewer than 2^31 frames and
// functions, and several times faster than a text.
function keyOf(frame: number, func: number): number {
	return frame * 4194304 + func + 1;
}

// The frame that this node's function is below another frame, made when it is met first.
function frameUnder(merged: Merged, found: Map<number, number>, above: number, stacks: Stacks, node: number): number {
	const func = stacks.func[node]!;
	const key = keyOf(above, func);
	let frame = found.get(key);
	if (frame === undefined) {
		frame = merged.parent.length;
		found.set(key, frame);
		merged.parent.push(above);
		merged.func.push(func);
		merged.line.push(stacks.line[node]!);
		merged.node.push(node);
		merged.self.push(0);
	}
	return frame;
}

function merge(stacks: Stacks, weights: Float64Array, options: FlameOptions): Merged {
	const inclusive = sumUp(stacks.parent, weights);
	const merged: Merged = { parent: [-1], func: [-1], line: [0], node: [0], self: [0] };
	const hottest: number[] = [0];
	const frameOf = new Int32Array(stacks.count);
	const found = new Map<number, number>();
	for (let node = 1; node < stacks.count; node++) {
		if (!(inclusive[node]! > 0)) continue;
		const above = frameOf[stacks.parent[node]!]!;
		if (options.hidden?.(stacks.func[node]!)) {
			frameOf[node] = above;
			merged.self[above]! += weights[node]!;
			continue;
		}
		const frame = frameUnder(merged, found, above, stacks, node);
		if (frame === hottest.length) hottest.push(0);
		frameOf[node] = frame;
		merged.self[frame]! += weights[node]!;
		if (inclusive[node]! > hottest[frame]!) {
			hottest[frame] = inclusive[node]!;
			merged.line[frame] = stacks.line[node]!;
		}
	}
	merged.self[0]! += weights[0]!;
	return merged;
}

// From the innermost frame outwards.  A frame's own value is what ends there: stacks
// whose outermost frame it is.
function mergeInverted(stacks: Stacks, weights: Float64Array, options: FlameOptions): Merged {
	const merged: Merged = { parent: [-1], func: [-1], line: [0], node: [0], self: [0] };
	const found = new Map<number, number>();
	for (let node = 1; node < stacks.count; node++) {
		if (!(weights[node]! > 0)) continue;
		let frame = 0;
		for (let at = node, depth = 0; at > 0 && depth < MOST_DEPTH; at = stacks.parent[at]!, depth++) {
			if (!options.hidden?.(stacks.func[at]!)) frame = frameUnder(merged, found, frame, stacks, at);
		}
		merged.self[frame]! += weights[node]!;
	}
	return merged;
}

function layOut(merged: Merged): Frames {
	const count = merged.parent.length;
	const sums = Float64Array.from(merged.self);
	for (let frame = count - 1; frame > 0; frame--) sums[merged.parent[frame]!]! += sums[frame]!;

	// Children by parent, as one list: those of frame f are below[first[f]..first[f + 1]].
	const first = new Int32Array(count + 2);
	for (let frame = 1; frame < count; frame++) first[merged.parent[frame]! + 2]!++;
	for (let frame = 2; frame < count + 2; frame++) first[frame]! += first[frame - 1]!;
	const below = new Int32Array(Math.max(0, count - 1));
	for (let frame = 1; frame < count; frame++) below[first[merged.parent[frame]! + 1]!++] = frame;

	const out = {
		count,
		parent: new Int32Array(count),
		func: new Int32Array(count),
		line: new Int32Array(count),
		node: new Int32Array(count),
		depth: new Int32Array(count),
		self: new Float64Array(count),
		value: new Float64Array(count),
		start: new Float64Array(count),
		firstChild: new Int32Array(count),
		children: new Int32Array(count),
		deepest: 0,
	};
	const source = new Int32Array(count); // output frame to merged frame
	out.parent[0] = -1;
	let made = 1;
	for (let frame = 0; frame < made; frame++) {
		const from = source[frame]!;
		out.func[frame] = merged.func[from]!;
		out.line[frame] = merged.line[from]!;
		out.node[frame] = merged.node[from]!;
		out.self[frame] = merged.self[from]!;
		out.value[frame] = sums[from]!;
		out.deepest = Math.max(out.deepest, out.depth[frame]!);
		const children = below.subarray(first[from]!, first[from + 1]!);
		if (children.length > 1) children.sort((a, b) => sums[b]! - sums[a]! || a - b);
		out.firstChild[frame] = made;
		out.children[frame] = children.length;
		let start = out.start[frame]!;
		for (const child of children) {
			source[made] = child;
			out.parent[made] = frame;
			out.depth[made] = out.depth[frame]! + 1;
			out.start[made] = start;
			start += sums[child]!;
			made++;
		}
	}
	return out;
}

// The frame at a depth and position (in units of value), or -1.
export function frameAt(frames: Frames, depth: number, position: number): number {
	let frame = 0;
	for (let level = 0; level < depth; level++) {
		let low = frames.firstChild[frame]!;
		let high = low + frames.children[frame]!;
		const end = high;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (frames.start[middle]! <= position) low = middle + 1;
			else high = middle;
		}
		const child = low - 1;
		if (child < frames.firstChild[frame]! || child >= end) return -1;
		if (position >= frames.start[child]! + frames.value[child]!) return -1;
		frame = child;
	}
	return frame;
}

export function pathTo(frames: Frames, frame: number): number[] {
	const path: number[] = [];
	for (let at = frame; at > 0; at = frames.parent[at]!) path.unshift(at);
	return path;
}

// A frame by the functions on the way to it; the deepest that is there.  This is how a
// zoom is kept in the address: frame numbers change with the options.
export function findPath(frames: Frames, path: readonly number[]): number {
	let frame = 0;
	for (const func of path) {
		const first = frames.firstChild[frame]!;
		const end = first + frames.children[frame]!;
		let child = first;
		while (child < end && frames.func[child] !== func) child++;
		if (child === end) return frame;
		frame = child;
	}
	return frame;
}

export interface FunctionSum {
	readonly func: number;
	readonly self: number;
	readonly value: number; // inclusive, once a stack
	readonly frame: number; // its widest frame
}

// The table twin: functions below `root` by their own value; recursion counts once.
export function sumFunctions(frames: Frames, root: number): FunctionSum[] {
	const sums = new Map<number, { func: number; self: number; value: number; frame: number }>();
	const open = new Map<number, number>(); // functions on the way down to where we are
	const visit: number[] = [root]; // ~frame: leave it
	while (visit.length > 0) {
		const at = visit.pop()!;
		if (at < 0) {
			const func = frames.func[~at]!;
			open.set(func, open.get(func)! - 1);
			continue;
		}
		const func = frames.func[at]!;
		let sum = sums.get(func);
		if (!sum) sums.set(func, (sum = { func, self: 0, value: 0, frame: at }));
		sum.self += frames.self[at]!;
		if (!open.get(func)) sum.value += frames.value[at]!;
		if (frames.value[at]! > frames.value[sum.frame]!) sum.frame = at;
		open.set(func, (open.get(func) ?? 0) + 1);
		visit.push(~at);
		for (let i = 0; i < frames.children[at]!; i++) visit.push(frames.firstChild[at]! + i);
	}
	sums.delete(-1);
	return [...sums.values()].sort((a, b) => b.value - a.value || b.self - a.self);
}
