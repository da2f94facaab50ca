// Names and source that try to become markup are shown as text, everywhere.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { htmlOf, launch, openPage, pageOf, profileOf, repo, scratch } from "./support.mjs";

const EVIL = "</script><img src=x onerror=window.pwned=1>";
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

async function visitAll(page) {
	for (const hash of ["v=summary", "v=source&l=2", "v=source&f=-1", "v=source&w=functions", "v=flame", "v=flame&tab=1", "v=timeline", "v=memory", "v=compare"]) {
		await page.evaluate((to) => { location.hash = to; }, hash);
		await page.waitForTimeout(60);
		assert.equal(await page.evaluate(() => document.images.length), 0, hash);
	}
	assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
	assert.deepEqual(page.problems, []);
}

test("in a real run: the file's name and its source", async () => {
	const folder = join(scratch, "evil");
	mkdirSync(folder);
	const file = join(folder, "a<b onclick=x>.py");
	writeFileSync(file, `def f():\n    return sum(i for i in range(6_000_000)) # ${EVIL}\nf()\n`);
	const page = await openPage(browser, htmlOf(profileOf(file)), { offline: true });
	assert.ok((await page.locator(".hot").innerText()).includes(EVIL));
	assert.ok((await page.locator(".topbar").innerText()).includes("a<b onclick=x>.py"));
	await visitAll(page);
});

test("in a made-up profile: every text there is", async () => {
	const line = (lineno, name) => ({
		lineno, line: name, n_cpu_percent_python: 50, n_cpu_percent_c: 0, n_sys_percent: 0, python_s: 1, native_s: 0, system_s: 0, wait_s: 0,
		inclusive_s: 1, n_samples: 50, n_malloc_mb: 20, n_peak_mb: 1, n_at_peak_mb: 1, n_copy_mb: 300, async_task_names: [EVIL], n_async_await_percent: 3,
	});
	const profile = {
		program: EVIL, args: [EVIL], elapsed_time_sec: 2, entrypoint_dir: "/", memory: true, max_footprint_mb: 2, gpu: true, gpu_device: EVIL,
		files: { [`/${EVIL}.py`]: { percent_cpu_time: 100, lines: [line(1, EVIL), line(2, `x = "${EVIL}"`)], functions: [line(1, EVIL)], leaks: { 2: { likelihood: 0.99, velocity_mb_s: 1 } } } },
		heatline: {
			gpu: { source: EVIL, note: EVIL, devices: [{ name: EVIL, memory_mb: 5 }], busy_s: 1, idle_s: 1, bin_s: 1, utilisation: [10, 20], memory_mb: [1, 2] },
			advice: [{ rule: EVIL, file: `/${EVIL}.py`, line: 2, title: EVIL, evidence: EVIL, fix: EVIL, share: 0.5 }, { file: EVIL, line: 1, title: EVIL }],
			marks: [{ s: 0.5, text: EVIL, pid: 1 }],
			version: EVIL, python: EVIL, machine: EVIL, time: { total_s: 2, python_s: 2 },
			quality: { samples: 5, wait_samples: 0, warnings: [EVIL], lost: [{ reason: EVIL, count: 1 }], clock: EVIL },
			processes: [{ pid: 1, command: EVIL, note: EVIL, start_s: 0, end_s: 2 }, { pid: 2, command: EVIL, note: EVIL, start_s: 0, end_s: 2 }],
			threads: [{ process: 0, tid: 1, name: EVIL, is_main: true, cpu_s: 1, off_cpu_s: 1, samples: 3 }],
			timeline: { bin_s: 1, bins: 2, threads: [{ thread: 0, python: [1000, 1000] }], stacks: [[1, 0, 1000000]] },
			memory: { timeline: [[0, 1, 1], [1, 2, 2]] },
			stacks: { strings: [EVIL], files: [[0, 1]], functions: [[0, 0, 1]], nodes: [[0, -1, 0], [0, 0, 1, 5, 2000000]], threads: [[1, 0, 2000000]] },
		},
	};
	const page = await openPage(browser, pageOf(profile, profile), { offline: true });
	assert.ok((await page.locator("body").innerText()).includes(EVIL));
	await visitAll(page);
});

test("what is damaged is refused in a sentence", async () => {
	const context = await browser.newContext();
	const page = await context.newPage();
	await page.goto(pageOf([1, 2]));
	await page.waitForSelector("[role=alert]");
	assert.match(await page.locator("[role=alert]").innerText(), /not a profile/);
});

test("the standalone file asks for nothing and holds nothing of the environment", async () => {
	const secrets = { OPENAI_API_KEY: "sk-page-test-1", ANTHROPIC_API_KEY: "page-test-2", AWS_SECRET_ACCESS_KEY: "page-test-3" };
	Object.assign(process.env, secrets);
	const url = htmlOf(profileOf(`${repo}/examples/demo.py`));
	const html = readFileSync(fileURLToPath(url), "utf8");
	for (const secret of Object.values(secrets)) assert.ok(!html.includes(secret));
	assert.ok(!/(src|href)=["']?https?:/.test(html));
	const page = await openPage(browser, url, { offline: true });
	assert.deepEqual(page.requests.filter((request) => !/^(file|data):/.test(request)), []);
});

test("no source of the page writes markup", () => {
	const folder = join(repo, "gui/src");
	for (const name of readdirSync(folder, { recursive: true }).filter((one) => /\.tsx?$/.test(one)))
		assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/.test(readFileSync(join(folder, name), "utf8")), name);
});
