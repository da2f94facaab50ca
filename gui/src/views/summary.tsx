// Seen first: how long, on what, how much memory, how sure; the hottest lines; what to
// look at.

import type { ComponentChildren } from "preact";
import { TimeCell } from "../columns.tsx";
import { matches, placeOf, useApp, type App } from "../context.ts";
import { count, megabytes, percent, seconds, shortPath } from "../format.ts";
import { gpuBusyShare, type Gpu } from "../gpu.ts";
import type { Line } from "../model.ts";
import { KINDS, TimeBar } from "../parts/bar.tsx";
import { GpuBar } from "../parts/gpu.tsx";
import { LineTable } from "../parts/line-table.tsx";
import { Overview } from "../parts/overview.tsx";
import { Reasons } from "../parts/reasons.tsx";
import { findings } from "../rules.ts";

const HOTTEST = 20;
const GPU_LINES = 8;

function hottestLines(app: App): Line[] {
	return app.slice.lines.filter((line) => line.self > 0 && matches(app, line)).slice(0, HOTTEST);
}

export function Summary() {
	return (
		<div class="summary">
			<Cards />
			<Overview />
			<div class="columns">
				<div>
					<HotLines />
					<GpuLines />
				</div>
				<div class="look">
					<AdviceList />
					<LookAt />
				</div>
			</div>
		</div>
	);
}

function Card(props: { title: string; value: string; children?: ComponentChildren; wide?: boolean }) {
	return (
		<section class={props.wide ? "card wide" : "card"}>
			<h3>{props.title}</h3>
			<p class="value">{props.value}</p>
			<div class="note">{props.children}</div>
		</section>
	);
}

function Cards() {
	const { profile, slice } = useApp();
	const { memory, leaks } = profile;
	const threads = Math.max(1, profile.threads.reduce((sum, thread) => sum + thread.threads, 0));
	return (
		<div class="cards">
			<Card title={slice.range ? "Selected" : "Elapsed"} value={seconds(slice.seconds)}>
				{profile.isPartial ? "still running" : profile.suspended > 0 ? `suspended ${seconds(profile.suspended)}` : `${count(Math.max(1, profile.processes.length))} process${profile.processes.length > 1 ? "es" : ""}, ${count(threads)} thread${threads > 1 ? "s" : ""}`}
			</Card>
			<Card wide title="Total time" value={seconds(slice.total)}>
				<TimeBar times={slice.times} full={KINDS.reduce((sum, [kind]) => sum + slice.times[kind], 0)} />
				<ul class="legend">
					{KINDS.map(([kind, name]) => (
						<li key={kind}>
							<i class={kind} aria-hidden="true" />
							{name} <b>{seconds(slice.times[kind])}</b> {percent((slice.times[kind] / (slice.total || 1)) * 100)}
						</li>
					))}
					{profile.outside > 0 && !slice.range && (
						<li title="Time on lines and in files that are not listed">elsewhere <b>{seconds(profile.outside)}</b></li>
					)}
				</ul>
			</Card>
			{profile.gpu && <GpuCard gpu={profile.gpu} />}
			{profile.hasMemory && (
				<>
					<Card title={slice.range ? "Memory peak, whole run" : "Memory peak"} value={megabytes(memory.peak)}>
						{memory.peakRss > 0 ? `resident ${megabytes(memory.peakRss)}` : `${percent((memory.peakPython / (memory.peak || 1)) * 100)} Python`}
					</Card>
					<Card title="Allocated" value={megabytes(memory.allocated)}>
						{memory.allocations > 0 ? `${count(memory.allocations)} times` : ""}
					</Card>
					<Card title="Copied" value={megabytes(memory.copied)}>
						{memory.copied > 0 ? `${megabytes(memory.copied / (profile.elapsed || 1))}/s` : ""}
					</Card>
					<Card title="Leaks" value={leaks.length === 0 ? "none" : count(leaks.length)}>
						{leaks[0]?.leak ? `${megabytes(leaks[0].leak.velocity)}/s the fastest` : "found"}
					</Card>
				</>
			)}
			<QualityCard />
		</div>
	);
}

function GpuCard({ gpu }: { gpu: Gpu }) {
	const busy = gpuBusyShare(gpu) * 100;
	const isTimed = gpu.busy + gpu.idle > 0;
	return (
		<Card wide={isTimed} title="GPU" value={isTimed ? seconds(gpu.busy) : gpu.device || "measured"}>
			{isTimed && <GpuBar gpu={gpu} />}
			<ul class="legend" title={gpu.note || undefined}>
				{isTimed && <li><i class="gpu" aria-hidden="true" />busy <b>{percent(busy)}</b></li>}
				{gpu.idle > 0 && <li>idle <b>{seconds(gpu.idle)}</b></li>}
				{gpu.wait > 0 && <li title="Python blocked on the GPU: part of the total time">Python waited <b>{seconds(gpu.wait)}</b>{gpu.waits > 0 && ` in ${count(gpu.waits)} calls`}</li>}
				{gpu.launches > 0 && <li><b>{count(gpu.launches)}</b> kernels</li>}
				{gpu.peak > 0 && <li>memory <b>{megabytes(gpu.peak)}</b>{gpu.deviceMemory > 0 && ` of ${megabytes(gpu.deviceMemory)}`}</li>}
				{isTimed && gpu.device && <li>{gpu.device}</li>}
				{gpu.source === "nvml" && <li title={gpu.note}>sampled, not exact</li>}
			</ul>
		</Card>
	);
}

function QualityCard() {
	const { quality, isScalene } = useApp().profile;
	if (quality.samples === undefined)
		return <Card title="Quality" value="unknown">{isScalene ? "written by Scalene" : ""}</Card>;
	const value = `${count(quality.samples + quality.waitSamples)} samples`;
	if (isScalene) return <Card title="Quality" value={value}>written by Scalene</Card>; // who says no more
	const lost = quality.lost.reduce((sum, item) => sum + item.count, 0);
	return (
		<Card title="Quality" value={value}>
			<span title={quality.lost.map((item) => `${item.reason}: ${count(item.count)}`).join("\n") || quality.clock}>
				{quality.rate > 0 ? `${count(quality.rate)}/s, ` : ""}
				{lost > 0 ? `${count(lost)} lost` : "none lost"}
				{quality.overhead === undefined ? "" : `, cost ${percent(quality.overhead)}`}
			</span>
		</Card>
	);
}

function HotLines() {
	const app = useApp();
	const { profile, slice } = app;
	const lines = hottestLines(app);
	const full = lines.reduce((most, line) => Math.max(most, line.self), 0);
	const hasGpu = profile.gpu !== undefined && lines.some((line) => line.gpu.seconds > 0);
	return (
		<section class="hot">
			<h2>Hottest lines <small>percent {slice.base}</small></h2>
			{lines.length === 0 && <p class="empty">{app.matcher ? "No line matches the search." : "No line took time."}</p>}
			<table>
				<thead>
					<tr>
						<th scope="col" class="time-head">Time</th>
						<th scope="col">Line</th>
						<th scope="col">Code</th>
						{hasGpu && <th scope="col" class="number">GPU</th>}
						{profile.hasMemory && <th scope="col" class="number">Allocated</th>}
						<th scope="col">Why</th>
					</tr>
				</thead>
				<tbody>
					{lines.map((line, i) => (
						<tr key={`${line.file}:${line.line}`} class={i === 0 ? "top" : ""}>
							<td><TimeCell line={line} slice={slice} full={full} /></td>
							<td class="place">
								<a
									href={`#v=source&f=${line.file}&l=${line.line}`}
									title={`${profile.files[line.file]?.path}:${line.line}`}
									onClick={(event) => {
										event.preventDefault();
										app.go({ view: "source", file: line.file, line: line.line, mode: "all", sort: "" });
									}}
								>
									{shortPath(placeOf(profile, line), 30)}
								</a>
							</td>
							<td class="code"><code title={line.text.trim()}>{line.text.trim() || "–"}</code></td>
							{hasGpu && <td class="number">{line.gpu.seconds > 0 ? seconds(line.gpu.seconds) : ""}</td>}
							{profile.hasMemory && <td class="number">{line.allocated > 0 ? megabytes(line.allocated) : ""}</td>}
							<td class="why"><Reasons line={line} profile={profile} /></td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}

// A line can keep the GPU busy and take hardly any time itself.
function GpuLines() {
	const app = useApp();
	const { gpu } = app.profile;
	if (!gpu) return null;
	const lines = app.profile.lines.filter((line) => line.gpu.seconds + line.gpu.wait > 0 && matches(app, line))
		.sort((a, b) => b.gpu.seconds - a.gpu.seconds || b.gpu.wait - a.gpu.wait).slice(0, GPU_LINES);
	return (
		<LineTable
			title="On the GPU"
			note="time of the work that a line started there, percent of all of it"
			lines={lines}
			figures={[
				{ title: "GPU time", show: (line) => seconds(line.gpu.seconds) },
				{ title: "Of it", show: (line) => percent(line.gpu.percent) },
				{ title: "Kernels", show: (line) => (line.gpu.launches > 0 ? count(line.gpu.launches) : "") },
				{ title: "Copied", meaning: "To, from and within the GPU", show: (line) => (line.gpu.copied > 0 ? megabytes(line.gpu.copied) : "") },
				{ title: "Python waits", show: (line) => (line.gpu.wait > 0 ? seconds(line.gpu.wait) : "") },
			]}
			empty={app.matcher ? "No line matches the search." : "No line started work there."}
		/>
	);
}

function AdviceList() {
	const app = useApp();
	const { advice, lines } = app.profile;
	if (advice.length === 0) return null;
	return (
		<section class="advice">
			<h2>What to change</h2>
			<ol>
				{advice.map((one, i) => {
					const line = lines.find((other) => other.file === one.file && other.line === one.line);
					return (
						<li key={i}>
							<h3>{one.title}{one.share > 0 && `: ${percent(one.share * 100)}`}</h3>
							<p>{one.evidence} {one.fix}</p>
							{line ? <ShowLine line={line} /> : <code>{shortPath(`${one.path}:${one.line}`, 40)}</code>}
						</li>
					);
				})}
			</ol>
		</section>
	);
}

function LookAt() {
	const app = useApp();
	const found = findings(app.profile, app.slice);
	return (
		<section>
			<h2>What to look at</h2>
			{found.length === 0 && <p class="empty">Nothing stands out.</p>}
			<ol>
				{found.map((finding) => (
					<li key={finding.title + finding.detail}>
						<h3>{finding.title}</h3>
						<p>{finding.detail}</p>
						{finding.line && <ShowLine line={finding.line} />}
					</li>
				))}
			</ol>
		</section>
	);
}

function ShowLine({ line }: { line: Line }) {
	const app = useApp();
	return (
		<button
			type="button"
			class="link"
			onClick={() => app.go({ view: "source", file: line.file, line: line.line, mode: "all", sort: "" })}
		>
			<code>{line.text.trim() || placeOf(app.profile, line)}</code>
		</button>
	);
}
