import assert from "node:assert/strict";
import { test } from "node:test";
import { readProfile } from "./model.ts";
import { findings, isRough, reasonsOf } from "./rules.ts";
import { partOfRun, wholeRun } from "./slice.ts";

const SOURCE = ["for x in y:", "    total += x", "time.sleep(1)", "if name in names:", "data = sock.recv(10)", "b = bytes(a)", "keep.append(x)"];

function profile() {
	const line = (lineno: number, figures: object) => ({
		lineno, line: `${SOURCE[lineno - 1]}\n`, python_s: 0, native_s: 0, system_s: 0, wait_s: 0, n_samples: 100,
		start_region_line: lineno === 2 ? 1 : lineno, ...figures,
	});
	return readProfile({
		elapsed_time_sec: 10, memory: true, max_footprint_mb: 100,
		files: {
			"x.py": {
				leaks: { 7: { likelihood: 0.99, velocity_mb_s: 3 } },
				lines: [
					line(1, {}), line(2, { python_s: 3, n_cpu_percent_python: 30 }), line(3, { wait_s: 2, n_sys_percent: 20 }),
					line(4, { native_s: 4, n_cpu_percent_c: 40, n_samples: 4 }), line(5, { wait_s: 0.5, n_sys_percent: 5 }),
					line(6, { native_s: 0.3, n_cpu_percent_c: 3, n_copy_mb: 1229 }), line(7, { python_s: 0.2, n_cpu_percent_python: 2, n_at_peak_mb: 60 }),
				],
			},
		},
		heatline: { time: { total_s: 10, python_s: 3.2, native_s: 4.3, system_s: 0, wait_s: 2.5 }, quality: { samples: 5000, wait_samples: 50 }, memory: { copied_mb: 1300, peak_mb: 100, allocated_mb: 200 } },
	});
}

test("time on no line shown", () => {
	const detail = (omitted_s: number) => {
		const time = { total_s: 10, python_s: 10, outside_s: 4, omitted_s };
		const one = readProfile({ elapsed_time_sec: 10, files: {}, heatline: { time, quality: { samples: 5000 } } });
		return findings(one, wholeRun(one)).find((found) => found.title === "40.0% of the time is on no line shown")?.detail ?? "";
	};
	assert.equal(detail(0), "It is in files out of scope. --profile-all shows them too.");
	assert.equal(detail(4), "4.00 s of it is on colder lines: a profile keeps those that count most.");
	assert.match(detail(1), /^1\.00 s of it is on colder lines.*--profile-all shows too\.$/);
});

test("reasons", () => {
	const one = profile();
	const of = (number: number) => reasonsOf(one.lines.find((line) => line.line === number)!, one, (at) => SOURCE[at - 1] ?? "").map((reason) => reason.text);
	assert.deepEqual(of(2), ["Python loop"]);
	assert.deepEqual(of(3), ["sleeps"]);
	assert.deepEqual(of(4), ["native: searches"]);
	assert.deepEqual(of(5), ["waits for a socket"]);
	assert.deepEqual(of(6), ["native code", "copies 1.20 GB"]);
	assert.deepEqual(of(7), ["grows 3.00 MB/s", "Python code", "holds 60% of the peak"]);
});

test("what is waited for, in the profiler's own word", () => {
	const one = profile();
	const line = one.lines.find((line) => line.line === 5)!;
	const of = (waitsFor: string) => reasonsOf({ ...line, waitsFor }, one, () => "").map((reason) => reason.text);
	assert.deepEqual(of("events"), ["waits for events"]);
	assert.deepEqual(of("child"), ["waits for a process"]);
});

test("what to look at names the line and the figure", () => {
	const one = profile();
	const found = findings(one, wholeRun(one));
	const titles = found.map((finding) => finding.title);
	assert.ok(titles.includes("One line takes 40.0% of the time"));
	assert.ok(titles.includes("The main thread waits 25.0% (2.50 s)"));
	assert.ok(titles.includes("Memory grows 3.00 MB/s on one line"));
	assert.ok(titles.includes("1.27 GB are copied"));
	assert.equal(found.find((finding) => finding.title.startsWith("One line takes"))?.line?.line, 4);
	assert.ok(isRough(one.lines.find((line) => line.line === 4)!));
});

test("the GPU: who starves it, who waits for it", () => {
	const line = (lineno: number, text: string, figures: object) => ({ lineno, line: text, python_s: 0, native_s: 0, system_s: 0, wait_s: 0, n_samples: 100, ...figures });
	const one = readProfile({
		elapsed_time_sec: 10, entrypoint_dir: "/p", gpu: true, gpu_device: "NVIDIA",
		files: { "/p/x.py": { lines: [
			line(1, "batch = load(i)", { python_s: 6, n_cpu_percent_python: 60, gpu_idle_s: 5.5 }),
			line(2, "loss.item()", { native_s: 3, n_cpu_percent_c: 30, gpu_wait_s: 2.9, gpu_s: 0.1 }),
			line(3, "model(batch)", { python_s: 1, n_cpu_percent_python: 10, gpu_s: 2, n_gpu_percent: 20 }),
		] } },
		heatline: { time: { total_s: 10, python_s: 7, native_s: 3 }, quality: { samples: 5000 }, gpu: { busy_s: 2.1, idle_s: 7.9, wait_s: 2.9, waits: 3000 } },
	});
	const found = findings(one, wholeRun(one));
	assert.equal(found.find((finding) => finding.title === "The GPU is idle 79.0% of the time")?.line?.line, 1);
	assert.equal(found.find((finding) => finding.title === "Python waits 2.90 s for the GPU, 3,000 times")?.line?.line, 2);
	const reasons = (number: number) => reasonsOf(one.lines.find((line) => line.line === number)!, one, () => "").map((reason) => reason.text);
	assert.ok(reasons(2).includes("waits for the GPU"));
	assert.ok(reasons(3).includes("GPU 20.0%"));
});

test("in a part of the run, garbage collection and the GIL are those of the part", () => {
	const one = readProfile({
		elapsed_time_sec: 4, files: {},
		heatline: {
			time: { total_s: 4, python_s: 4, gc_s: 1, gil_s: 2 }, quality: { samples: 5000 },
			timeline: {
				bin_s: 1, bins: 4, stacks: [[1, 0, 1e6], [1, 1, 1e6], [1, 2, 1e6], [1, 3, 1e6]],
				threads: [{ thread: 0, python: [1000, 1000, 1000, 1000], gc: [500, 500, 0, 0] }, { thread: 1, gil: [0, 0, 1000, 1000] }],
			},
			stacks: { strings: ["f", "/x.py"], files: [[1, 1]], functions: [[0, 0, 1]], nodes: [[0, -1, 0], [0, 0, 1, 9, 4e6]] },
		},
	});
	const titles = (from: number, to: number) => findings(one, partOfRun(one, { from, to })).map((finding) => finding.title)
		.filter((title) => /Garbage|GIL/.test(title));
	assert.deepEqual(titles(0, 1), ["Garbage collection takes 50.0%"]);
	assert.deepEqual(titles(3, 4), ["Threads wait 1.00 s for the GIL"]);
	assert.deepEqual(titles(0, 4).sort(), ["Garbage collection takes 25.0%", "Threads wait 2.00 s for the GIL"]);
});

test("a small profile says so", () => {
	const tiny = readProfile({ elapsed_time_sec: 0.02, files: {}, heatline: { time: { total_s: 0.02 }, quality: { samples: 3, wait_samples: 0 } } });
	assert.equal(findings(tiny, wholeRun(tiny))[0]?.title, "Only 3 samples");
});
