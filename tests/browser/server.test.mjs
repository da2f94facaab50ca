// The page as `heatline view` serves it.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, openPage, profileOf, readJson, repo, scratch, serve } from "./support.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

test("served: two profiles, whole sources, downloads", async () => {
	// So many lines that the profile has only those with figures, and the server the rest.
	const file = join(scratch, "long.py");
	writeFileSync(file, `${"# nothing here\n".repeat(30_000)}x = 0\nfor i in range(6_000_000):\n    x += i\n`);
	const path = profileOf("--reduced-profile", file);
	const server = await serve(path, path);
	try {
		const page = await openPage(browser, `${server.url}#v=source`);
		await page.waitForFunction(() => Number(document.querySelector(".lines .scroller").getAttribute("aria-rowcount")) > 30_000);
		await page.evaluate(() => { location.hash = "v=compare"; });
		assert.match(await page.locator(".verdict").textContent(), /^No difference/);
		await page.locator(".topbar .menu summary").click();
		const links = await page.locator(".topbar .sheet a").evaluateAll((list) => list.map((link) => link.getAttribute("href")));
		assert.ok(links.includes("api/export/0/speedscope"));
		assert.deepEqual(page.problems, []);
		assert.ok(page.requests.every((request) => request.startsWith(server.url) || request.startsWith("data:")), page.requests.join());
	} finally {
		server.stop();
	}
});

test("live: each new profile is shown, and what is looked at stays", async () => {
	const path = profileOf(`${repo}/examples/demo.py`);
	const whole = readJson(path);
	const profile = { ...whole, heatline: { ...whole.heatline, is_partial: true } };
	const context = await browser.newContext();
	const page = await context.newPage();
	const server = await serve(path);
	try {
		const events = [profile, { ...profile, elapsed_time_sec: 77 }].map((one) => `event: profile\ndata: ${JSON.stringify(one)}\n\n`);
		let sent = 0;
		await page.route("**/api/profile/0", (route) => route.fulfill({ json: profile }));
		await page.route("**/api/info", (route) => route.fulfill({ json: { version: "0", profiles: 1, is_live: true, can_open_editor: false } }));
		await page.route("**/api/live", (route) => route.fulfill({ contentType: "text/event-stream", body: `retry: 200\n\n${events[Math.min(sent++, 1)]}` }));
		await page.goto(`${server.url}#q=sorted`);
		await page.waitForSelector(".live");
		await page.waitForSelector(".card .value:has-text('77.0 s')");
		assert.equal(await page.locator("#search").inputValue(), "sorted");
	} finally {
		server.stop();
	}
});
