// `heatline.advice`: patterns that are known to be slow, found by the profiler in the
// source and borne out by the figures.  The page shows them; it has no such rules itself.

import type { File, Line } from "./model.ts";
import * as raw from "./raw.ts";

export interface Advice {
	readonly rule: string;
	readonly file: number; // index in Profile.files, -1: not listed there
	readonly path: string;
	readonly line: number;
	readonly title: string;
	readonly evidence: string;
	readonly fix: string;
	readonly share: number; // 0 to 1, of the total
}

export function readAdvice(value: unknown, files: readonly File[]): Advice[] {
	return raw.list(value).map(raw.object).map((record) => {
		const path = raw.text(record.file);
		return {
			rule: raw.text(record.rule),
			file: files.findIndex((file) => file.path === path),
			path,
			line: raw.number(record.line),
			title: raw.text(record.title),
			evidence: raw.text(record.evidence),
			fix: raw.text(record.fix),
			share: raw.number(record.share),
		};
	});
}

export function adviceFor(advice: readonly Advice[], line: Line): Advice[] {
	return advice.filter((one) => one.file === line.file && one.line === line.line);
}
