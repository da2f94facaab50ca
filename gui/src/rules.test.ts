import assert from "node:assert/strict";
import { test } from "node:test";
import { readProfile } from "./model.ts";
import { findings, isRough, reasonsOf } from "./rules.ts";
import { wholeRun } from "./slice.ts";

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

test("well-known slow ways are named by their inclusive time", () => {
	const one = readProfile({
		elapsed_time_sec: 10, entrypoint_dir: "/p", files: { "/p/x.py": { lines: [
			{ lineno: 1, line: "for i, row in frame.iterrows():\n", n_cpu_percent_python: 2, python_s: 0.2, native_s: 0, system_s: 0, wait_s: 0, inclusive_s: 3, n_inclusive_percent: 30 },
		] } },
		heatline: { time: { total_s: 10, python_s: 9 }, quality: { samples: 5000 } },
	});
	const found = findings(one, wholeRun(one)).find((finding) => finding.title.startsWith("Rows of a table"));
	assert.equal(found?.title, "Rows of a table are gone through one by one: 30.0%");
	assert.equal(found?.line?.line, 1);
});

test("a small profile says so", () => {
	const tiny = readProfile({ elapsed_time_sec: 0.02, files: {}, heatline: { time: { total_s: 0.02 }, quality: { samples: 3, wait_samples: 0 } } });
	assert.equal(findings(tiny, wholeRun(tiny))[0]?.title, "Only 3 samples");
});
