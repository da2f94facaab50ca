// From a hot line to a verified change, with nothing made up but the model: a real profile, the
// server's own prompt, a scripted provider on this machine (tests/support/provider.py), the
// change tried out for real.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, openPage, profileOf, readJson, repo, scratch, serveIn } from "./support.mjs";

const KEY = "sk-whole-way-3f9c1e5b2d8f40aa-not-a-real-key";
const PROGRAM = `PASSWORD = "hunter2hunter2"

def find(wanted, numbers):
    found = 0
    for number in numbers:
        if number in wanted:
            found += 1
    return found


print(find(list(range(3000)), range(0, 12000, 2)))
`;
const ANSWER = `DIAGNOSIS: The list is searched – é.
DIFF:
\`\`\`diff
--- a/program.py
+++ b/program.py
@@ -3,2 +3,3 @@
 def find(wanted, numbers):
+    wanted = set(wanted)
     found = 0
\`\`\`
GAIN: 10 to 100
RISKS: none
TEST: run it
`;

let browser;
let provider;
let server;
let path;
let profile;
before(async () => {
	path = join(scratch, "way", "program.py");
	mkdirSync(join(scratch, "way"));
	writeFileSync(path, PROGRAM);
	const json = profileOf("--cpu-only", path);
	profile = readJson(json);
	provider = await startProvider();
	server = await serveIn({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `http://127.0.0.1:${provider.port}/v1`, XDG_CONFIG_HOME: "/nonexistent" }, json);
	browser = await launch();
});
after(async () => {
	server?.stop();
	provider?.stop();
	await browser?.close();
});

function startProvider() {
	const child = spawn("python3", [`${repo}/tests/support/provider.py`], { stdio: ["pipe", "pipe", "inherit"] });
	return new Promise((resolve) => child.stdout.once("data", (data) => resolve({ port: Number(data), stop: () => child.stdin.end() })));
}
const seen = async () => (await fetch(`http://127.0.0.1:${provider.port}/seen`)).json();

async function openPanel() {
	const hot = profile.files[path].lines.find((line) => line.line.includes("if number in wanted"));
	const page = await openPage(browser, `${server.url}#v=source&l=${hot.lineno}`);
	await page.keyboard.press("s");
	await page.waitForSelector("dialog .prompt");
	await page.getByLabel("Provider").selectOption("openai");
	await page.waitForFunction(() => [...document.querySelectorAll("#models option")].some((option) => option.value === "good"));
	return page;
}

test("the hot line, what is sent, the proposal, the verdict, the change", async () => {
	await fetch(`http://127.0.0.1:${provider.port}/answer`, { method: "PUT", body: ANSWER });
	const page = await openPanel();
	await page.getByLabel("the function").check();
	await page.waitForSelector(".prompt:has-text('found += 1')");
	const shown = await page.locator(".prompt").textContent();
	assert.ok(!(await seen()).some((request) => request.method === "POST"), "nothing is sent before it is asked for");
	await page.getByLabel("Model").fill("good");
	await page.locator("button", { hasText: "Send" }).click();
	await page.waitForSelector(".proposal .diff .add:has-text('wanted = set(wanted)')");
	assert.match(await page.locator(".proposal dl").innerText(), /The list is searched – é\.[^]*10 to 100/);
	const sent = (await seen()).filter((request) => request.method === "POST");
	assert.equal(sent.length, 1);
	const texts = []; // of the request, whatever its shape: the two long ones are the question
	JSON.parse(sent[0].body, (_, value) => {
		if (typeof value === "string" && value.length > 100) texts.push(value);
		return value;
	});
	assert.equal(texts.join("\n\n"), shown, "what was shown is what was sent");
	assert.ok(!shown.includes("hunter2"));
	await page.getByLabel("Test command").fill("python3 -c 'import program'");
	await page.locator("button", { hasText: "Verify" }).click();
	await page.waitForSelector(".suggest .verdict, .verify .hint", { timeout: 180_000 });
	assert.match(await page.locator(".verify").innerText(), /faster/);
	assert.equal(await page.locator(".suggest .verdict.faster").count(), 1);
	assert.equal(readFileSync(path, "utf8"), PROGRAM, "until it is accepted the file is untouched");
	await page.locator("button", { hasText: "Apply to program.py" }).click();
	await page.waitForSelector(".verify .hint:has-text('The change is in the file')");
	assert.equal(readFileSync(path, "utf8"), PROGRAM.replace("    found = 0", "    wanted = set(wanted)\n    found = 0"));
	assert.ok(!(await page.content()).includes(KEY));
	assert.deepEqual(page.problems, []);
	await page.context().close();
});

test("cancelling hangs up on the provider; a refused key is a sentence without the key", async () => {
	const page = await openPanel();
	await page.getByLabel("Model").fill("slow");
	await page.locator("button", { hasText: "Send" }).click();
	await page.waitForSelector("pre:has-text('and and')");
	await page.locator(".suggest button", { hasText: "Cancel" }).click();
	await page.waitForSelector("[role=alert]:has-text('Cancelled.')");
	for (let i = 0; !(await seen()).some((request) => request.is_left); i++) {
		assert.ok(i < 200, "the provider still sends");
		await page.waitForTimeout(100);
	}
	await page.getByLabel("Model").fill("unauthorised");
	await page.locator("button", { hasText: "Send" }).click();
	await page.waitForSelector("[role=alert]:has-text('OpenAI')");
	assert.ok(!(await page.content()).includes(KEY));
	await page.context().close();
});
