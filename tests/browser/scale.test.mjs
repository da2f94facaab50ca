// Large programs.  What exists in the page is bounded, and that is asserted; how long it
// took is printed, not judged: the machine has other things to do.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage, pageOf } from "./support.mjs";

const MOST_NODES = 3000;
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);

// The page, and what passed from the start of loading until a selector was there.
async function openTimed(url, selector) {
	const page = await openPage(browser, url);
	await page.waitForSelector(selector);
	const wall = await page.evaluate(() => performance.now());
	const session = await page.context().newCDPSession(page);
	await session.send("Performance.enable");
	const { metrics } = await session.send("Performance.getMetrics");
	const cpu = metrics.find((one) => one.name === "ProcessTime").value * 1000;
	return [page, `${wall.toFixed(0)} ms (${cpu.toFixed(0)} ms of CPU, the browser's own start included)`];
}

function line(lineno, text, share) {
	return {
		lineno, line: text, n_cpu_percent_python: share, n_cpu_percent_c: share / 2, n_sys_percent: 0, python_s: share / 10, native_s: share / 20, system_s: 0, wait_s: 0,
		inclusive_s: share / 5, n_samples: 50, n_malloc_mb: 3, n_peak_mb: 2, n_copy_mb: 1, memory_samples: Array.from({ length: 15 }, (_, i) => [i * 7e8, i % 7]),
	};
}

const CODE = ["def compute(values, *, factor=2.5):", '    """Sum of squares, as text."""', "    total = 0", "    for index, value in enumerate(values):", "        total += value ** 2 * factor  # hot", "    return f'{total:.3f}'", ""];

function bigFile(count, hot) {
	const source = Array.from({ length: count }, (_, i) => CODE[i % CODE.length]);
	const step = count / hot;
	const lines = Array.from({ length: hot }, (_, i) => line(Math.floor(i * step) + 5, source[Math.floor(i * step) + 4], 100 / hot));
	return { percent_cpu_time: 66, lines, functions: [], leaks: {}, reduced: true, source: source.join("\n") };
}

const profileWith = (files, heatline = {}) => ({
	program: "/p/big.py", args: [], elapsed_time_sec: 10, entrypoint_dir: "/p", memory: true, max_footprint_mb: 9, files,
	heatline: { time: { total_s: 10, python_s: 6, native_s: 3, system_s: 0, wait_s: 1 }, quality: { samples: 9, wait_samples: 99 }, ...heatline },
});

test("a file of 50 000 lines, 1 000 of them hot", async (t) => {
	const url = pageOf(profileWith({ "/p/big.py": bigFile(50_000, 1000) }));
	const [page, ready] = await openTimed(`${url}#v=source`, ".lines .row .code");
	assert.ok((await nodes(page)) < MOST_NODES);
	const jump = await page.evaluate(async () => {
		const begin = performance.now();
		location.hash = "v=source&l=49999";
		await new Promise((done) => {
			const look = () => (document.querySelector(".row.selected") ? requestAnimationFrame(() => done()) : setTimeout(look));
			look();
		});
		return Math.round(performance.now() - begin);
	});
	const scroll = await page.evaluate(async () => {
		const scroller = document.querySelector(".lines .scroller");
		const times = [];
		for (let i = 0; i < 30; i++) {
			scroller.scrollTop = i * 30_000;
			const begin = performance.now();
			await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
			times.push(performance.now() - begin);
		}
		return Math.round(times.sort((a, b) => a - b)[15]);
	});
	assert.ok((await nodes(page)) < MOST_NODES);
	assert.match(await page.locator(".lines .scroller").getAttribute("aria-rowcount"), /50001/);
	await page.waitForSelector(".lines .k");
	t.diagnostic(`50 000 lines: ready in ${ready}, jump to the last ${jump} ms, a page further ${scroll} ms, ${await nodes(page)} nodes`);
	assert.deepEqual(page.problems, []);
	await page.context().close();
});

test("500 files", async (t) => {
	const files = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`/p/package_${i % 20}/module_${i}.py`, bigFile(200, 4)]));
	const [page, ready] = await openTimed(`${pageOf(profileWith(files))}#v=source&f=3`, ".lines .row .code");
	assert.ok((await nodes(page)) < MOST_NODES);
	t.diagnostic(`500 files: ready in ${ready}, ${await nodes(page)} nodes`);
	await page.context().close();
});

test("a flame graph of 200 000 frames", async (t) => {
	const count = 200_000;
	const functions = 5000;
	const tree = [[0, -1, 0]];
	for (let i = 1; i < count; i++) tree.push([i < 40 ? 0 : Math.floor(i / 3), i % functions, i % 900, 1, (i * 7919) % 1000, (i * 31) % 500]);
	const stacks = {
		nodes: tree, strings: ["/p/big.py", ...Array.from({ length: functions }, (_, i) => `function_number_${i}`)],
		files: [[0, 1]], functions: Array.from({ length: functions }, (_, i) => [i + 1, 0, i]),
	};
	const [page] = await openTimed(`${pageOf(profileWith({ "/p/big.py": bigFile(100, 10) }, { stacks }))}#v=summary`, ".hot");
	const timed = (keys) => page.evaluate(async (key) => {
		const begin = performance.now();
		if (key === "3") dispatchEvent(new KeyboardEvent("keydown", { key }));
		else document.querySelector(".flame canvas").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
		await new Promise((done) => {
			const look = () => (document.querySelector(".flame canvas") ? requestAnimationFrame(() => setTimeout(done)) : setTimeout(look));
			look();
		});
		return Math.round(performance.now() - begin);
	}, keys);
	const first = await timed("3");
	await timed("ArrowDown");
	const zoom = await timed("Enter");
	const label = await page.locator(".flame canvas").getAttribute("aria-label");
	const shown = Number(/of (\d+) frames/.exec(label)[1]);
	assert.ok(shown > 150_000, label);
	await page.keyboard.press("Escape");
	await page.keyboard.press("t");
	await page.waitForSelector(".flame-table .row");
	assert.ok((await nodes(page)) < MOST_NODES);
	t.diagnostic(`flame graph: ${shown} frames laid out and drawn in ${first} ms, zoom ${zoom} ms`);
	assert.deepEqual(page.problems, []);
	await page.context().close();
});
