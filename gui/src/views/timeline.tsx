// Who did what when: a lane a thread, one for the GPU, memory below them, processes as bars.

import { useEffect, useRef } from "preact/hooks";
import { useApp } from "../context.ts";
import { count, megabytes, percent, seconds } from "../format.ts";
import { gpuBusyShare } from "../gpu.ts";
import type { Profile } from "../model.ts";
import { runLength, useBrush } from "../parts/brush.ts";
import { colours, prepareCanvas, useWidth } from "../parts/canvas.ts";
import { MemoryChart } from "../parts/chart.tsx";
import { GpuLane } from "../parts/gpu.tsx";
import { drawMarks, MarkFlags, MarkTable } from "../parts/marks.tsx";
import { Axis, drawVeil } from "../parts/overview.tsx";
import { binsOf, type Range, type State, type ThreadBins, type Timeline as Bins } from "../timeline.ts";

const LANE = 34;

// From the bottom up.  The file's `gil` is a part of waiting and its `gc` one of running,
// so in the picture they are taken out of those.
const STATES: readonly (readonly [State, string])[] = [
	["python", "Python"],
	["native", "native"],
	["system", "system"],
	["gc", "garbage collection"],
	["gil", "waits for the GIL"],
	["wait", "waits"],
];

export function Timeline() {
	const { profile } = useApp();
	const { timeline } = profile;
	return (
		<div class="timeline">
			<h2>Threads <small>height: share of each moment; drag to select a part of the run</small></h2>
			<ul class="legend">
				{STATES.map(([state, name]) => <li key={state}><i class={state} aria-hidden="true" />{name}</li>)}
			</ul>
			{timeline
				? <Lanes timeline={timeline} />
				: <p class="empty">This profile has no timeline.</p>}
			{profile.hasMemory && profile.memory.timeline.length > 0 && (
				<>
					<h2>Memory</h2>
					<MemoryChart />
				</>
			)}
			<MarkTable />
			<Threads />
			<Processes />
		</div>
	);
}

function threadName(profile: Profile, index: number): string {
	const thread = profile.threads[index];
	return thread?.name || `thread ${thread?.tid ?? index}`;
}

function Lanes({ timeline }: { timeline: Bins }) {
	const app = useApp();
	const box = useRef<HTMLDivElement>(null);
	const width = useWidth(box);
	const isMany = app.profile.processes.length > 1;
	const gpu = app.profile.gpu && app.profile.gpu.utilisation.length > 0 ? app.profile.gpu : undefined;
	return (
		<div class="lanes">
			<div class={app.profile.marks.length > 0 ? "lane-names below-marks" : "lane-names"}>
				{timeline.threads.map((lane) => {
					const thread = app.profile.threads[lane.thread];
					return (
						<button
							key={lane.thread}
							type="button"
							class="link"
							title="Show its flame graph"
							onClick={() => app.go({ view: "flame", thread: lane.thread, metric: "time", zoom: [] })}
						>
							<b>{threadName(app.profile, lane.thread)}</b>{" "}
							<small>{isMany ? `process ${app.profile.processes[thread?.process ?? 0]?.pid}` : thread?.isMain ? "main" : thread?.tid || ""}</small>
						</button>
					);
				})}
				{gpu && (
					<p class="gpu-name" title={gpu.device}>
						<b>GPU</b> <small>{percent(gpuBusyShare(gpu) * 100)} busy</small>
						<small class="key"><i class="memory" aria-hidden="true" />memory, at most {megabytes(gpu.peak)}</small>
					</p>
				)}
			</div>
			<div class="lane-box" ref={box}>
				<MarkFlags width={width} />
				{timeline.threads.map((lane) => <Lane key={lane.thread} lane={lane} timeline={timeline} width={width} />)}
				{gpu && <GpuLane gpu={gpu} width={width} />}
				<Axis until={runLength(app.profile)} />
			</div>
		</div>
	);
}

function Lane({ lane, timeline, width }: { lane: ThreadBins; timeline: Bins; width: number }) {
	const app = useApp();
	const canvas = useRef<HTMLCanvasElement>(null);
	const brush = useBrush(app, width);
	useEffect(() => {
		const context = prepareCanvas(canvas.current, width, LANE);
		if (!context) return;
		drawLane(context, lane, timeline, width);
		drawMarks(context, app.profile.marks, runLength(app.profile), width, LANE, colours()("text"));
		drawVeil(context, width, LANE, app.slice.range, runLength(app.profile));
	}, [lane, width, app.slice.range, app.theme]);
	return <canvas ref={canvas} class="lane" role="img" aria-label={laneText(app.profile, lane)} {...brush} />;
}

// Milliseconds of a bin by what is drawn: no moment counts twice.
function drawnStates(lane: ThreadBins, bin: number): Record<State, number> {
	const { python, native, system, wait, gil, gc } = lane.states;
	const collecting = gc[bin]!;
	const running = python[bin]! + native[bin]! + system[bin]!;
	const rest = running > 0 ? Math.max(0, running - collecting) / running : 0;
	return {
		python: python[bin]! * rest,
		native: native[bin]! * rest,
		system: system[bin]! * rest,
		gc: Math.min(collecting, running),
		gil: gil[bin]!,
		wait: Math.max(0, wait[bin]! - gil[bin]!),
	};
}

function drawLane(context: CanvasRenderingContext2D, lane: ThreadBins, timeline: Bins, width: number): void {
	const colour = colours();
	const step = width / timeline.bins;
	const full = timeline.binSeconds * 1000;
	for (let bin = 0; bin < timeline.bins; bin++) {
		const states = drawnStates(lane, bin);
		let y = LANE;
		for (const [state] of STATES) {
			const high = Math.min((states[state] / full) * (LANE - 2), y);
			if (high <= 0) continue;
			context.globalAlpha = state === "wait" ? 0.35 : 1;
			context.fillStyle = colour(state);
			context.fillRect(bin * step, y - high, step + 0.2, high);
			y -= high;
		}
	}
	context.globalAlpha = 1;
}

function laneText(profile: Profile, lane: ThreadBins): string {
	const sum = (state: State) => lane.states[state].reduce((a, b) => a + b, 0) / 1000;
	return `${threadName(profile, lane.thread)}: ${STATES.map(([state, name]) => `${name} ${seconds(sum(state))}`).join(", ")}`;
}

function Threads() {
	const { profile, slice } = useApp();
	const { timeline } = profile;
	const rows = profile.threads.map((thread, index) => ({
		thread, index, part: slice.range && timeline ? partOf(timeline, index, slice.range) : { cpu: thread.cpu, off: thread.offCpu },
	}));
	if (rows.length === 0) return null;
	return (
		<section>
			<h2>Threads in figures {slice.range && <small>of the selected range</small>}</h2>
			<table class="plain">
				<thead>
					<tr>
						<th scope="col">Thread</th><th scope="col">Process</th><th scope="col" class="number">On a CPU</th>
						<th scope="col" class="number">Waiting</th><th scope="col" class="number">Busy</th>{!slice.range && <th scope="col" class="number">Samples</th>}
					</tr>
				</thead>
				<tbody>
					{rows.slice(0, 64).map(({ thread, index, part }) => (
						<tr key={index}>
							<td>{threadName(profile, index)} <small>{thread.isMain ? "main" : thread.tid || ""}</small></td>
							<td>{profile.processes[thread.process]?.pid ?? ""}</td>
							<td class="number">{part && seconds(part.cpu)}</td>
							<td class="number">{part && seconds(part.off)}</td>
							<td class="number">{part && percent((part.cpu / (part.cpu + part.off || 1)) * 100)}</td>
							{!slice.range && <td class="number">{count(thread.samples)}</td>}
						</tr>
					))}
				</tbody>
			</table>
			{rows.length > 64 && <p class="empty">and {rows.length - 64} more</p>}
		</section>
	);
}

// undefined: the timeline has no lane of this thread.
function partOf(timeline: Bins, thread: number, range: Range): { cpu: number; off: number } | undefined {
	const [first, last] = binsOf(timeline, range);
	const lane = timeline.threads.find((one) => one.thread === thread);
	if (!lane) return undefined;
	const sum = (state: State) => lane.states[state].subarray(first, last).reduce((a, b) => a + b, 0) / 1000;
	return { cpu: sum("python") + sum("native") + sum("system"), off: sum("wait") };
}

function Processes() {
	const { profile } = useApp();
	const until = runLength(profile);
	if (profile.processes.length < 2 && !profile.processes[0]?.note) return null;
	return (
		<section>
			<h2>Processes</h2>
			<table class="plain">
				<thead>
					<tr><th scope="col">Process</th><th scope="col" class="number">From</th><th scope="col" class="number">To</th><th scope="col" class="life-head">Life</th><th scope="col">Command</th><th scope="col">Note</th></tr>
				</thead>
				<tbody>
					{profile.processes.slice(0, 200).map((process) => (
						<tr key={`${process.pid}:${process.start}`}>
							<td>{process.pid}</td>
							<td class="number">{seconds(process.start)}</td>
							<td class="number">{seconds(process.end)}</td>
							<td><span class="life" aria-hidden="true"><i style={{ left: `${(process.start / until) * 100}%`, width: `${Math.max(0.5, ((process.end - process.start) / until) * 100)}%` }} /></span></td>
							<td class="clip" title={process.command}>{process.name && <strong>{process.name} </strong>}<code>{process.command}</code></td>
							<td>{process.note}</td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}
