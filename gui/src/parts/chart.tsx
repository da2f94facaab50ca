// Lines over time with axes, a cursor that reads off values, and selecting by dragging.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useApp } from "../context.ts";
import { megabytes, seconds } from "../format.ts";
import { canBrush, runLength, selectRange } from "./brush.ts";
import { colours, useWidth } from "./canvas.ts";

const HEIGHT = 190;

// Memory of the program: live, and resident where it is known.
export function MemoryChart() {
	const app = useApp();
	const { profile, slice, theme } = app;
	const box = useRef<HTMLDivElement>(null);
	const host = useRef<HTMLDivElement>(null);
	const width = useWidth(box);
	const latest = useRef(app);
	latest.current = app;
	useEffect(() => {
		const points = profile.memory.timeline;
		if (!host.current || width === 0 || points.length === 0) return;
		const colour = colours();
		const hasResident = points.some((point) => point[2] > 0);
		const axis = { stroke: colour("quiet"), grid: { stroke: colour("border"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
		const line = (label: string, stroke: string, dash?: number[]): uPlot.Series => ({
			label, stroke, width: 1.5, dash, points: { show: false }, value: (_, value) => (value == null ? "–" : megabytes(value)),
		});
		const plot = new uPlot({
			width,
			height: HEIGHT,
			scales: { x: { time: false, range: [0, runLength(profile)] }, y: { range: (_, __, most) => [0, (most || 1) * 1.08] } },
			axes: [
				{ ...axis, size: 26, values: (_, splits) => splits.map(seconds) },
				{ ...axis, size: 70, values: (_, splits) => splits.map(megabytes) },
			],
			series: [
				{ label: "at", value: (_, value) => (value == null ? "–" : seconds(value)) },
				line("live", colour("memory")),
				...(hasResident ? [line("resident", colour("native"), [5, 4])] : []),
			],
			cursor: { drag: { x: canBrush(profile), y: false, setScale: false } },
			hooks: {
				ready: [(self) => {
					const { range } = latest.current.slice;
					if (!range) return;
					const left = self.valToPos(range.from, "x");
					self.setSelect({ left, top: 0, width: self.valToPos(range.to, "x") - left, height: self.over.clientHeight }, false);
				}],
				setSelect: [(self) => {
					if (self.select.width < 2) return;
					selectRange(latest.current, self.posToVal(self.select.left, "x"), self.posToVal(self.select.left + self.select.width, "x"), true);
				}],
			},
		}, [
			points.map((point) => point[0]),
			points.map((point) => point[1]),
			...(hasResident ? [points.map((point) => point[2])] : []),
		], host.current);
		return () => plot.destroy();
	}, [profile, width, theme, slice.range?.from, slice.range?.to]);
	const { memory } = profile;
	return (
		<div
			class="chart"
			ref={box}
			role="img"
			aria-label={`Memory over the run: peak ${megabytes(memory.peak)}${memory.peakAt === undefined ? "" : ` after ${seconds(memory.peakAt)}`}, average ${megabytes(memory.average)}`}
		>
			<div ref={host} />
		</div>
	);
}
