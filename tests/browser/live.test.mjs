// The page of a program while it runs, from `heatline run --live`.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, openPage, runLive, scratch } from "./support.mjs";

const PROGRAM = `
import pathlib, time
end = pathlib.Path(__file__).with_name("end")
while not end.exists():
    sum(i * i for i in range(20000))
    time.sleep(0.01)
`;

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

test("the page follows a real program to its end", async () => {
	const script = join(scratch, "live.py");
	const outfile = join(scratch, "live.json");
	writeFileSync(script, PROGRAM);
	const run = await runLive("-o", outfile, script);
	try {
		const page = await openPage(browser, run.url);
		const elapsed = async () => Number.parseFloat(await page.locator(".card .value").first().textContent());
		await page.waitForSelector(".live");
		await page.waitForSelector("text=sum(i * i for i in range(20000))");
		const first = await elapsed();
		await page.waitForFunction((before) => Number.parseFloat(document.querySelector(".card .value").textContent) > before, first);
		assert.ok(!existsSync(outfile), "watching writes no profile");
		writeFileSync(join(scratch, "end"), "");
		await page.waitForSelector("text=still running", { state: "detached" });
		await page.waitForSelector(".live:has-text('the program has ended')");
		await run.ended;
		assert.ok(existsSync(outfile));
		assert.deepEqual(page.problems, []);
	} finally {
		writeFileSync(join(scratch, "end"), "");
	}
});
