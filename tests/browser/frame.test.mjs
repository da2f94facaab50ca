// The page in a frame, as notebooks show it: text of the attribute `srcdoc`, in a sandbox that
// lets scripts run and nothing else.  There history, storage, dialogs and the clipboard refuse.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { madeProfile, PATH } from "./made.mjs";
import { launch, newPage, pageWith } from "./support.mjs";

const PROMPT = { system: "System", prompt: "Prompt", bytes: 12, masked: 0 };
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

test("without history, storage or origin everything works all the same", async () => {
	const html = readFileSync(fileURLToPath(pageWith({ "heatline-prompts": { [`${PATH}:5`]: PROMPT } }, madeProfile(), madeProfile())), "utf8");
	const page = await newPage(browser, { offline: true });
	await page.setContent("<iframe sandbox='allow-scripts' width=1300 height=800></iframe>");
	await page.evaluate((text) => { document.querySelector("iframe").srcdoc = text; }, html);
	const frame = page.frameLocator("iframe");
	const press = (key) => frame.locator("body").press(key);
	await frame.locator(".overview").waitFor();
	const refuses = await page.frames()[1].evaluate(() => [() => localStorage, () => history.pushState(null, "", "#x")].map((use) => {
		try {
			use();
			return false;
		} catch {
			return true;
		}
	}));
	assert.deepEqual(refuses, [true, true], "the frame is as poor as a notebook's");

	await frame.locator(".hot tbody a").first().click();
	await frame.locator(".lines .row.selected").waitFor();
	await press("s");
	await frame.locator("dialog button", { hasText: "Copy prompt" }).click();
	await frame.locator("dialog [role=status]", { hasText: /Copied|does not let/ }).waitFor();
	await frame.locator("dialog header button").click();
	for (const [name, element] of [["Flame", ".flame canvas"], ["Timeline", ".lane"], ["Memory", ".view-memory"], ["Compare", ".verdict"], ["Source", ".lines .row"], ["Summary", ".hot"]]) {
		await frame.locator(".tabs button", { hasText: name }).click();
		await frame.locator(element).first().waitFor();
	}
	await frame.locator("#search").fill("backward");
	await frame.locator(".hot tbody tr").nth(1).waitFor({ state: "detached" });
	assert.match(await frame.locator(".hot tbody").innerText(), /loss\.backward/);
	await frame.locator("#search").fill("");
	await frame.locator(".topbar select").selectOption("dark");
	await frame.locator(":root[data-theme=dark]").waitFor();
	await frame.locator(".topbar").click();
	await press("?");
	await frame.locator("dialog.help header button").click();
	await frame.locator("dialog").waitFor({ state: "detached" });
	assert.deepEqual(page.problems, []);
	assert.deepEqual(page.requests.filter((request) => !/^(about|data|blob):/.test(request)), []);
	await page.context().close();
});
