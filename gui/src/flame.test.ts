import assert from "node:assert/strict";
import { test } from "node:test";
import { findPath, frameAt, makeFrames, pathTo, sumFunctions } from "./flame.ts";
import { readStacks, type Stacks } from "./stacks.ts";

// main → a (10 at line 2, 20 at line 3) → b 5; main → b 30; a recursive c: 1 → c → c 4.
function sample(): Stacks {
	const node = (parent: number, func: number, line: number, python = 0) => [parent, func, line, 1, python];
	return readStacks({
		strings: ["main", "a", "b", "c", "/p/x.py"],
		files: [[4, 1]],
		functions: [[0, 0, 1], [1, 0, 2], [2, 0, 5], [3, 0, 7]],
		nodes: [[0, -1, 0], node(0, 0, 9), node(1, 1, 2, 10), node(1, 1, 3, 20), node(3, 2, 5, 5), node(1, 2, 5, 30), node(1, 3, 7, 1), node(6, 3, 8, 4)],
	})!;
}

const weights = (stacks: Stacks) => stacks.column.python;

test("calls of one function below the same callers are one frame, widest first", () => {
	const stacks = sample();
	const frames = makeFrames(stacks, weights(stacks), { isInverted: false });
	assert.equal(frames.value[0], 70);
	assert.equal(frames.count, 7); // root, main, a, b, c, a→b, c→c
	const main = frames.firstChild[0]!;
	const first = frames.firstChild[main]!;
	assert.deepEqual([...frames.func.slice(first, first + 3)], [1, 2, 3]);
	assert.deepEqual([...frames.value.slice(first, first + 3)], [35, 30, 5]);
	assert.deepEqual([...frames.start.slice(first, first + 3)], [0, 35, 65]);
	assert.equal(frames.line[first], 3); // the hotter of its two lines
	assert.equal(frames.deepest, 3);
});

test("children lie within their parents and do not overlap", () => {
	const stacks = sample();
	for (const isInverted of [false, true]) {
		const frames = makeFrames(stacks, weights(stacks), { isInverted });
		for (let frame = 0; frame < frames.count; frame++) {
			let at = frames.start[frame]!;
			for (let i = 0; i < frames.children[frame]!; i++) {
				const child = frames.firstChild[frame]! + i;
				assert.equal(frames.start[child], at);
				at += frames.value[child]!;
			}
			assert.ok(at <= frames.start[frame]! + frames.value[frame]! + 1e-9);
		}
	}
});

test("inverted: innermost functions first, with the same total", () => {
	const stacks = sample();
	const frames = makeFrames(stacks, weights(stacks), { isInverted: true });
	assert.equal(frames.value[0], 70);
	const top = Array.from({ length: frames.children[0]! }, (_, i) => frames.firstChild[0]! + i);
	assert.deepEqual(top.map((frame) => [frames.func[frame], frames.value[frame]]), [[2, 35], [1, 30], [3, 5]]);
});

test("hidden frames are folded into their callers", () => {
	const stacks = sample();
	const frames = makeFrames(stacks, weights(stacks), { isInverted: false, hidden: (func) => func === 1 });
	assert.equal(frames.value[0], 70);
	const main = frames.firstChild[0]!;
	assert.equal(frames.self[main], 30);
	assert.deepEqual(sumFunctions(frames, 0).map((sum) => sum.func), [0, 2, 3]);
});

test("a frame is found by position and by path", () => {
	const stacks = sample();
	const frames = makeFrames(stacks, weights(stacks), { isInverted: false });
	assert.equal(frames.func[frameAt(frames, 2, 40)], 2);
	assert.equal(frameAt(frames, 2, 70), -1);
	assert.equal(frameAt(frames, 9, 1), -1);
	const b = frameAt(frames, 3, 1);
	assert.deepEqual(pathTo(frames, b).map((frame) => frames.func[frame]), [0, 1, 2]);
	assert.equal(findPath(frames, [0, 1, 2]), b);
	assert.equal(findPath(frames, [0, 99]), frames.firstChild[0]);
});

test("the table counts recursion once", () => {
	const stacks = sample();
	const frames = makeFrames(stacks, weights(stacks), { isInverted: false });
	const sums = new Map(sumFunctions(frames, 0).map((sum) => [sum.func, sum]));
	assert.deepEqual([sums.get(3)?.self, sums.get(3)?.value], [5, 5]);
	assert.deepEqual([sums.get(2)?.self, sums.get(2)?.value], [35, 35]);
	assert.deepEqual([sums.get(0)?.self, sums.get(0)?.value], [0, 70]);
});

test("a tree of 200 000 frames is laid out whole", () => {
	const count = 200_000;
	const nodes: number[][] = [[0, -1, 0]];
	for (let i = 1; i < count; i++) nodes.push([(i - 1) >> 1, i % 5000, i, 1, 1 + (i % 7)]);
	const stacks = readStacks({
		strings: Array.from({ length: 5000 }, (_, i) => `f${i}`), files: [[0, 1]],
		functions: Array.from({ length: 5000 }, (_, i) => [i, 0, i]), nodes,
	})!;
	const frames = makeFrames(stacks, weights(stacks), { isInverted: false });
	assert.ok(frames.count > 150_000);
	assert.equal(frames.value[0], nodes.reduce((sum, node) => sum + (node[4] ?? 0), 0));
});
