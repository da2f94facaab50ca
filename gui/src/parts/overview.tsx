// The run from left to right: what all threads did (stacked), memory above it as a line,
// and a brush.  Dragging selects; the two fields do the same by keyboard.

import { useEffect, useRef } from "preact/hooks";
import { useApp, type App } from "../context.ts";
import { megabytes, seconds } from "../format.ts";
import type { Profile } from "../model.ts";
import { binsOf, sumThreads, type Range } from "../timeline.ts";
import { colours, prepareCanvas, useWidth } from "./canvas.ts";
import { KINDS } from "./bar.tsx";

const HEIGHT = 74;

export function Overview() {
	const app = useApp();
	const { profile, slice, theme } = app;
	const canvas = useRef<HTMLCanvasElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const width = useWidth(box);
	const drag = useRef<number | undefined>(undefined);
	const canBrush = profile.timeline !== undefined && profile.stacks !== undefined;
	const until = runLength(profile);

	useEffect(() => {
		const context = prepareCanvas(canvas.current, width, HEIGHT);
		if (context) drawOverview(context, width, profile, slice.range, until);
	}, [profile, slice.range, width, theme]);

	const secondsAt = (event: PointerEvent) => {
		const left = canvas.current?.getBoundingClientRect().left ?? 0;
		return Math.min(Math.max((event.clientX - left) / width, 0), 1) * until;
	};
	const select = (a: number, b: number, isStep: boolean) => {
		const timeline = profile.timeline;
		if (!timeline) return;
		const [first, last] = binsOf(timeline, { from: Math.min(a, b), to: Math.max(a, b) });
		const range = { from: first * timeline.binSeconds, to: last * timeline.binSeconds };
		app.go({ range: last > first && last - first < timeline.bins ? range : undefined }, isStep);
	};
	return (
		<div class="overview" ref={box}>
			<canvas
				ref={canvas}
				class={canBrush ? "brush" : ""}
				role="img"
				aria-label={overviewText(app)}
				onPointerDown={(event) => {
					if (!canBrush || event.button !== 0) return;
					event.currentTarget.setPointerCapture(event.pointerId);
					drag.current = secondsAt(event);
				}}
				onPointerMove={(event) => {
					if (drag.current !== undefined && Math.abs(secondsAt(event) - drag.current) > until / 200)
						select(drag.current, secondsAt(event), false);
				}}
				onPointerUp={(event) => {
					const from = drag.current;
					drag.current = undefined;
					if (from === undefined) return;
					if (Math.abs(secondsAt(event) - from) <= until / 200) app.go({ range: undefined });
					else select(from, secondsAt(event), true);
				}}
			/>
			<div class="axis" aria-hidden="true">
				{[0, 0.25, 0.5, 0.75, 1].map((part) => <span key={part}>{part === 0 ? "0" : seconds(until * part)}</span>)}
			</div>
		</div>
	);
}

export function runLength(profile: Profile): number {
	const { timeline, memory, elapsed } = profile;
	const last = memory.timeline[memory.timeline.length - 1]?.[0] ?? 0;
	return timeline ? timeline.binSeconds * timeline.bins : Math.max(elapsed, last) || 1;
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
		let most = 0;
		for (let bin = 0; bin < timeline.bins; bin++)
			most = Math.max(most, KINDS.reduce((sum, [kind]) => sum + states[kind][bin]!, 0));
		const step = width / timeline.bins;
		for (let bin = 0; bin < timeline.bins; bin++) {
			let y = HEIGHT;
			for (const [kind] of KINDS) {
				const high = most > 0 ? (states[kind][bin]! / most) * (HEIGHT - 4) : 0;
				context.fillStyle = colour(kind);
				context.fillRect(bin * step, y - high, Math.max(step - 0.5, 0.5), high);
				y -= high;
			}
		}
	} else drawMoments(context, width, profile, until, colour("python"));
	drawMemory(context, width, profile, until, colour("memory"));
	if (range) {
		context.fillStyle = colour("shade");
		context.fillRect(0, 0, (range.from / until) * width, HEIGHT);
		context.fillRect((range.to / until) * width, 0, width, HEIGHT);
		context.fillStyle = colour("accent");
		for (const edge of [range.from, range.to]) context.fillRect((edge / until) * width - 1, 0, 2, HEIGHT);
	}
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
