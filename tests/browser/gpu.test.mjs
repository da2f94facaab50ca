// What only some profiles have: GPU figures, advice, marks.  A profile without them shows
// nothing of them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axeSource, launch, openPage, pageOf } from "./support.mjs";
import { madeProfile } from "./made.mjs";

let browser;
let page;
before(async () => {
	browser = await launch();
	page = await openPage(browser, pageOf(madeProfile()));
});
after(() => browser?.close());

const show = async (hash, view) => {
	await page.evaluate((to) => { location.hash = to; }, hash);
	await page.waitForSelector(view);
};
const text = (selector) => page.locator(selector).first().innerText();

test("GPU: the summary, the columns, the lane, the flame graph", async () => {
	const card = await text(".card:has-text('GPU')");
	for (const part of ["3.51 s", "busy 35.1%", "idle 6.49 s", "Python waited 2.40 s in 1,500 calls", "10,500 kernels", "NVIDIA H200", "1.37 GB of 140 GB"]) assert.ok(card.includes(part), `${part} is not in ${card}`);
	assert.match(await text(".look"), /The GPU is idle 64\.9% of the time/);
	assert.match(await text(".hot tbody tr:has-text('loss.item()')"), /waits for the GPU/);
	assert.match(await text(".line-table:has-text('On the GPU') tbody tr"), /2\.00 s[^]*57\.0%[^]*3,000[^]*640 MB/);
	await show("v=source&l=7", ".lines .row.selected");
	assert.match(await text(".lines .row.selected .col-gpu"), /2\.00 s\s*57\.0%/);
	const facts = await text(".detail dl");
	for (const part of ["kernels 1.50 s, copies 0.50 s", "3,000", "640 MB, 0 B", "1.17 GB in use"]) assert.ok(facts.includes(part), `${part} is not in ${facts}`);
	await page.locator(".row.head .col-gpu button").click();
	const order = await page.locator(".lines .row:not(.head) .lineno").allTextContents();
	assert.deepEqual(order.slice(0, 3), ["7", "8", "9"]);
	await show("v=timeline", ".gpu-lane");
	assert.match(await page.locator(".gpu-lane").getAttribute("aria-label"), /busy 3\.51 s, 35\.1%; memory at most 1\.37 GB/);
	await show("v=flame&m=gpu", ".flame canvas");
	assert.match(await text(".crumbs .count"), /^3\.51 s/);
	assert.deepEqual(page.problems, []);
});

test("advice: on the summary, and at its line", async () => {
	await show("v=summary", ".look .advice");
	const advice = await text(".look .advice li");
	for (const part of ["Searches a list again and again: 50.0%", "4.50 s of native time", "A set answers at once."]) assert.ok(advice.includes(part), part);
	await page.locator(".look .advice li button").click();
	await page.waitForSelector(".lines .row.selected .note:has-text('Searches a list')");
	assert.match(await text(".detail .advice"), /A set answers at once/);
});

test("marks: flags on the pictures, and a table that leads to their part of the run", async () => {
	await show("v=summary", ".overview .marks");
	assert.deepEqual(await page.locator(".overview .marks li").allTextContents(), ["epoch 1", "epoch 2 +1"]);
	await show("v=timeline", ".lane-box .marks");
	await page.locator(".marks-table button", { hasText: "epoch 1" }).click();
	await page.waitForSelector(".range");
	assert.match(page.url(), /t=0\.5-5\.2/);
	await page.keyboard.press("r");
});

test("without them, nothing of them is shown", async () => {
	const profile = madeProfile();
	profile.gpu = false;
	for (const key of ["gpu", "advice", "marks"]) delete profile.heatline[key];
	profile.heatline.stacks.nodes[3].length = 9;
	const plain = await openPage(browser, pageOf(profile));
	assert.equal(await plain.locator(".card:has-text('GPU'), .advice, .marks").count(), 0);
	await plain.evaluate(() => { location.hash = "v=timeline"; });
	await plain.waitForSelector(".lane");
	assert.equal(await plain.locator(".gpu-lane, .marks, .marks-table").count(), 0);
	await plain.evaluate(() => { location.hash = "v=source"; });
	await plain.waitForSelector(".row.head");
	assert.equal(await plain.locator(".col-gpu, .note").count(), 0);
	await plain.evaluate(() => { location.hash = "v=flame"; });
	await plain.waitForSelector(".flame canvas");
	assert.ok(!(await plain.locator(".toolbar select").first().innerText()).includes("GPU"));
	await plain.context().close();
});

for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, { colorScheme: "light", contrast: "more" }])
	test(`axe finds nothing: ${Object.values(options).join(", ")}`, async () => {
		const checked = await openPage(browser, pageOf(madeProfile()), { ...options, bypassCSP: true });
		await checked.addScriptTag({ content: axeSource });
		for (const [hash, element] of [["v=summary", ".marks"], ["v=source&l=5", ".detail .advice"], ["v=timeline", ".gpu-lane"]]) {
			await checked.evaluate((to) => { location.hash = to; }, hash);
			await checked.waitForSelector(element);
			const result = await checked.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
			assert.deepEqual(result.violations.map((one) => `${hash}: ${one.id}: ${one.nodes.map((node) => node.target).join()}`), []);
		}
		await checked.context().close();
	});
