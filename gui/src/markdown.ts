// What is on screen as a Markdown table, for an issue or a chat.

import { copyText } from "./clipboard.ts";
import { placeOf, type App } from "./context.ts";
import { megabytes, percent, seconds } from "./format.ts";
import type { Line } from "./model.ts";
import { reasonsOf } from "./rules.ts";
import { sourceLine } from "./context.ts";

const MOST = 20;

function markdownOf(app: App): string {
	const { profile, slice, state } = app;
	const lines = state.view === "source" && state.file >= 0 ? [...(slice.linesOf[state.file] ?? [])].sort((a, b) => b.self - a.self) : slice.lines;
	const head = `**${code(profile.program)}** ran ${seconds(profile.elapsed)}` +
		(slice.range ? `, of which ${seconds(slice.range.from)} to ${seconds(slice.range.to)}` : "") +
		`: Python ${seconds(slice.times.python)}, native ${seconds(slice.times.native)}, system ${seconds(slice.times.system)}, waiting ${seconds(slice.times.wait)}` +
		(profile.hasMemory ? `; memory peak ${megabytes(profile.memory.peak)}` : "") +
		(profile.gpu ? `; GPU busy ${seconds(profile.gpu.busy)}` : "") + ".";
	const rows = lines.filter((line) => line.self > 0).slice(0, MOST).map((line) => row(app, line));
	return [head, "", "| time | share | line | code | why |", "|---:|---:|---|---|---|", ...rows, ""].join("\n");
}

function row(app: App, line: Line): string {
	const why = reasonsOf(line, app.profile, (number) => sourceLine(app.profile, line.file, number)).map((reason) => reason.text).join(", ");
	return `| ${seconds(line.self)} | ${percent(line.percent)} | ${code(placeOf(app.profile, line))} | ${code(line.text.trim())} | ${why} |`;
}

// A code span that its own text cannot end, nor the table's cell.
function code(text: string): string {
	const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map((ticks) => ticks[0].length));
	const fence = "`".repeat(longest + 1);
	const pad = longest > 0 ? " " : "";
	return fence + pad + text.replace(/\|/g, "\\|").replace(/\s+/g, " ") + pad + fence;
}

export async function copyMarkdown(app: App): Promise<void> {
	const isCopied = await copyText(markdownOf(app));
	app.say(isCopied ? "Copied as Markdown." : "The browser does not let this page copy.");
}
