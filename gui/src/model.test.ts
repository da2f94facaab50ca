import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readProfile } from "./model.ts";
import { partOfRun, wholeRun } from "./slice.ts";

declare const GOLDEN: string;
const read = (name: string) => JSON.parse(readFileSync(join(GOLDEN, name), "utf8"));

test("every figure is the file's", () => {
	const json = read("heatline.json");
	const profile = readProfile(json);
	assert.equal(profile.total, json.heatline.time.total_s);
	assert.equal(profile.elapsed, json.elapsed_time_sec);
	assert.equal(profile.files.length, Object.keys(json.files).length);
	for (const file of profile.files) {
		const records = json.files[file.path].lines as Record<string, number>[];
		for (const line of file.lines) {
			const record = records.find((one) => one.lineno === line.line)!;
			assert.equal(line.python, record.python_s);
			assert.equal(line.native, record.native_s);
			assert.equal(line.wait, record.wait_s);
			assert.equal(line.inclusive, record.inclusive_s);
			assert.equal(line.samples, record.n_samples);
			assert.equal(line.allocated, record.n_malloc_mb);
			assert.equal(line.copied, record.n_copy_mb ?? 0);
		}
	}
});

test("lines are sorted by time, and their source is there", () => {
	const profile = readProfile(read("heatline.json"));
	const times = profile.lines.map((line) => line.self);
	assert.deepEqual(times, [...times].sort((a, b) => b - a));
	assert.ok(profile.lines.length > 0);
});

test("Scalene's files have seconds made of percentages, and no entities", () => {
	for (const name of ["scalene.json", "scalene-memory.json"]) {
		const json = read(name);
		const profile = readProfile(json);
		assert.ok(profile.isScalene);
		assert.equal(json.args.length, 1); // the program
		assert.deepEqual(profile.args, []);
		assert.equal(profile.total, json.elapsed_time_sec);
		const line = profile.lines[0]!;
		assert.ok(Math.abs(line.self - (line.percent * profile.total) / 100) < 1e-9);
		for (const file of profile.files)
			for (const one of file.source.values()) assert.ok(!/&(lt|gt|amp);/.test(one), one);
	}
});

test("looks at threads whose waiting is no part of the total are no samples of it", () => {
	const { quality } = readProfile({ files: {}, heatline: { quality: { samples: 30, wait_samples: 90, idle_samples: 70 } } });
	assert.deepEqual([quality.samples, quality.waitSamples], [30, 20]);
});

test("what is no profile is refused in a sentence", () => {
	for (const value of [null, 1, "x", [], {}, { files: [] }]) assert.throws(() => readProfile(value), /not a profile/);
});

test("a profile full of wrong types is read as an empty one", () => {
	const profile = readProfile({
		program: 7, args: "x", elapsed_time_sec: "long", files: { "/x.py": { lines: [null, 3, { lineno: {} }], functions: "no", leaks: [] } },
		heatline: { time: [], stacks: { nodes: [[0], ["x", 9e99, null], 5], functions: 1 }, timeline: { bins: 1e9 }, threads: [1], quality: { lost: 1 } },
	});
	assert.equal(profile.files.length, 1);
	assert.equal(profile.lines.length, 0);
	assert.equal(profile.timeline, undefined);
});

// Two lines of one file: line 2 runs in the first half, line 3 in the second.
const halves = {
	elapsed_time_sec: 2, entrypoint_dir: "/p",
	files: {
		"/p/x.py": {
			percent_cpu_time: 100, functions: [],
			lines: [2, 3].map((lineno) => ({ lineno, line: `f${lineno}()\n`, n_cpu_percent_python: 50, python_s: 1, native_s: 0, system_s: 0, wait_s: 0, inclusive_s: 1, n_samples: 100 })),
		},
	},
	heatline: {
		time: { total_s: 2, elapsed_s: 2, python_s: 2, native_s: 0, system_s: 0, wait_s: 0 },
		threads: [{ is_main: true }],
		timeline: {
			bin_s: 0.5, bins: 4,
			threads: [{ thread: 0, python: [500, 500, 500, 500] }],
			stacks: [[1, 0, 500000], [1, 1, 500000], [3, 2, 500000], [3, 3, 500000]],
		},
		stacks: {
			strings: ["<module>", "/p/x.py", "lib", "/lib/python3.11/l.py"], files: [[1, 1], [3, 0]], functions: [[0, 0, 1], [2, 1, 1]],
			nodes: [[0, -1, 0], [0, 0, 2, 100, 1000000], [0, 0, 3], [2, 1, 9, 100, 1000000]],
		},
	},
};

test("a part of the run has the lines of that part, libraries on the line that called them", () => {
	const profile = readProfile(halves);
	const part = partOfRun(profile, { from: 0, to: 1 });
	assert.equal(part.total, 1);
	assert.deepEqual(part.lines.map((line) => [line.line, line.self, line.percent]), [[2, 1, 100], [3, 0, 0]]);
	const late = partOfRun(profile, { from: 1.5, to: 2 });
	assert.deepEqual(late.lines.map((line) => [line.line, line.self, line.inclusive]), [[3, 0.5, 0.5], [2, 0, 0]]);
	assert.equal(late.times.python, 0.5);
});

test("in a part of the run, too, functions of one name are two, and a generator expression is its writer's", () => {
	const listed = (line: string, lineno: number, python_s: number) => ({ line, lineno, python_s, n_samples: 1 });
	const profile = readProfile({
		...halves,
		files: { "/p/x.py": { percent_cpu_time: 100, lines: [], functions: [listed("run", 1, 0.5), listed("run", 8, 0.5), listed("rows", 20, 1)] } },
		heatline: {
			...halves.heatline,
			timeline: { bin_s: 1, bins: 2, threads: [], stacks: [[2, 0, 500000], [3, 0, 500000], [6, 1, 1000000]] },
			stacks: {
				strings: ["<module>", "/p/x.py", "run", "rows", "<genexpr>"], files: [[1, 1]],
				functions: [[0, 0, 1], [2, 0, 1], [2, 0, 8], [3, 0, 20], [4, 0, 21]],
				nodes: [[0, -1, 0], [0, 0, 30], [1, 1, 2, 1, 500000], [1, 2, 9, 1, 500000], [1, 3, 21], [4, 2, 9], [5, 4, 21, 1, 1000000]],
			},
		},
	});
	const selfOf = (from: number, to: number) =>
		partOfRun(profile, { from, to }).functionsOf[0]!.map((one) => [one.text, one.line, one.self]);
	assert.deepEqual(selfOf(0, 1), [["run", 1, 0.5], ["run", 8, 0.5], ["rows", 20, 0]]);
	assert.deepEqual(selfOf(1, 2), [["run", 1, 0], ["run", 8, 0], ["rows", 20, 1]]);
});

test("a folder whose name begins like the program's is not the program's", () => {
	const kinds = (folder: string) => readProfile({
		elapsed_time_sec: 1, entrypoint_dir: folder, files: { "/srv/app/x.py": {}, "/srv/app2/y.py": {} },
	}).files.map((file) => file.kind);
	assert.deepEqual(kinds("/srv/app"), ["project", "packages"]);
	assert.deepEqual(kinds("/"), ["project", "project"]);
});

test("the full range is the whole run", () => {
	const profile = readProfile(halves);
	const whole = wholeRun(profile);
	const part = partOfRun(profile, { from: 0, to: 2 });
	assert.equal(part.total, whole.total);
	assert.deepEqual(part.lines.map((line) => line.self), whole.lines.map((line) => line.self));
});
