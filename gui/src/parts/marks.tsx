// What the program said of itself (`heatline.mark`), as flags above a picture of the run,
// lines through it, and a table that leads to the part of the run that a mark begins.

import { useApp } from "../context.ts";
import { count, seconds } from "../format.ts";
import type { Mark } from "../timeline.ts";
import { canBrush, runLength } from "./brush.ts";

const NEAR = 14; // pixels: flags that are closer are one
const MOST_ROWS = 200;

interface Flag {
	readonly x: number;
	readonly marks: readonly Mark[];
}

// Marks by where they stand, those that would cover each other together.
function flagsOf(marks: readonly Mark[], until: number, width: number): Flag[] {
	const flags: { x: number; marks: Mark[] }[] = [];
	for (const mark of marks) {
		const x = Math.min(Math.max(mark.at / until, 0), 1) * width;
		const last = flags[flags.length - 1];
		if (last && x - last.x < NEAR) last.marks.push(mark);
		else flags.push({ x, marks: [mark] });
	}
	return flags;
}

export function MarkFlags({ width }: { width: number }) {
	const { profile } = useApp();
	if (profile.marks.length === 0 || width === 0) return null;
	const flags = flagsOf(profile.marks, runLength(profile), width);
	return (
		<ul class="marks" aria-label="Marks">
			{flags.map(({ x, marks }, i) => (
				<li
					key={i}
					style={{ left: `${x}px`, maxWidth: `${(flags[i + 1]?.x ?? width) - x - 2}px` }}
					title={marks.slice(0, 12).map((mark) => `${seconds(mark.at)}: ${mark.text}`).join("\n") + (marks.length > 12 ? `\nand ${marks.length - 12} more` : "")}
				>
					{marks[0]!.text}{marks.length > 1 ? ` +${marks.length - 1}` : ""}
				</li>
			))}
		</ul>
	);
}

export function drawMarks(context: CanvasRenderingContext2D, marks: readonly Mark[], until: number, width: number, height: number, colour: string): void {
	context.fillStyle = colour;
	context.globalAlpha = 0.6;
	for (const { x } of flagsOf(marks, until, width)) context.fillRect(Math.min(x, width - 1), 0, 1, height);
	context.globalAlpha = 1;
}

export function MarkTable() {
	const app = useApp();
	const { marks, processes } = app.profile;
	if (marks.length === 0) return null;
	const until = runLength(app.profile);
	return (
		<section>
			<h2>Marks <small>{canBrush(app.profile) && "a click shows the run from one mark to the next"}</small></h2>
			<table class="plain marks-table">
				<thead><tr><th scope="col" class="number">At</th><th scope="col" class="number">Until the next</th><th scope="col">Mark</th>{processes.length > 1 && <th scope="col">Process</th>}</tr></thead>
				<tbody>
					{marks.slice(0, MOST_ROWS).map((mark, i) => {
						const end = marks.find((one) => one.at > mark.at)?.at ?? until;
						return (
							<tr key={i}>
								<td class="number">{seconds(mark.at)}</td>
								<td class="number">{seconds(end - mark.at)}</td>
								<td>
									{canBrush(app.profile) && end > mark.at
										? <button type="button" class="link" onClick={() => app.go({ range: { from: mark.at, to: end } })}>{mark.text}</button>
										: mark.text}
								</td>
								{processes.length > 1 && <td>{mark.pid}</td>}
							</tr>
						);
					})}
				</tbody>
			</table>
			{marks.length > MOST_ROWS && <p class="empty">and {count(marks.length - MOST_ROWS)} more</p>}
		</section>
	);
}
