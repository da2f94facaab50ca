// The stacks as a flame graph on a canvas, and the same as a table.

import { useCallback, useMemo } from "preact/hooks";
import { useApp, type App } from "../context.ts";
import { baseName, megabytes, percent, seconds } from "../format.ts";
import { findPath, makeFrames, pathTo, type Frames } from "../flame.ts";
import type { Profile, Thread } from "../model.ts";
import { FlameCanvas } from "../parts/flame-canvas.tsx";
import { FlameTable } from "../parts/flame-table.tsx";
import { ownTimes, threadTimes, type StackFunction, type Stacks } from "../stacks.ts";
import type { Metric } from "../state.ts";

const METRIC_NAMES: Readonly<Record<Metric, string>> = {
	time: "Time",
	cpu: "CPU time",
	wait: "Waiting",
	idle: "Idle threads",
	allocated: "Allocated memory",
	atPeak: "Memory at the peak",
	kept: "Kept memory",
	copied: "Copied memory",
	gil: "Waiting for the GIL",
	gc: "Garbage collection",
	gpu: "GPU time",
};

const BYTES: ReadonlySet<Metric> = new Set(["allocated", "atPeak", "kept", "copied"]);

export function showValue(metric: Metric, value: number): string {
	return BYTES.has(metric) ? megabytes(value / 1048576) : seconds(value / 1e6);
}

// What the frames are weighed by.  The range and the thread narrow time; the other
// metrics are those of the whole run.
function weightsOf(app: App, stacks: Stacks, metric: Metric): Float64Array {
	const { slice, state, profile } = app;
	if (metric !== "time") return stacks.column[metric];
	if (state.thread === -1) return slice.nodeTimes ?? ownTimes(stacks);
	const times = threadTimes(stacks, (thread) => thread === state.thread || profile.threads[thread]?.process === -2 - state.thread);
	if (!slice.range || !slice.nodeTimes) return times;
	const all = ownTimes(stacks);
	return times.map((time, node) => (all[node]! > 0 ? (time / all[node]!) * slice.nodeTimes![node]! : 0));
}

export function Flame() {
	const app = useApp();
	const { stacks } = app.profile;
	if (!stacks) return <p class="empty big">This profile has no stacks (it was made with --no-stacks).</p>;
	return <FlameOf stacks={stacks} />;
}

function FlameOf({ stacks }: { stacks: Stacks }) {
	const app = useApp();
	const { state, slice } = app;
	const frames = useMemo(() => makeFrames(stacks, weightsOf(app, stacks, state.metric), {
		isInverted: state.isInverted,
		hidden: state.isScopeOnly ? (func) => !(stacks.functions[func]?.isInScope ?? false) : undefined,
	}), [stacks, slice, state.metric, state.thread, state.isInverted, state.isScopeOnly]);
	const root = findPath(frames, state.zoom);
	const isMatch = useMemo(() => {
		const { matcher } = app;
		if (!matcher) return undefined;
		const found = stacks.functions.map((func) => matcher({ file: func.file, func: func.name, code: "", percent: 0 }));
		return (frame: number) => found[frames.func[frame]!] ?? false;
	}, [stacks, frames, app.matcher]);
	const fill = useCallback((frame: number, colour: (name: string) => string) =>
		(isMatch?.(frame) ? colour("match") : fillOf(frames, stacks, frame, colour)), [frames, stacks, isMatch]);
	return (
		<div class="flame">
			<FlameToolbar stacks={stacks} />
			<Crumbs frames={frames} stacks={stacks} root={root} isMatch={isMatch} />
			{frames.value[0] === 0
				? <p class="empty big">Nothing was measured of this.</p>
				: state.isTable
					? <FlameTable frames={frames} stacks={stacks} root={root} />
					: (
						<FlameCanvas
							frames={frames}
							root={root}
							label={(frame) => labelOf(frames, stacks, frame)}
							fill={fill}
							zoomTo={(frame) => app.go({ zoom: pathTo(frames, frame).map((one) => frames.func[one]!) })}
							showSource={(frame) => showSource(app, stacks.functions[frames.func[frame] ?? -1], frames.line[frame] ?? 0)}
							status={(frame) => <FrameText frames={frames} stacks={stacks} frame={frame} root={root} />}
							legend={<Legend />}
						/>
					)}
		</div>
	);
}

// A row that stands for many threads has no number.
function threadLabel(profile: Profile, thread: Thread): string {
	const process = profile.processes.length > 1 ? `process ${profile.processes[thread.process]?.pid}` : "";
	const parts = [process, thread.tid || ""].filter(Boolean);
	return parts.length > 0 ? `${thread.name} (${parts.join(", ")})` : thread.name;
}

function FlameToolbar({ stacks }: { stacks: Stacks }) {
	const app = useApp();
	const { profile, state } = app;
	const metrics = (Object.keys(METRIC_NAMES) as Metric[]).filter((metric) =>
		metric === "time" || stacks.column[metric].some((value) => value > 0));
	const hasThreads = stacks.threadNodes.length > 0;
	// Only time is known for a thread.
	const showMetric = (metric: Metric) => app.go({ metric, thread: metric === "time" ? state.thread : -1 });
	const toggle = (key: "isInverted" | "isScopeOnly" | "isTable", title: string) => (
		<label class="check"><input type="checkbox" checked={state[key]} onChange={() => app.go({ [key]: !state[key], zoom: key === "isTable" ? state.zoom : [] })} /> {title}</label>
	);
	return (
		<div class="toolbar">
			<label>Show <select value={state.metric} onChange={(event) => showMetric(event.currentTarget.value as Metric)}>
				{metrics.map((metric) => <option key={metric} value={metric}>{METRIC_NAMES[metric]}</option>)}
			</select></label>
			{hasThreads && (
				<label>of <select value={String(state.metric === "time" ? state.thread : -1)} onChange={(event) => app.go({ thread: Number(event.currentTarget.value), metric: "time" })}>
					<option value="-1">all threads</option>
					{profile.processes.length > 1 && profile.processes.map((process, i) => (
						<option key={`p${i}`} value={String(-2 - i)}>process {process.pid}</option>
					))}
					{profile.threads.map((thread, i) => (
						<option key={i} value={String(i)}>{threadLabel(profile, thread)}</option>
					))}
				</select></label>
			)}
			{toggle("isInverted", "Inverted")}
			{toggle("isScopeOnly", "Only files in scope")}
			{toggle("isTable", "As a table")}
			{app.slice.range && state.metric !== "time" && <span class="count">of the whole run: only time is known for a range</span>}
		</div>
	);
}

function Crumbs(props: { frames: Frames; stacks: Stacks; root: number; isMatch: ((frame: number) => boolean) | undefined }) {
	const app = useApp();
	const { frames, stacks, root } = props;
	const { metric } = app.state;
	const path = pathTo(frames, root);
	const matched = useMemo(() => (props.isMatch ? matchedValue(frames, root, props.isMatch) : 0), [frames, root, props.isMatch]);
	const zoom = (upTo: number) => path.slice(0, upTo).map((frame) => frames.func[frame]!);
	return (
		<div class="crumbs">
			<button type="button" class="link" onClick={() => app.go({ zoom: [] })} disabled={root === 0}>All</button>
			{path.slice(-6).map((frame) => {
				const depth = path.indexOf(frame) + 1;
				return <span key={frame}> › <button type="button" class="link" onClick={() => app.go({ zoom: zoom(depth) })}><code>{stacks.functions[frames.func[frame]!]?.name}</code></button></span>;
			})}
			<span class="count" role="status">
				{showValue(metric, frames.value[root]!)}
				{root > 0 ? `, ${percent((frames.value[root]! / frames.value[0]!) * 100)} of all` : ""}
				{props.isMatch ? `; search matches ${showValue(metric, matched)}, ${percent((matched / (frames.value[root]! || 1)) * 100)}` : ""}
			</span>
		</div>
	);
}

// What the matching frames take together; one below another counts once.
function matchedValue(frames: Frames, root: number, isMatch: (frame: number) => boolean): number {
	let sum = 0;
	const stack = [root];
	while (stack.length > 0) {
		const frame = stack.pop()!;
		if (isMatch(frame)) sum += frames.value[frame]!;
		else for (let i = 0; i < frames.children[frame]!; i++) stack.push(frames.firstChild[frame]! + i);
	}
	return sum;
}

export function labelOf(frames: Frames, stacks: Stacks, frame: number): string {
	if (frame === 0) return "all";
	return stacks.functions[frames.func[frame]!]?.name ?? "?";
}

// Colour says whose code it is; neighbours differ a little in lightness, which means nothing.
function fillOf(frames: Frames, stacks: Stacks, frame: number, colour: (name: string) => string): string {
	if (frame === 0) return colour("flame-root");
	const func = stacks.functions[frames.func[frame]!];
	const kind = !func || func.file === "" ? "native" : func.isInScope && !isLibrary(func.file) ? "own" : isLibrary(func.file) === "packages" ? "packages" : "library";
	return colour(`flame-${kind}-${frames.func[frame]! % 3}`);
}

function isLibrary(path: string): "packages" | "library" | "" {
	if (/\/(site|dist)-packages\//.test(path)) return "packages";
	return /\/lib(64)?\/python3[^/]*\/|^<frozen/.test(path) ? "library" : "";
}

export function showSource(app: App, func: StackFunction | undefined, line: number): void {
	const file = app.profile.files.find((one) => one.path === func?.file);
	if (file) app.go({ view: "source", file: file.index, line, mode: "all", sort: "" });
	else app.say("The source of this frame is not in the profile.");
}

function FrameText({ frames, stacks, frame, root }: { frames: Frames; stacks: Stacks; frame: number; root: number }) {
	const app = useApp();
	const { metric } = app.state;
	const func = stacks.functions[frames.func[frame]!];
	const value = frames.value[frame]!;
	return (
		<span class="frame-text">
			<code>{func ? func.name : "all"}</code>
			{func && <small title={func.file}>{baseName(func.file)}:{frames.line[frame]}</small>}
			<b>{showValue(metric, value)}</b>
			<span>{percent((value / (frames.value[0]! || 1)) * 100)} of all</span>
			{root > 0 && <span>{percent((value / (frames.value[root]! || 1)) * 100)} of the zoomed</span>}
			<span>self {showValue(metric, frames.self[frame]!)}</span>
			{func && app.profile.files.some((file) => file.path === func.file) && (
				<button type="button" class="link" onClick={() => showSource(app, func, frames.line[frame]!)}>Source</button>
			)}
		</span>
	);
}

function Legend() {
	return (
		<ul class="legend">
			<li><i class="flame-own" aria-hidden="true" />program</li>
			<li><i class="flame-packages" aria-hidden="true" />packages</li>
			<li><i class="flame-library" aria-hidden="true" />standard library</li>
			<li><i class="flame-native" aria-hidden="true" />not Python</li>
		</ul>
	);
}
