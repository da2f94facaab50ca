// How long the page takes until it can be used, beside Scalene's, on the same profile.
//
//   node bench/page/run.mjs [LINES…]     default: 200 1000
//
// One file whose every fifth line is hot, opened in the same Chromium, one after the
// other.  A page is ready when its last line is in the document and its scripts rest.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { htmlOf, launch, repo, scratch, writeFile } from "../../tests/browser/support.mjs";

const CODE = ["def compute(values):", "    total = 0", "    for value in values:", "        total += value ** 2", "    return total"];
const PATIENCE_MS = 180_000;

function profileOf(count) {
	const hot = count / 5;
	const lines = Array.from({ length: count }, (_, i) => {
		const share = i % 5 === 3 ? 100 / hot : 0;
		return {
			lineno: i + 1, line: `${CODE[i % 5]}\n`, n_cpu_percent_python: share * 0.7, n_cpu_percent_c: share * 0.3, n_sys_percent: 0, n_core_utilization: 1,
			n_gpu_percent: 0, n_gpu_avg_memory_mb: 0, n_gpu_peak_memory_mb: 0, n_malloc_mb: share, n_mallocs: share > 0 ? 9 : 0, n_avg_mb: share, n_peak_mb: share, n_growth_mb: 0,
			n_copy_mb_s: share / 9, n_python_fraction: 0.5, n_usage_fraction: 0.1, memory_samples: share > 0 ? [[0, 1], [1e9, 2]] : [], cpu_samples_list: [],
			start_region_line: i + 1, end_region_line: i + 1, start_outermost_loop: i + 1, end_outermost_loop: i + 1, start_function_line: 0, end_function_line: 0,
		};
	});
	return {
		program: "/p/big.py", args: [], filename: "/p", entrypoint_dir: "/p", elapsed_time_sec: 10, start_time_absolute: 0, start_time_perf: 0, gpu: false, gpu_device: "",
		memory: true, alloc_samples: 9, growth_rate: 0, max_footprint_fname: null, max_footprint_lineno: null, max_footprint_mb: 9, max_footprint_python_fraction: 0.5,
		native_allocations_mb: 0, samples: [[0, 1], [1e9, 9]], stacks: [], combined_stacks: [], async_profile: false,
		files: { "/p/big.py": { percent_cpu_time: 100, functions: [], imports: [], leaks: {}, lines } },
	};
}

function scaleneHtml(path) {
	const scalene = join(repo, ".test-env/venv/bin/scalene");
	if (!existsSync(scalene)) return undefined;
	spawnSync(scalene, ["view", "--standalone", path], { cwd: scratch });
	const html = join(scratch, "scalene-profile.html");
	return existsSync(html) ? pathToFileURL(html).href : undefined;
}

async function measure(browser, url, isReady) {
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true });
	const page = await context.newPage();
	await page.goto(url, { waitUntil: "commit" });
	await page.waitForFunction(isReady, undefined, { timeout: PATIENCE_MS });
	await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
	const figures = await page.evaluate(() => [globalThis.seenSince ?? performance.now(), document.querySelectorAll("*").length, performance.memory?.usedJSHeapSize ?? 0]);
	await context.close();
	return `${(figures[0] / 1000).toFixed(2).padStart(8)} s ${String(figures[1]).padStart(8)} nodes ${(figures[2] / 1048576).toFixed(0).padStart(6)} MB`;
}

const sizes = process.argv.slice(2).map(Number);
const browser = await launch();
for (const count of sizes.length > 0 ? sizes : [200, 1000]) {
	const path = writeFile(".json", JSON.stringify(profileOf(count)));
	console.log(`${count} lines`);
	console.log(`  heatline ${await measure(browser, `${htmlOf(path)}#v=source`, () => document.querySelector(".lines .row .code") !== null)}`);
	const other = scaleneHtml(path);
	if (other) {
		// Its charts are drawn one after the other: ready when their number no longer grows.
		const isReady = () => {
			const now = document.querySelectorAll("canvas, svg.marks").length;
			const isSame = now > 0 && now === globalThis.seenCharts && performance.now() - globalThis.seenSince > 1000;
			if (now !== globalThis.seenCharts) [globalThis.seenCharts, globalThis.seenSince] = [now, performance.now()];
			return isSame;
		};
		console.log(`  scalene  ${await measure(browser, other, isReady).catch((error) => String(error).split("\n")[0])}`);
	}
}
await browser.close();
