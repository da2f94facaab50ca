// The GPU on the summary and on the timeline.

import { useEffect, useRef } from "preact/hooks";
import { useApp } from "../context.ts";
import { megabytes, percent, seconds } from "../format.ts";
import { gpuBusyShare, type Gpu } from "../gpu.ts";
import { runLength, useBrush } from "./brush.ts";
import { colours, prepareCanvas } from "./canvas.ts";
import { drawVeil } from "./overview.tsx";

const LANE = 50;

// Busy and idle as one bar, as wide as the time that the device could have worked.
export function GpuBar({ gpu }: { gpu: Gpu }) {
	return (
		<span class="bar" aria-hidden="true">
			<i class="gpu" style={{ width: `${gpuBusyShare(gpu) * 100}%` }} />
		</span>
	);
}

function laneText(gpu: Gpu): string {
	return `GPU ${gpu.device}: busy ${seconds(gpu.busy)}, ${percent(gpuBusyShare(gpu) * 100)}; memory at most ${megabytes(gpu.peak)}`;
}

// Utilisation as an area, memory in use as a line above it.
export function GpuLane({ gpu, width }: { gpu: Gpu; width: number }) {
	const app = useApp();
	const canvas = useRef<HTMLCanvasElement>(null);
	const brush = useBrush(app, width);
	const until = runLength(app.profile);
	useEffect(() => {
		const context = prepareCanvas(canvas.current, width, LANE);
		if (!context) return;
		const colour = colours();
		const step = (gpu.binSeconds / until) * width;
		context.fillStyle = colour("gpu");
		gpu.utilisation.forEach((share, bin) => {
			const high = (Math.min(Math.max(share, 0), 100) / 100) * (LANE - 2);
			context.fillRect(bin * step, LANE - high, step + 0.2, high);
		});
		const most = gpu.peak;
		if (most > 0) {
			context.strokeStyle = colour("memory");
			context.lineWidth = 1.5;
			context.beginPath();
			gpu.memory.forEach((mb, bin) => context.lineTo((bin + 0.5) * step, LANE - 2 - (mb / most) * (LANE - 8)));
			context.stroke();
		}
		drawVeil(context, width, LANE, app.slice.range, until);
	}, [gpu, width, app.slice.range, app.theme]);
	return <canvas ref={canvas} class="lane gpu-lane" role="img" aria-label={laneText(gpu)} {...brush} />;
}
