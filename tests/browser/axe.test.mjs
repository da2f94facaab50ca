// Accessibility: axe finds nothing in any view and theme, and keys reach everything.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFileSync } from "node:fs";
import { axeSource, htmlOf, launch, openPage, profileOf, repo, writeFile } from "./support.mjs";

let browser;
let url;
before(async () => {
	// Every file, so that there is a list of them; and a run that differs.
	const path = profileOf("--profile-all", `${repo}/examples/demo.py`);
	const other = readFileSync(`${repo}/examples/demo.py`, "utf8").replace("words * 12", "words * 40").replace("range(150)", "range(60)");
	url = htmlOf(path, profileOf("--profile-all", writeFile("-demo.py", other)));
	browser = await launch();
});
after(() => browser?.close());

const VIEWS = ["v=summary", "v=source&l=34", "v=source&f=-1", "v=source&w=functions", "v=flame", "v=flame&tab=1", "v=timeline&t=0.5-1.5", "v=memory", "v=compare"];
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
// Between the themes only colours differ.
const THEMES = {
	light: [{ colorScheme: "light" }, RULES],
	dark: [{ colorScheme: "dark" }, ["color-contrast"]],
	"high contrast": [{ colorScheme: "dark", contrast: "more" }, ["color-contrast"]],
	"high contrast, light": [{ colorScheme: "light", contrast: "more" }, ["color-contrast"]],
};

for (const [theme, [options, rules]] of Object.entries(THEMES))
	test(`axe finds nothing: ${theme}`, async () => {
		const page = await openPage(browser, url, { ...options, bypassCSP: true });
		await page.addScriptTag({ content: axeSource });
		const wrong = [];
		const check = async (where) => {
			const result = await page.evaluate((only) => globalThis.axe.run(document, { runOnly: only }), rules);
			for (const violation of result.violations)
				wrong.push(`${where}: ${violation.id}: ${violation.nodes.slice(0, 3).map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).join(" | ")}`);
		};
		for (const view of VIEWS) {
			await page.evaluate((hash) => { location.hash = hash; }, view);
			await page.waitForTimeout(100);
			await check(view);
		}
		await page.keyboard.press("?");
		await page.waitForSelector("dialog[open]");
		await check("help");
		assert.deepEqual(wrong, []);
		await page.context().close();
	});

test("every control is reached by Tab, and shows it", async () => {
	const page = await openPage(browser, url);
	const reached = new Set();
	for (let i = 0; i < 80; i++) {
		await page.keyboard.press("Tab");
		const [name, outline] = await page.evaluate(() => {
			const element = document.activeElement;
			return [`${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent.slice(0, 20)}`, getComputedStyle(element).outlineStyle];
		});
		if (!name.startsWith("BODY")) assert.notEqual(outline, "none", name);
		reached.add(name);
	}
	const controls = await page.evaluate(() => [...document.querySelectorAll("button, input, select, a[href], summary")]
		.filter((element) => element.checkVisibility())
		.map((element) => `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent.slice(0, 20)}`));
	assert.deepEqual(controls.filter((name) => !reached.has(name)), []);
	await page.context().close();
});

test("nothing moves by itself", async () => {
	const page = await openPage(browser, url, { reducedMotion: "reduce" });
	assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
	await page.context().close();
});
