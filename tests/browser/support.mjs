// What the browser tests share: profiles, pages made of them, servers, Chromium.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const repo = join(dirname(fileURLToPath(import.meta.url)), "../..");
const build = process.env.HEATLINE_BUILD ?? join(repo, "build");
const heatline = process.env.HEATLINE ?? join(build, "heatline");
const require = createRequire(join(repo, "gui/package.json"));
const { chromium } = require("playwright-core");
export const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const scratch = mkdtempSync(join(tmpdir(), "heatline-page-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

let made = 0;
export function writeFile(ending, text) {
	const path = join(scratch, `${made++}${ending}`);
	writeFileSync(path, text);
	return path;
}

// Profiles a program with the Heatline that was built; the path of the profile.
export function profileOf(...args) {
	const path = join(scratch, `${made++}.json`);
	const run = spawnSync(heatline, ["run", "-o", path, ...args], { cwd: scratch, encoding: "utf8" });
	if (!existsSync(path)) throw new Error(`no profile: ${run.stderr}`);
	return path;
}

export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
export const goldenPath = (name) => join(repo, "tests/golden", name);

// The address of the file that `heatline view --html` makes of a profile and a baseline.
export function htmlOf(...paths) {
	const out = join(scratch, `${made++}.html`);
	const run = spawnSync(heatline, ["view", "--html", "-o", out, ...paths], { cwd: scratch, encoding: "utf8" });
	if (!existsSync(out)) throw new Error(`no page: ${run.stderr}`);
	return pathToFileURL(out).href;
}

// The same by hand, for profiles that Heatline itself would never write.
export function pageOf(...profiles) {
	return pageWith({}, ...profiles);
}

// With more data beside the profiles: elements' ids and what they hold.
export function pageWith(elements, ...profiles) {
	const asset = (name) => readFileSync(join(build, "gui", name), "utf8");
	const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
	const script = asset("app.js").replaceAll("</script", "<\\/script");
	const style = asset("app.css");
	const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(style)}; img-src data:`;
	const all = { ...Object.fromEntries(profiles.map((profile, i) => [`heatline-profile-${i}`, profile])), ...elements };
	const data = Object.entries(all).map(([id, value]) =>
		`<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll("<", "\\u003c")}</script>`);
	const page = asset("index.html")
		.replace('<meta charset="utf-8">', () => `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`)
		.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
		.replace(/<script src="app.js"[^>]*><\/script>/, () => `${data.join("\n")}<script>${script}</script>`);
	return pathToFileURL(writeFile(".html", page)).href;
}

// What `heatline diff` prints.
export function diffOf(before, after) {
	return spawnSync(heatline, ["diff", before, after], { encoding: "utf8" }).stdout;
}

// `heatline view` until stop() is called.
export function serve(...args) {
	return serveIn({}, ...args);
}

// The same with more in its environment.
export function serveIn(env, ...args) {
	const server = spawn(heatline, ["view", "--no-open", "--port", "0", ...args], { cwd: scratch, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
	return new Promise((resolve, reject) => {
		let said = "";
		const hear = (data) => {
			said += data;
			const url = /http:\/\/127\.0\.0\.1:\d+\/\w+\//.exec(said)?.[0];
			if (url) resolve({ url, stop: () => server.kill("SIGINT") });
		};
		server.stdout.on("data", hear);
		server.stderr.on("data", hear);
		server.on("exit", () => reject(new Error(`the server ended: ${said}`)));
	});
}

// `heatline run --live`: its page, and when it has ended.
export function runLive(...args) {
	const run = spawn(heatline, ["run", "--live", "-q", ...args], { cwd: scratch, stdio: ["ignore", "ignore", "pipe"] });
	const ended = new Promise((resolve) => run.on("exit", resolve));
	return new Promise((resolve, reject) => {
		let said = "";
		run.stderr.on("data", (data) => {
			said += data;
			const url = /http:\/\/127\.0\.0\.1:\d+\/\w+\//.exec(said)?.[0];
			if (url) resolve({ url, ended });
		});
		run.on("exit", () => reject(new Error(`the run ended: ${said}`)));
	});
}

const FLAGS = [
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync",
];

// Playwright gives each browser a user-data folder of its own and removes it.
export function launch() {
	return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS, chromiumSandbox: false });
}

// A page that keeps what went wrong in it, and what it asked for; nothing is in it yet.
export async function newPage(browser, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
	const page = await context.newPage();
	page.problems = [];
	page.requests = [];
	page.on("pageerror", (error) => page.problems.push(String(error)));
	page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
	page.on("request", (request) => page.requests.push(request.url()));
	return page;
}

export async function openPage(browser, url, options = {}) {
	const page = await newPage(browser, options);
	await page.goto(url);
	await page.waitForSelector(".topbar");
	return page;
}
