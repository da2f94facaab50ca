// “Suggest an optimisation”: what the panel shows, sends and does, against endpoints that
// answer from a script.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axeSource, launch, newPage, openPage, pageWith, serve, writeFile } from "./support.mjs";
import { madeProfile, PATH } from "./made.mjs";

const PROMPT = { system: "You are a profiler's friend.", prompt: `PROMPT of ${PATH}:5\nkey = "<masked>"`, bytes: 4096, masked: 2 };
const PROVIDERS = { available: true, note: null, providers: [{ id: "near", name: "Nearby", ready: true, needs: "" }, { id: "far", name: "Far", ready: false, needs: "FAR_API_KEY" }] };
const DIFF = `--- a/train.py\n+++ b/train.py\n@@ -3,3 +3,4 @@\n def train(model, batches, seen):\n+    seen = set(seen)\n     for batch in batches:\n-        if batch.name in seen:\n+        if batch.name in seen: # <b>\n`;
const ANSWER = { diagnosis: "A list is searched for every batch.", diff: DIFF, gain: "about 2 times", risks: "names must be hashable", test: "run the tests", note: null };
const events = (...list) => list.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("");

let browser;
let server;
before(async () => {
	browser = await launch();
	server = await serve(writeFile(".json", JSON.stringify(madeProfile())));
});
after(async () => {
	server?.stop();
	await browser?.close();
});

// The served page with its panel open at line 5; `answers` by endpoint, what was posted in page.posted.
async function openPanel(answers, options = {}) {
	const page = await newPage(browser, options);
	page.posted = {};
	await page.route("**/api/suggest/**", (route) => {
		const name = /api\/suggest\/([^?]*)/.exec(route.request().url())[1];
		if (route.request().method() === "POST") page.posted[name] = route.request().postDataJSON();
		const answer = { providers: PROVIDERS, "models/near": { models: ["small-1", "large-1"] }, prompt: PROMPT, ...answers }[name];
		if (answer === "never") return undefined;
		if (typeof answer === "string") return route.fulfill({ contentType: "text/event-stream", body: answer });
		return route.fulfill(answer?.status ? answer : { json: answer });
	});
	await page.goto(`${server.url}#v=source&l=5`);
	await page.locator(".detail button", { hasText: "Suggest an optimisation" }).click();
	await page.waitForSelector("dialog.suggest .prompt");
	return page;
}

const chooseModel = async (page) => {
	await page.waitForFunction(() => document.querySelectorAll("#models option").length === 2);
	await page.getByLabel("Model").fill("large-1");
};

test("what will be sent is shown to the letter before anything is sent", async () => {
	const page = await openPanel({});
	const panel = page.locator("dialog.suggest");
	assert.equal(await panel.locator(".prompt").innerText(), `${PROMPT.system}\n\n${PROMPT.prompt}`);
	const said = await panel.innerText();
	for (const part of ["train.py:5 in train", "4.00 KB, about 1,024 tokens", "2 secrets masked"]) assert.ok(said.includes(part), `${part} is not in ${said}`);
	assert.deepEqual(page.posted.prompt, { profile: 0, file: 0, path: PATH, line: 5, scope: "line" });
	assert.ok(await panel.locator("option", { hasText: "needs FAR_API_KEY" }).evaluate((option) => option.disabled));
	assert.ok(await panel.locator("button", { hasText: "Send" }).isDisabled(), "no model is chosen");
	for (const scope of ["loop", "function"]) {
		const asked = page.waitForRequest((request) => request.url().endsWith("suggest/prompt"));
		await panel.getByLabel(`the ${scope}`).check();
		assert.equal((await asked).postDataJSON().scope, scope);
	}
	assert.equal(page.posted.send, undefined);
	await page.keyboard.press("Escape");
	await page.evaluate(() => { location.hash = "v=source&w=functions&l=3"; });
	await page.waitForSelector(".detail h2:has-text('train')");
	const asked = page.waitForRequest((request) => request.url().endsWith("suggest/prompt"));
	await page.keyboard.press("s");
	const { line, scope } = (await asked).postDataJSON();
	assert.deepEqual([line, scope], [5, "function"], "of a function: its hottest line, and all around it");
	assert.deepEqual(page.problems, []);
	await page.context().close();
});

test("the answer as a diff; verified; applied only then", async () => {
	const page = await openPanel({
		send: events(["text", "DIAGNOSIS\nA list is "], ["text", "searched"], ["done", ANSWER]),
		verify: events(["progress", { text: "compiling the change", step: 1, steps: 4 }], ["done", { outcome: "faster", sentence: "2.3 times faster at this line, same output.", runs: 5, details: "" }]),
		apply: { message: "train.py is changed." },
	});
	await chooseModel(page);
	await page.keyboard.press("Enter");
	await page.waitForSelector(".proposal .diff");
	assert.deepEqual(page.posted.send, { profile: 0, file: 0, path: PATH, line: 5, scope: "line", provider: "near", model: "large-1" });
	assert.deepEqual(await page.locator(".diff .add").allTextContents(), ["+    seen = set(seen)\n", "+        if batch.name in seen: # <b>\n"]);
	assert.deepEqual(await page.locator(".diff .remove").allTextContents(), ["-        if batch.name in seen:\n"]);
	const said = await page.locator(".proposal dl").innerText();
	for (const key of ["diagnosis", "gain", "risks", "test"]) assert.ok(said.includes(ANSWER[key]), key);
	await page.getByLabel("Test command").fill("pytest -q");
	assert.equal(page.posted.verify, undefined);
	await page.keyboard.press("Enter");
	await page.waitForSelector(".suggest .verdict.faster:has-text('2.3 times faster')");
	assert.equal(page.posted.verify.test, "pytest -q");
	assert.equal(page.posted.verify.diff, DIFF);
	assert.equal(page.posted.apply, undefined);
	await page.locator("button", { hasText: "Apply to train.py" }).click();
	await page.waitForSelector(".suggest [role=alert]:has-text('train.py is changed.')");
	assert.equal(page.posted.apply.diff, DIFF);
	assert.deepEqual(page.problems, []);
	await page.context().close();
});

test("what goes wrong is said in a sentence; cancelling ends the transfer", async () => {
	const page = await openPanel({ send: events(["text", "So far"], ["error", "The provider is busy: try again in 20 s."]) });
	await chooseModel(page);
	await page.locator("button", { hasText: "Send" }).click();
	await page.waitForSelector("[role=alert]:has-text('try again in 20 s')");
	await page.unroute("**/api/suggest/**");
	await page.route("**/api/suggest/send", () => undefined);
	await page.locator("button", { hasText: "Send" }).click();
	const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("suggest/send"));
	await page.locator(".suggest button", { hasText: "Cancel" }).click();
	await ended;
	await page.waitForSelector("[role=alert]:has-text('Cancelled.')");
	assert.ok(await page.locator(".suggest button", { hasText: "Send" }).isEnabled());
	await page.context().close();
});

test("without libcurl, or without a key, the panel says what to do; the prompt can be copied", async () => {
	const without = { providers: { available: false, note: "libcurl is missing: apt install libcurl4", providers: [] } };
	const page = await openPanel(without, { permissions: ["clipboard-read", "clipboard-write"] });
	await page.waitForSelector(".hint:has-text('apt install libcurl4')");
	assert.equal(await page.locator("button", { hasText: "Send" }).count(), 0);
	await page.locator("button", { hasText: "Copy prompt" }).click();
	await page.waitForSelector("[role=status]:has-text('Copied.')");
	assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${PROMPT.system}\n\n${PROMPT.prompt}`);
	await page.context().close();
	const keyless = await openPanel({ providers: { available: true, providers: [PROVIDERS.providers[1]] } });
	await keyless.waitForSelector(".needs:has-text('FAR_API_KEY')");
	await keyless.context().close();
});

test("a standalone file has the prompts of its hottest lines, and no more", async () => {
	const url = pageWith({ "heatline-prompts": { [`${PATH}:5`]: PROMPT } }, madeProfile());
	const page = await openPage(browser, `${url}#v=source&l=5`, { permissions: ["clipboard-read", "clipboard-write"], offline: true });
	await page.keyboard.press("s");
	await page.locator("dialog button", { hasText: "Copy prompt" }).click();
	await page.waitForSelector("[role=status]:has-text('Copied.')");
	assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${PROMPT.system}\n\n${PROMPT.prompt}`);
	await page.keyboard.press("Escape");
	await page.waitForSelector("dialog", { state: "detached" });
	await page.evaluate(() => { location.hash = "v=source&l=9"; });
	await page.waitForSelector(".detail h2:has-text('Line 9')");
	await page.keyboard.press("s");
	await page.waitForSelector("dialog:has-text('heatline suggest --prompt-only --line train.py:9')");
	assert.deepEqual(page.problems, []);
	await page.context().close();
});

for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, { colorScheme: "dark", contrast: "more" }])
	test(`axe finds nothing in the panel: ${Object.values(options).join(", ")}`, async () => {
		const page = await openPanel({ send: events(["text", "…"], ["done", ANSWER]), verify: events(["progress", "compiling"], ["done", { outcome: "test fails", sentence: "The test fails.", details: "assert 1 == 2" }]) }, { ...options, bypassCSP: true });
		await chooseModel(page);
		await page.keyboard.press("Enter");
		await page.waitForSelector(".proposal");
		await page.locator("button", { hasText: "Verify" }).click();
		await page.waitForSelector(".suggest .verdict");
		await page.addScriptTag({ content: axeSource });
		const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
		assert.deepEqual(result.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join()}`), []);
		await page.context().close();
	});
