import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, uniteStacks } from "./diff.ts";
import { readProfile, type Profile } from "./model.ts";

interface Row {
	at: number;
	text: string;
	s: number;
	func?: number;
}

// A profile of one file whose lines have these seconds, with narrow intervals.
function profile(folder: string, rows: readonly Row[], functions: readonly [number, string][] = [], onCpu = 1, rate = 500): Profile {
	const total = rows.reduce((sum, row) => sum + row.s, 0);
	const record = (lineno: number, line: string, s: number) => ({
		lineno, line, python_s: s, native_s: 0, system_s: 0, wait_s: 0, inclusive_s: s, n_samples: Math.round(s * 500), cpu_s: s * onCpu,
		n_cpu_percent_python: (s / total) * 100, n_percent_low: (s / total) * 97, n_percent_high: (s / total) * 103,
	});
	return readProfile({
		elapsed_time_sec: total, entrypoint_dir: folder, memory: false,
		files: {
			[`${folder}/x.py`]: {
				lines: rows.map((row) => ({ ...record(row.at, `${row.text}\n`, row.s), start_function_line: row.func ?? 0, end_function_line: row.func ? 99 : 0 })),
				functions: functions.map(([lineno, name]) => record(lineno, name, 1)),
			},
		},
		heatline: {
			time: { total_s: total, samples: Math.ceil(total * rate), python_s: total, native_s: 0, system_s: 0, wait_s: 0, cpu_s: total * onCpu },
			stacks: {
				strings: ["<module>", `${folder}/x.py`, ...rows.map((row) => row.text)], files: [[1, 1]],
				functions: [[0, 0, 1], ...rows.map((row, i) => [i + 2, 0, row.at])],
				nodes: [[0, -1, 0], [0, 0, 1], ...rows.map((row, i) => [1, i + 1, row.at, 1, row.s * 1e6])],
			},
		},
	});
}

test("a profile and itself: no change", () => {
	const one = profile("/a", [{ at: 1, text: "f()", s: 2 }, { at: 2, text: "g()", s: 1 }]);
	const result = compare(one, one);
	assert.ok(result.pairs.every((pair) => pair.delta === 0 && pair.isNoise));
	assert.equal(result.verdict, "No difference in time beyond noise: 3.00 s instead of 3.00 s.");
});

test("a line that moved, in another folder, is the same line", () => {
	const before = profile("/a", [{ at: 5, text: "f()", s: 2 }, { at: 6, text: "g()", s: 1 }]);
	const after = profile("/b", [{ at: 15, text: "  f()", s: 2 }, { at: 16, text: "  g()", s: 3 }]);
	const result = compare(before, after);
	assert.equal(result.pairs.length, 2);
	const first = result.pairs[0]!;
	assert.deepEqual([first.before?.line, first.after?.line, first.delta, first.isNoise, first.isEdited], [6, 16, 2, false, false]);
	assert.ok(result.pairs[1]!.isNoise);
	assert.deepEqual([result.slower, result.faster], [1, 0]);
	assert.equal(result.verdict, "Slower: 5.00 s instead of 3.00 s (1.7 times as long); 1 line got slower.");
});

test("of lines that look the same some may have figures in one profile only", () => {
	const rows = [{ at: 2, text: "s += 1", s: 0.01 }, { at: 5, text: "s += 1", s: 2 }, { at: 9, text: "s += 1", s: 3 }];
	const result = compare(profile("/a", rows), profile("/a", rows.slice(1)));
	assert.deepEqual(result.pairs.map((pair) => [pair.before?.line, pair.after?.line]).sort(), [[2, undefined], [5, 5], [9, 9]]);
	assert.deepEqual([result.slower, result.faster], [0, 0]);
});

test("twice the time for the same work on a CPU is no slowdown", () => {
	const before = profile("/a", [{ at: 1, text: "f()", s: 2 }, { at: 2, text: "g()", s: 1 }]);
	const busy = profile("/a", [{ at: 1, text: "f()", s: 4 }, { at: 2, text: "g()", s: 2 }], [], 0.5);
	const result = compare(before, busy);
	assert.ok(result.pairs.every((pair) => pair.isNoise));
	assert.equal(result.verdict, "No difference in time beyond noise: 6.00 s instead of 3.00 s.");
});

test("a length is known also where samples are few", () => {
	const few = (s: number) => profile("/a", [{ at: 1, text: "f()", s }], [], 1, 5);
	assert.match(compare(few(2), few(2.5)).verdict, /^Slower/);
	assert.match(compare(few(2), few(2.2)).verdict, /^No difference/);
	assert.match(compare(few(0.02), few(0.04)).verdict, /^No difference/);
});

test("an edited line, a new one and one that is gone are told apart", () => {
	const functions: [number, string][] = [[1, "one"], [10, "two"], [20, "three"]];
	const before = profile("/a", [
		{ at: 2, text: "x = make_it(100)", s: 4, func: 1 }, { at: 11, text: "same()", s: 1, func: 10 }, { at: 12, text: "oldest()", s: 1, func: 10 }, { at: 21, text: "gone()", s: 1, func: 20 },
	], functions);
	const after = profile("/a", [
		{ at: 2, text: "x = make_it(20)", s: 1, func: 1 }, { at: 11, text: "same()", s: 1, func: 10 }, { at: 12, text: "a()", s: 1, func: 10 }, { at: 13, text: "b()", s: 1, func: 10 },
	], functions);
	const { pairs } = compare(before, after);
	const edited = pairs.find((pair) => pair.isEdited)!;
	assert.deepEqual([edited.before?.text, edited.after?.text, edited.delta], ["x = make_it(100)", "x = make_it(20)", -3]);
	assert.deepEqual(pairs.filter((pair) => !pair.after).map((pair) => pair.before?.text).sort(), ["gone()", "oldest()"]);
	assert.deepEqual(pairs.filter((pair) => !pair.before).map((pair) => pair.after?.text).sort(), ["a()", "b()"]);
});

test("the union of two trees has both sides' times", () => {
	const before = profile("/a", [{ at: 1, text: "f", s: 2 }, { at: 2, text: "g", s: 1 }]);
	const after = profile("/b", [{ at: 9, text: "g", s: 3 }, { at: 10, text: "h", s: 1 }]);
	const union = uniteStacks(before, after)!;
	const of = (name: string) => {
		for (let node = 1; node < union.stacks.count; node++)
			if (union.stacks.functions[union.stacks.func[node]!]?.name === name)
				return [union.before[node]! / 1e6, union.after[node]! / 1e6, union.widths[node]! / 1e6];
		return undefined;
	};
	assert.deepEqual([of("f"), of("g"), of("h")], [[2, 0, 2], [1, 3, 3], [0, 1, 1]]);
	for (let node = 1; node < union.stacks.count; node++) assert.ok(union.stacks.parent[node]! < node);
});
