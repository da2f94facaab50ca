// The page on real profiles: figures, sorting, search, the brush, the address, keys, print.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { diffOf, goldenPath, htmlOf, launch, openPage, pageOf, pageWith, profileOf, readJson, repo, writeFile } from "./support.mjs";

const DEMO = `${repo}/examples/demo.py`;
let browser;
let path;
let profile;
let url;
before(async () => {
	path = profileOf(DEMO);
	profile = readJson(path);
	url = htmlOf(path);
	browser = await launch();
});
after(() => browser?.close());

// A test on a page of its own, in which nothing may go wrong and nothing be asked for.
function pageTest(name, hash, body, address = () => url) {
	test(name, async () => {
		const page = await openPage(browser, address() + hash);
		await body(page);
		assert.deepEqual(page.problems, []);
		assert.deepEqual(page.requests.filter((request) => !/^(file|data|blob):/.test(request)), []);
		await page.context().close();
	});
}

const seconds = (s) => (s < 0.0005 ? `${(s * 1e6).toFixed(0)} µs` : s < 0.0995 ? `${three(s * 1e3)} ms` : `${three(s)} s`);
const three = (n) => n.toFixed(n < 9.995 ? 2 : n < 99.95 ? 1 : 0);
const percent = (p) => (p === 0 ? "0%" : p < 0.05 ? "<0.1%" : `${p.toFixed(1)}%`);
const KIND_SECONDS = ["python_s", "native_s", "system_s", "wait_s"];
const self = (line) => (line.python_s ?? 0) + (line.native_s ?? 0) + (line.system_s ?? 0) + (line.wait_s ?? 0);
const share = (line) => line.n_cpu_percent_python + line.n_cpu_percent_c + line.n_sys_percent;
const allLines = (json) => Object.entries(json.files).flatMap(([file, { lines }]) => lines.map((line) => ({ ...line, file })));
const hottest = (json) => allLines(json).filter((line) => self(line) > 0).sort((a, b) => self(b) - self(a));
// The part of the run, from its start, in which the demo has not begun to compute yet.
function asleepOf({ heatline: { timeline, stacks } }) {
	const named = (node) => stacks.strings[stacks.functions[stacks.nodes[node][1]]?.[0]];
	const first = timeline.stacks.filter(([node]) => named(node) === "unique_words").map(([, bin]) => bin);
	return Math.min(...first) / timeline.bins;
}
const texts = (page, selector) => page.locator(selector).allTextContents();

pageTest("the summary has the file's figures, in its order", "", async (page) => {
	const cards = await texts(page, ".card .value");
	assert.ok(cards.includes(seconds(profile.elapsed_time_sec)), cards.join());
	assert.ok(cards.includes(seconds(profile.heatline.time.total_s)));
	const legend = (await texts(page, ".card .legend li")).join();
	for (const kind of ["python_s", "native_s", "system_s", "wait_s"]) assert.ok(legend.includes(seconds(profile.heatline.time[kind])), kind);
	const rows = await page.locator(".hot tbody tr").all();
	const lines = hottest(profile).slice(0, 20);
	assert.equal(rows.length, lines.length);
	for (const [i, line] of lines.entries()) {
		const row = await rows[i].innerText();
		for (const text of [seconds(self(line)), percent(share(line)), `demo.py:${line.lineno}`, line.line.trim().slice(0, 12)])
			assert.ok(row.includes(text), `${text} is not in ${row}`);
	}
	assert.ok((await texts(page, ".look li h3")).length > 0);
});

pageTest("the source has every line with its figures", "#v=source", async (page) => {
	const line = hottest(profile)[0];
	const source = readFileSync(DEMO, "utf8").split("\n");
	await page.evaluate((number) => { location.hash = `v=source&l=${number}`; }, line.lineno);
	const row = page.locator(".lines .row.selected");
	await row.waitFor();
	const text = await row.innerText();
	for (const part of [seconds(self(line)), percent(share(line)), seconds(line.inclusive_s), String(line.lineno)]) assert.ok(text.includes(part), part);
	assert.ok((await row.locator(".code").textContent()).includes(source[line.lineno - 1]));
	const count = await page.locator(".lines .scroller").getAttribute("aria-rowcount");
	assert.equal(Number(count) - 1, source.length - 1);
	await page.waitForSelector(".lines .k"); // coloured
	assert.ok((await texts(page, ".detail dd")).join().includes(percent(line.n_percent_low)));
});

pageTest("columns sort, both ways and back; they can be hidden, and that is remembered", "#v=source", async (page) => {
	const numbers = async () => (await texts(page, ".lines .row:not(.head) .lineno")).map(Number);
	const head = page.locator(".row.head .col-alloc button");
	await head.click();
	const allocated = allLines(profile).filter((line) => line.n_malloc_mb > 0).sort((a, b) => b.n_malloc_mb - a.n_malloc_mb);
	assert.deepEqual((await numbers()).slice(0, 5), allocated.slice(0, 5).map((line) => line.lineno));
	assert.match(page.url(), /s=alloc/);
	assert.equal(await page.locator(".row.head .col-alloc").getAttribute("aria-sort"), "descending");
	await head.click();
	assert.equal(await page.locator(".row.head .col-alloc").getAttribute("aria-sort"), "ascending");
	await head.click();
	assert.deepEqual((await numbers()).slice(0, 3), [1, 2, 3]);
	await page.locator(".toolbar .menu summary").click();
	await page.locator(".sheet label", { hasText: "Allocated" }).locator("input").click();
	assert.equal(await page.locator(".row.head .col-alloc").count(), 0);
	await page.keyboard.press("Escape");
	assert.equal(await page.locator("details[open]").count(), 0);
	await page.reload();
	await page.waitForSelector(".row.head");
	assert.equal(await page.locator(".row.head .col-alloc").count(), 0);
});

pageTest("functions and lines with figures", "#v=source&w=functions", async (page) => {
	const functions = Object.values(profile.files)[0].functions.filter((one) => self(one) > 0).sort((a, b) => self(b) - self(a));
	const shown = await texts(page, ".lines .row:not(.head) .code");
	assert.deepEqual(shown.slice(0, 5), functions.slice(0, 5).map((one) => one.line));
	await page.keyboard.press("f");
	await page.keyboard.press("a");
	await page.waitForSelector(".row.gap");
	assert.match((await texts(page, ".row.gap")).join(), /… \d+ lines/);
});

pageTest("search narrows the lists and the flame graph", "", async (page) => {
	await page.keyboard.press("/");
	await page.keyboard.type("sorted");
	await page.waitForFunction(() => document.querySelectorAll(".hot tbody tr").length === 1);
	assert.match((await texts(page, ".hot tbody tr"))[0], /sorted\(words/);
	await page.keyboard.press("Enter");
	await page.waitForSelector(".lines .row.selected:has-text('sorted(words')");
	await page.goBack();
	await page.keyboard.press("/");
	await page.keyboard.press("Escape");
	assert.ok((await texts(page, ".hot tbody tr")).length > 5);
	await page.keyboard.press("3");
	await page.keyboard.press("/");
	await page.keyboard.type("unique_words");
	await page.waitForSelector(".crumbs .count:has-text('search matches')");
	const found = Object.values(profile.files)[0].functions.find((one) => one.line === "unique_words");
	assert.ok((await texts(page, ".crumbs .count"))[0].includes(percent(found.n_inclusive_percent)));
});

pageTest("a part of the run: brushed, typed, taken back", "", async (page) => {
	// The program begins by sleeping; how much of the run that is depends on the machine.
	const box = await page.locator(".overview canvas").boundingBox();
	const asleep = asleepOf(profile);
	assert.ok(asleep > 0.01, `${asleep}`);
	await page.mouse.move(box.x + box.width * asleep * 0.1, box.y + 30);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * asleep * 0.4, box.y + 30);
	await page.mouse.move(box.x + box.width * asleep * 0.6, box.y + 30);
	await page.mouse.up();
	await page.waitForSelector(".range");
	assert.match(page.url(), /t=[\d.]+-[\d.]+/);
	// Later lines have not run yet.
	assert.match((await texts(page, ".hot tbody tr"))[0], /time\.sleep/);
	assert.ok(!(await texts(page, ".hot tbody tr")).join().includes("sorted(words"));
	await page.keyboard.press("3");
	await page.waitForSelector(".flame canvas");
	const { bin_s: width } = profile.heatline.timeline;
	const [, from, to] = /t=([\d.]+)-([\d.]+)/.exec(page.url()).map(Number);
	const inside = profile.heatline.timeline.stacks.filter(([, bin]) => bin >= Math.round(from / width) && bin < Math.round(to / width));
	const total = inside.reduce((sum, [, , us]) => sum + us, 0) / 1e6;
	assert.ok((await texts(page, ".crumbs .count"))[0].startsWith(seconds(total)));
	await page.keyboard.press("r");
	await page.waitForSelector(".range", { state: "detached" });
});

pageTest("the full range is the whole run", "", async (page) => {
	const { bins, bin_s: width } = profile.heatline.timeline;
	const before = await texts(page, ".hot tbody .time b");
	await page.evaluate((to) => { location.hash = `t=0-${to}`; }, (bins * width).toFixed(3));
	await page.waitForSelector(".range");
	const within = await texts(page, ".hot tbody .time b");
	const value = (text) => parseFloat(text) * (text.endsWith("ms") ? 0.001 : 1);
	const [whole, part] = [before, within].map((list) => list.reduce((sum, text) => sum + value(text), 0));
	assert.ok(Math.abs(whole - part) / whole < 0.02, `${whole} and ${part}`);
});

pageTest("the address leads back to the same place", "", async (page) => {
	const line = hottest(profile)[0].lineno;
	await page.locator(".hot tbody a").first().click();
	await page.waitForSelector(".lines .row.selected");
	assert.match(page.url(), new RegExp(`v=source.*l=${line}`));
	await page.keyboard.press("3");
	await page.waitForSelector(".flame canvas");
	await page.keyboard.press("i");
	const deep = page.url();
	await page.goBack();
	await page.goBack();
	await page.waitForSelector(".lines .row.selected");
	await page.goto("about:blank");
	await page.goto(deep);
	await page.waitForSelector(".flame canvas");
	assert.ok(await page.locator("label:has-text('Inverted') input").isChecked());
	await page.evaluate(() => { location.hash = "v=source&f=99&nonsense=1&l=x"; });
	await page.waitForSelector(".source");
});

pageTest("the flame graph by mouse and by keys, and its table", "#v=flame", async (page) => {
	const total = profile.heatline.time.total_s;
	assert.ok((await texts(page, ".crumbs .count"))[0].startsWith(seconds(total)));
	const canvas = page.locator(".flame canvas");
	await canvas.focus();
	for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
	await page.waitForSelector(".crumbs code");
	assert.match(page.url(), /z=\d+\.\d+/);
	await page.keyboard.press("Backspace");
	await page.keyboard.press("Escape");
	await page.waitForSelector(".crumbs code", { state: "detached" });
	const box = await canvas.boundingBox();
	await page.mouse.click(box.x + 40, box.y + 70);
	await page.waitForSelector(".crumbs code");
	await page.locator(".crumbs button").first().click();
	await page.locator("label:has-text('As a table') input").check();
	const rows = await texts(page, ".flame-table .row:not(.head)");
	const main = Object.values(profile.files)[0].functions.find((one) => one.line === "main");
	assert.ok(rows.some((row) => row.includes("main") && row.includes(percent(main.n_inclusive_percent))), rows.slice(0, 4).join("\n"));
	await page.locator(".toolbar select").first().selectOption("allocated");
	await page.waitForFunction(() => /[MG]B/.test(document.querySelector(".crumbs .count").textContent));
});

pageTest("threads, memory, and the figures there", "#v=timeline", async (page) => {
	const rows = (await texts(page, "table.plain tbody tr")).join("\n");
	for (const thread of profile.heatline.threads) assert.ok(rows.includes(seconds(thread.cpu_s)), String(thread.cpu_s));
	assert.equal(await page.locator(".lane").count(), profile.heatline.timeline.threads.length);
	await page.keyboard.press("5");
	const peak = allLines(profile).sort((a, b) => (b.n_at_peak_mb ?? 0) - (a.n_at_peak_mb ?? 0))[0];
	const first = (await texts(page, ".line-table:first-of-type tbody tr"))[0];
	assert.ok(first.includes(`demo.py:${peak.lineno}`) && first.includes(percent((peak.n_at_peak_mb / profile.max_footprint_mb) * 100)), first);
});

pageTest("keys: hot lines, theme, help, Markdown", "", async (page) => {
	await page.keyboard.press("j");
	await page.waitForSelector(".lines .row.selected");
	const [first, second] = hottest(profile);
	assert.match(page.url(), new RegExp(`l=${first.lineno}(&|$)`));
	await page.keyboard.press("j");
	assert.match(page.url(), new RegExp(`l=${second.lineno}(&|$)`));
	await page.keyboard.press("d");
	await page.keyboard.press("d");
	await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
	await page.keyboard.press("?");
	await page.waitForSelector("dialog[open]");
	await page.keyboard.press("Escape");
	await page.waitForSelector("dialog[open]", { state: "detached" });
	await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
	await page.keyboard.press("m");
	await page.waitForSelector(".notice:has-text('Copied')");
	const copied = await page.evaluate(() => navigator.clipboard.readText());
	assert.ok(copied.includes("| time | share |") && copied.includes(first.line.trim().replaceAll("|", "\\|")));
});

pageTest("on paper: the program and the hottest lines, as text", "", async (page) => {
	await page.emulateMedia({ media: "print" });
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	const text = await page.locator("#print").innerText();
	assert.ok(text.includes("demo.py"));
	for (const line of hottest(profile).slice(0, 20)) assert.ok(text.includes(line.line.trim().slice(0, 20)), line.line);
	await page.evaluate(() => dispatchEvent(new Event("afterprint")));
	assert.equal(await page.locator("#print *").count(), 0);
	assert.ok((await page.pdf()).length > 10_000);
});

pageTest("of a profile of Scalene's nothing is said that it does not hold", "", async (page) => {
	const cards = (await texts(page, ".card")).join("\n");
	assert.match(cards, /samples.*written by Scalene/);
	assert.doesNotMatch(cards, /lost|cost/);
	assert.doesNotMatch(await page.locator(".summary").innerText(), /The kernel takes|in the kernel$/m);
	assert.equal(await page.locator(".command").textContent(), readJson(goldenPath("scalene.json")).program);
}, () => htmlOf(goldenPath("scalene.json")));

// The same run, a thousand times as long and with few samples.
function longRun() {
	const long = structuredClone(profile);
	long.elapsed_time_sec *= 1000;
	for (const key of ["elapsed_s", "total_s", ...KIND_SECONDS]) long.heatline.time[key] *= 1000;
	for (const file of Object.values(long.files))
		for (const [i, line] of file.lines.entries())
			if ("n_samples" in line) {
				for (const key of [...KIND_SECONDS, "inclusive_s"]) line[key] *= 1000;
				line.n_samples = 1 + (i % 9);
			}
	return long;
}

pageTest("figures of a long run with few samples stand side by side", "", async (page) => {
	for (const view of ["summary", "source"]) {
		await page.evaluate((name) => { location.hash = `v=${name}`; }, view);
		await page.waitForSelector(`.view-${view} .time`);
		const lying = await page.evaluate(() => {
			const box = (element) => {
				const range = document.createRange();
				range.selectNodeContents(element);
				return range.getBoundingClientRect();
			};
			const pairs = [...document.querySelectorAll(".time")].flatMap((cell) => {
				const [bar, figure, share] = [".bar", "b", "em"].map((name) => cell.querySelector(name));
				return [...(bar ? [[bar.getBoundingClientRect(), box(figure), cell]] : []), [box(figure), box(share), cell]];
			});
			for (const card of document.querySelectorAll(".card.wide"))
				pairs.push([box(card.querySelector(".value")), card.querySelector(".bar").getBoundingClientRect(), card]);
			return pairs.filter(([left, right]) => left.right > right.left).map(([, , element]) => element.innerText);
		});
		assert.deepEqual(lying, [], view);
	}
}, () => pageOf(longRun()));

// The same run with a row for threads that have ended.
function manyThreads() {
	const many = structuredClone(profile);
	const { threads } = many.heatline;
	threads.push({ ...threads[0], is_main: false, tid: 0, name: "1200 other threads", joined: 1200 });
	return many;
}

pageTest("threads that stand for many are so many, and have no number of their own", "", async (page) => {
	const rows = profile.heatline.threads.length;
	assert.ok((await texts(page, ".card .note"))[0].includes(`${((1200 + rows) / 1000).toFixed(3).replace(".", ",")} threads`));
	await page.evaluate(() => { location.hash = "v=timeline"; });
	await page.waitForSelector(".view-timeline table.plain");
	assert.ok((await texts(page, "table.plain tbody td:first-child")).includes("1200 other threads "));
	await page.evaluate(() => { location.hash = "v=flame"; });
	await page.waitForSelector(".view-flame select");
	assert.ok((await texts(page, "option")).includes("1200 other threads"));
}, () => pageOf(manyThreads()));

// Two classes with a method of one name, each called by another function and with a lane of its own.
function twins() {
	const line = (lineno, text, python_s) => ({ lineno, line: text, python_s, n_cpu_percent_python: python_s * 10, n_samples: 100, start_function_line: lineno > 8 ? 8 : 1 });
	const twin = (lineno, python_s) => ({ ...line(lineno, "run", python_s), inclusive_s: python_s });
	return {
		program: "/p/x.py", elapsed_time_sec: 10, entrypoint_dir: "/p", memory: true, max_footprint_mb: 5,
		files: { "/p/x.py": { percent_cpu_time: 100, lines: [line(2, "small()", 2), line(9, "large()", 8)], functions: [twin(1, 2), twin(8, 8)] } },
		heatline: {
			time: { total_s: 10, python_s: 10 }, quality: { samples: 1000 }, processes: [{ pid: 7, end_s: 10 }],
			threads: [
				{ process: 0, tid: 7, name: "MainThread", is_main: true, cpu_s: 10, off_cpu_s: 0, samples: 1234 },
				{ process: 0, tid: 8, name: "unseen", cpu_s: 3, off_cpu_s: 0, samples: 4321 },
			],
			timeline: { bin_s: 5, bins: 2, threads: [{ thread: 0, python: [5000, 5000] }], stacks: [[2, 0, 2e6], [4, 0, 3e6], [4, 1, 5e6]] },
			stacks: {
				strings: ["/p/x.py", "run", "first_caller", "second_caller"], files: [[0, 1]], functions: [[1, 0, 1], [1, 0, 8], [2, 0, 20], [3, 0, 30]],
				nodes: [[0, -1, 0], [0, 2, 21], [1, 0, 2, 20, 2e6, 0, 0, 0, 2e6, 0, 1048576], [0, 3, 31], [3, 1, 9, 80, 8e6, 0, 0, 0, 8e6, 0, 4194304]],
				threads: [[2, 0, 2e6], [4, 0, 8e6]],
			},
		},
	};
}

pageTest("functions of one name have callers of their own", "#v=source&w=functions&l=1", async (page) => {
	assert.deepEqual(await texts(page, ".neighbours code"), ["first_caller"]);
	await page.evaluate(() => { location.hash = "v=source&w=functions&l=8"; });
	await page.waitForSelector(".neighbours code:has-text('second_caller')");
	assert.deepEqual(await texts(page, ".neighbours code"), ["second_caller"]);
	await page.keyboard.press("s");
	await page.waitForSelector("dialog.suggest:has-text('x.py:9 in run')");
}, () => pageWith({ "heatline-prompts": [] }, twins()));

pageTest("a flame graph of memory is said to be of all threads", "#v=flame&th=0", async (page) => {
	const [metric, thread] = [page.locator(".toolbar select").first(), page.locator(".toolbar select").nth(1)];
	assert.equal(await thread.inputValue(), "0");
	await metric.selectOption("allocated");
	await page.waitForFunction(() => !location.hash.includes("th="));
	assert.equal(await thread.inputValue(), "-1");
}, () => pageOf(twins()));

pageTest("threads under the brush: what is not known of the range is left out", "#v=timeline&t=0-5", async (page) => {
	assert.deepEqual(await texts(page, "table.plain thead th"), ["Thread", "Process", "On a CPU", "Waiting", "Busy"]);
	assert.deepEqual(await texts(page, "table.plain tbody tr:nth-child(1) td.number"), ["5.00 s", "0 s", "100.0%"]);
	assert.deepEqual(await texts(page, "table.plain tbody tr:nth-child(2) td.number"), ["", "", ""]);
}, () => pageOf(twins()));

pageTest("a search that no changed line matches is no word about the change", "#v=compare&q=nothing", async (page) => {
	assert.equal(await page.locator(".compare .empty").textContent(), "No line that changed matches the search.");
}, () => pageOf(twins(), twins()));

pageTest("in a narrow window, who calls a line can be read", "#v=source&l=9&t=0-5", async (page) => {
	assert.match(await page.locator(".range .count").textContent(), /^Memory is that of the whole run/);
	await page.setViewportSize({ width: 480, height: 800 });
	const box = await page.locator(".neighbours code").first().boundingBox();
	const list = await page.locator(".neighbours").first().boundingBox();
	assert.ok(box.x + box.width <= list.x + list.width, `${box.x + box.width} of ${list.x + list.width}`);
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
}, () => pageOf(twins()));

pageTest("a narrow window has no scrolling to the side", "", async (page) => {
	await page.setViewportSize({ width: 320, height: 640 });
	for (const view of ["summary", "timeline", "memory", "compare"]) {
		await page.evaluate((name) => { location.hash = `v=${name}`; }, view);
		await page.waitForSelector(`.view-${view}`);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view);
	}
});

test("a run and itself: no difference; a slower line comes first, also when it moved", async () => {
	const same = await openPage(browser, `${htmlOf(path, path)}#v=compare`);
	assert.match(await same.locator(".verdict").textContent(), /^No difference in time beyond noise/);
	await same.locator("label:has-text('within noise') input").check();
	assert.ok((await texts(same, ".lines .row:not(.head) .cell:first-child")).every((text) => /0 s/.test(text)));
	await same.context().close();
	const program = (times) => `import time\ndef work(n):\n    t = 0\n    for i in range(n):\n        t += i * i\n    return t\n\ndef rest():\n    time.sleep(0.4)\n\nwork(${times})\nrest()\n`;
	const slow = profileOf(writeFile("-a.py", `# moved\n\n${program(40_000_000)}`));
	const fast = profileOf(writeFile("-a.py", program(4_000_000)));
	const page = await openPage(browser, `${htmlOf(slow, fast)}#v=compare`);
	// The terminal says the same, but for the rounding of bytes.
	const verdict = (text) => text.split("\n")[0].replace(/peak memory \S+ \S+/, "peak memory").trim();
	assert.match(await page.locator(".verdict").textContent(), /^Slower/);
	assert.equal(verdict(await page.locator(".verdict").textContent()), verdict(diffOf(fast, slow)));
	const first = (await texts(page, ".lines .row:not(.head)"))[0];
	assert.match(first, /▲.*(for i in range|t \+= i \* i)/s);
	assert.deepEqual(page.problems, []);
	await page.context().close();
});

test("a profile to compare with is taken from a file", async () => {
	const page = await openPage(browser, `${url}#v=compare`);
	await page.setInputFiles("input[type=file]", writeFile(".json", "{}"));
	await page.waitForSelector(".notice:has-text('not a profile')");
	await page.setInputFiles("input[type=file]", path);
	await page.waitForSelector(".verdict");
	await page.context().close();
});

for (const name of ["scalene.json", "scalene-memory.json"])
	pageTest(`Scalene's own files: ${name}`, "", async (page) => {
		for (const view of ["summary", "source", "flame", "timeline", "memory", "compare"]) {
			await page.evaluate((hash) => { location.hash = `v=${hash}`; }, view);
			await page.waitForSelector(`.view-${view}`);
		}
		await page.keyboard.press("1");
		assert.ok((await texts(page, ".hot tbody tr")).length > 0);
	}, () => htmlOf(goldenPath(name)));
