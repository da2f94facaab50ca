// Builds the page: index.html, app.js and app.css into the folder given (or dist/), and
// what they were made of into the second argument, as a rule for make.  Fails when
// script and style together are larger than the budget.

import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const BUDGET = 120 * 1024; // bytes, gzipped

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "dist"));
const depfile = process.argv[3];
mkdirSync(out, { recursive: true });
const result = await build({
	absWorkingDir: here,
	entryPoints: { app: "src/main.tsx" },
	outdir: out,
	bundle: true,
	minify: true,
	format: "iife",
	target: "es2022",
	charset: "utf8",
	legalComments: "none",
	jsx: "automatic",
	jsxImportSource: "preact",
	logLevel: "warning",
	metafile: true,
});
copyFileSync(join(here, "src/index.html"), join(out, "index.html"));
if (depfile) {
	const made = ["index.html", ...Object.keys(result.metafile.inputs)].map((name) => join(here, name === "index.html" ? "src/index.html" : name));
	writeFileSync(depfile, `${join(out, "app.js")}: ${made.map((name) => name.replaceAll(" ", "\\ ")).join(" ")}\n`);
}
const size = ["app.js", "app.css"].reduce((sum, name) => sum + gzipSync(readFileSync(join(out, name))).length, 0);
console.log(`page: ${(size / 1024).toFixed(1)} KB gzipped of ${BUDGET / 1024} KB`);
if (size > BUDGET) {
	console.error("page: script and style are larger than the budget");
	process.exit(1);
}
