// The run from left to right: what all threads did (stacked), memory above it as a line,
// and a brush.  Dragging selects; the two fields do the same by keyboard.

import { useEffect, useRef } from "preact/hooks";
import { useApp, type App } from "../context.ts";
import { megabytes, seconds } from "../format.ts";
import type { Profile } from "../model.ts";
import { sumThreads, type Range } from "../timeline.ts";
import { colours, prepareCanvas, useWidth } from "./canvas.ts";
import { KINDS } from "./bar.tsx";
import { canBrush, runLength, useBrush } from "./brush.ts";
import { drawMarks, MarkFlags } from "./marks.tsx";

const HEIGHT = 74;

export function Overview() {
	const app = useApp();
	const { profile, slice, theme } = app;
	const canvas = useRef<HTMLCanvasElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const width = useWidth(box);
	const brush = useBrush(app, width);
	const until = runLength(profile);

	useEffect(() => {
		const context = prepareCanvas(canvas.current, width, HEIGHT);
		if (context) drawOverview(context, width, profile, slice.range, until);
	}, [profile, slice.range, width, theme]);
	return (
		<div class="overview" ref={box}>
			<MarkFlags width={width} />
			<canvas
				ref={canvas}
				class={canBrush(profile) ? "brush" : ""}
				role="img"
				aria-label={overviewText(app)}
				title={canBrush(profile) ? "Drag to select a part of the run" : ""}
				{...brush}
			/>
			<Axis until={until} />
		</div>
	);
}

export function Axis({ until }: { until: number }) {
	return (
		<div class="axis" aria-hidden="true">
			{[0, 0.25, 0.5, 0.75, 1].map((part) => <span key={part}>{part === 0 ? "0" : seconds(until * part)}</span>)}
		</div>
	);
}

// What is outside of the selected range is veiled.
export function drawVeil(context: CanvasRenderingContext2D, width: number, height: number, range: Range | undefined, until: number): void {
	if (!range) return;
	const colour = colours();
	context.fillStyle = colour("shade");
	context.fillRect(0, 0, (range.from / until) * width, height);
	context.fillRect((range.to / until) * width, 0, width, height);
	context.fillStyle = colour("accent");
	for (const edge of [range.from, range.to]) context.fillRect((edge / until) * width - 1, 0, 2, height);
}

function overviewText({ profile, slice }: App): string {
	const what = `The run of ${seconds(profile.elapsed)}, memory peak ${megabytes(profile.memory.peak)}`;
	return slice.range
		? `${what}; selected from ${seconds(slice.range.from)} to ${seconds(slice.range.to)}`
		: what;
}

function drawOverview(
	context: CanvasRenderingContext2D, width: number,
	profile: Profile, range: Range | undefined, until: number,
): void {
	const colour = colours();
	const { timeline } = profile;
	if (timeline) {
		const states = sumThreads(timeline, (thread) => profile.threads[thread]?.isMain ?? false);
		const most = scaleOf(Array.from({ length: timeline.bins }, (_, bin) => KINDS.reduce((sum, [kind]) => sum + states[kind][bin]!, 0)));
		const step = width / timeline.bins;
		for (let bin = 0; bin < timeline.bins; bin++) {
			let y = HEIGHT;
			for (const [kind] of KINDS) {
				const high = most > 0 ? Math.min((states[kind][bin]! / most) * (HEIGHT - 4), y) : 0;
				context.fillStyle = colour(kind);
				context.fillRect(bin * step, y - high, Math.max(step - 0.5, 0.5), high);
				y -= high;
			}
		}
	} else drawMoments(context, width, profile, until, colour("python"));
	drawMemory(context, width, profile, until, colour("memory"));
	drawMarks(context, profile.marks, until, width, HEIGHT, colour("text"));
	drawVeil(context, width, HEIGHT, range, until);
}

// The full height.  One bin that stands out (a residue booked late) must not flatten the rest.
function scaleOf(sums: number[]): number {
	const sorted = sums.sort((a, b) => a - b);
	const usual = sorted[Math.floor(sorted.length * 0.97)] ?? 0;
	return Math.min(sorted[sorted.length - 1] ?? 0, usual * 1.5 || Infinity);
}

// Without a timeline: how many lines' samples fall where.
function drawMoments(
	context: CanvasRenderingContext2D, width: number,
	profile: Profile, until: number, fill: string,
): void {
	const bins = new Float64Array(120);
	for (const line of profile.lines)
		for (const moment of line.moments)
			if (moment >= 0 && moment < until) bins[Math.floor((moment / until) * bins.length)]!++;
	const most = bins.reduce((a, b) => Math.max(a, b), 1);
	context.fillStyle = fill;
	bins.forEach((n, i) => {
		const high = (n / most) * (HEIGHT - 4);
		context.fillRect((i * width) / bins.length, HEIGHT - high, width / bins.length - 0.5, high);
	});
}

function drawMemory(
	context: CanvasRenderingContext2D, width: number,
	profile: Profile, until: number, stroke: string,
): void {
	const points = profile.memory.timeline;
	const most = points.reduce((m, point) => Math.max(m, point[1]), 0);
	if (most === 0) return;
	context.strokeStyle = stroke;
	context.lineWidth = 1.5;
	context.beginPath();
	for (const [s, mb] of points) context.lineTo((s / until) * width, HEIGHT - 2 - (mb / most) * (HEIGHT - 8));
	context.stroke();
}
