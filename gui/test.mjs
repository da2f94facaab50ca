// Type check, then the unit tests: *.test.ts beside the sources, bundled and given to
// node's own test runner.

import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const run = (command, args) => spawnSync(command, args, { cwd: here, stdio: "inherit" }).status === 0;

if (!run(join(here, "node_modules/.bin/tsc"), ["--noEmit"])) process.exit(1);
const out = mkdtempSync(join(tmpdir(), "heatline-gui-"));
const tests = readdirSync(join(here, "src"), { recursive: true }).filter((name) => /\.test\.tsx?$/.test(name));
await build({
	absWorkingDir: here,
	entryPoints: tests.map((name) => join("src", name)),
	outdir: out,
	outExtension: { ".js": ".mjs" },
	bundle: true,
	platform: "node",
	format: "esm",
	target: "node18",
	jsx: "automatic",
	jsxImportSource: "preact",
	logLevel: "warning",
	define: { GOLDEN: JSON.stringify(join(here, "../tests/golden")) },
});
const isGood = run(process.execPath, ["--test", ...readdirSync(out).map((name) => join(out, name))]);
rmSync(out, { recursive: true });
process.exit(isGood ? 0 : 1);
