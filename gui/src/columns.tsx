// The columns of the source view and the function table: what each shows, and what it
// means, in the words that the user gets on a click on its head.

import type { ComponentChildren } from "preact";
import { count, megabytes, percent, seconds } from "./format.ts";
import type { Line, Profile } from "./model.ts";
import { describeTimes, TimeBar } from "./parts/bar.tsx";
import { Spark } from "./parts/spark.tsx";
import { isRough } from "./rules.ts";
import type { Slice } from "./slice.ts";

export interface ColumnDef {
	readonly id: string;
	readonly title: string;
	readonly meaning: string;
	readonly width: number; // pixels
	readonly isShown: boolean; // unless the user says otherwise
	value(line: Line): number; // to sort by; 0 is an empty cell
	cell(line: Line, slice: Slice, full: number): ComponentChildren;
	isThere?(profile: Profile): boolean;
}

const hasMemory = (profile: Profile) => profile.hasMemory;
const any = (get: (line: Line) => number) => (profile: Profile) => profile.lines.some((line) => get(line) > 0);

function timeTitle(line: Line, slice: Slice): string {
	const parts = [describeTimes(line, slice.total)];
	if (line.samples !== undefined) parts.push(`${count(line.samples)} samples`);
	if (line.low !== undefined && line.high !== undefined)
		parts.push(`95 % interval ${percent(line.low)} to ${percent(line.high)}`);
	if (isRough(line)) parts.push("few samples: a rough figure");
	return parts.join("; ");
}

export function TimeCell({ line, slice, full }: { line: Line; slice: Slice; full: number }) {
	return (
		<span class={`time${isRough(line) ? " rough" : ""}`} title={timeTitle(line, slice)}>
			<TimeBar times={line} full={full} />
			<b>{seconds(line.self)}</b>
			<em>{isRough(line) ? "~" : ""}{percent(line.percent)}</em>
		</span>
	);
}

const memoryColumn = (
	id: string, title: string, meaning: string, get: (line: Line) => number, isShown: boolean,
): ColumnDef => ({
	id, title, meaning, width: 70, isShown,
	value: get,
	cell: (line) => megabytes(get(line)),
	isThere: hasMemory,
});

const timeColumn = (
	id: string, title: string, meaning: string, get: (line: Line) => number, isShown: boolean,
): ColumnDef => ({
	id, title, meaning, width: 112, isShown,
	value: get,
	cell: (line, slice) => (
		<span class="time">
			<b>{seconds(get(line))}</b>
			<em>{percent((get(line) / (slice.total || 1)) * 100)}</em>
		</span>
	),
	isThere: any(get),
});

// Those of the GPU are always of the whole run.
const gpuColumn = (
	id: string, title: string, meaning: string, get: (line: Line) => number, show: (line: Line) => ComponentChildren, isShown = false,
): ColumnDef => ({
	id, title, meaning, isShown,
	width: isShown ? 112 : 84,
	value: get,
	cell: show,
	isThere: (profile) => profile.gpu !== undefined && any(get)(profile),
});

const GPU_COLUMNS: readonly ColumnDef[] = [
	gpuColumn("gpu", "GPU", "GPU time of the kernels and copies that this line started, and its percentage of the GPU time of the whole program (not of the total). It is no part of Time: the GPU works beside Python.", (line) => line.gpu.seconds, (line) => <span class="time"><b>{seconds(line.gpu.seconds)}</b><em>{percent(line.gpu.percent)}</em></span>, true),
	gpuColumn("gpuWait", "GPU wait", "Python blocked on the GPU on this line: synchronising, or fetching a result (.item(), .cpu()). Part of Time.", (line) => line.gpu.wait, (line) => seconds(line.gpu.wait)),
	gpuColumn("gpuIdle", "GPU idle", "The main thread on this line while no GPU had work: what starves it. Part of Time.", (line) => line.gpu.idle, (line) => seconds(line.gpu.idle)),
	gpuColumn("gpuLaunches", "Kernels", "Kernels that this line started on the GPU.", (line) => line.gpu.launches, (line) => count(line.gpu.launches)),
	gpuColumn("gpuCopied", "To/from GPU", "Memory that the GPU copied for this line: to it, from it, within it.", (line) => line.gpu.copied, (line) => megabytes(line.gpu.copied)),
	gpuColumn("gpuMemory", "GPU mem", "Most GPU memory that the process had taken while work of this line ran.", (line) => line.gpu.peak, (line) => megabytes(line.gpu.peak)),
	gpuColumn("gpuAlloc", "GPU alloc", "GPU memory that this line took from the driver.", (line) => line.gpu.allocated, (line) => megabytes(line.gpu.allocated)),
];

export const COLUMNS: readonly ColumnDef[] = [
	{
		id: "time",
		title: "Time",
		meaning: "Self time: samples whose innermost frame in scope is this line; what a library did for it counts here. The bar is Python, native, system and waiting, from left to right. ~ marks fewer than ten samples.",
		width: 178,
		isShown: true,
		value: (line) => line.self,
		cell: (line, slice, full) => <TimeCell line={line} slice={slice} full={full} />,
	},
	timeColumn("total", "Total", "Inclusive time: samples that have this line anywhere on their stack, counted once a sample.", (line) => line.inclusive, true),
	timeColumn("wait", "Waiting", "The main thread off the CPU on this line: sleeping, reading, waiting for a lock. Part of Time.", (line) => line.wait, false),
	timeColumn("gil", "GIL", "Waiting for the global interpreter lock.", (line) => line.gil, false),
	timeColumn("gc", "GC", "Garbage collection that began on this line.", (line) => line.gc, false),
	timeColumn("idle", "Idle", "Other threads waiting on this line; no part of the total.", (line) => line.idle, false),
	{
		id: "await",
		title: "Await",
		meaning: "Share of the time that tasks awaited here, and how many at a time on average.",
		width: 96,
		isShown: true,
		value: (line) => line.awaitPercent,
		cell: (line) => `${percent(line.awaitPercent)}${line.concurrency > 0 ? ` ×${line.concurrency.toFixed(1)}` : ""}`,
		isThere: any((line) => line.awaitPercent),
	},
	{
		id: "cores",
		title: "On CPU",
		meaning: "Part of the line's own time that was spent on a CPU: 100 % is one core all the time.",
		width: 64,
		isShown: false,
		value: (line) => line.cores,
		cell: (line) => percent(line.cores * 100),
	},
	{
		id: "samples",
		title: "Samples",
		meaning: "Samples booked to the line: the more, the more certain its time.",
		width: 68,
		isShown: false,
		value: (line) => line.samples ?? 0,
		cell: (line) => count(line.samples ?? 0),
		isThere: any((line) => line.samples ?? 0),
	},
	...GPU_COLUMNS,
	memoryColumn("alloc", "Allocated", "All memory that the line ever allocated, whether or not it was given back (1 MB = 1 048 576 bytes).", (line) => line.allocated, true),
	memoryColumn("peak", "Peak", "Most memory of this line that was live at once.", (line) => line.peak, true),
	memoryColumn("atPeak", "At peak", "Memory of this line that was live when the whole program was at its peak.", (line) => line.atPeak, false),
	memoryColumn("kept", "Kept", "Memory of this line that was still live when the program ended.", (line) => line.kept, false),
	memoryColumn("copied", "Copied", "Bytes copied by memcpy and memmove for this line.", (line) => line.copied, true),
	{
		id: "trend",
		title: "Memory",
		meaning: "The line's live memory over the run, scaled to its own peak.",
		width: 68,
		isShown: true,
		value: (line) => line.average,
		cell: (line) => <Spark points={line.memory} until={line.memory[line.memory.length - 1]?.[0] ?? 0} />,
		isThere: any((line) => line.memory.length),
	},
];
