// What the peak is made of, what grows, what is allocated and thrown away, what is copied.

import { matches, useApp, type App } from "../context.ts";
import { count, megabytes, percent, seconds } from "../format.ts";
import type { Line } from "../model.ts";
import { MemoryChart } from "../parts/chart.tsx";
import { LineTable } from "../parts/line-table.tsx";

const MOST = 15;

function top(app: App, value: (line: Line) => number): Line[] {
	return app.profile.lines.filter((line) => value(line) > 0 && matches(app, line)).sort((a, b) => value(b) - value(a)).slice(0, MOST);
}

export function Memory() {
	const app = useApp();
	const { profile } = app;
	const { memory } = profile;
	if (!profile.hasMemory) return <p class="empty big">Memory was not measured (the profile was made with --cpu-only).</p>;
	const allocated = { title: "Allocated", show: (line: Line) => megabytes(line.allocated) };
	const peak = { title: "Peak", meaning: "Most of this line that was live at once", show: (line: Line) => megabytes(line.peak) };
	const atPeak = top(app, (line) => line.atPeak);
	return (
		<div class="memory-view">
			<p class="facts">
				<span>Peak <b>{megabytes(memory.peak)}</b>{memory.peakAt !== undefined && ` after ${seconds(memory.peakAt)}`}, {percent((memory.peakPython / (memory.peak || 1)) * 100)} Python</span>
				{memory.peakRss > 0 && <span>resident at most <b>{megabytes(memory.peakRss)}</b></span>}
				{memory.average > 0 && <span>average <b>{megabytes(memory.average)}</b></span>}
				<span>allocated <b>{megabytes(memory.allocated)}</b>{memory.allocations > 0 && ` in ${count(memory.allocations)} allocations`}</span>
				<span>kept <b>{megabytes(memory.kept)}</b></span>
				<span>copied <b>{megabytes(memory.copied)}</b></span>
				{app.slice.range && <span>All of the whole run: memory is not known for a part of it.</span>}
			</p>
			{memory.timeline.length > 0 && <MemoryChart />}
			<LineTable
				title="The peak"
				note={`live when the program held ${megabytes(memory.peak)}`}
				lines={atPeak.length > 0 ? atPeak : top(app, (line) => line.peak)}
				share={(line) => (line.atPeak || line.peak) / (memory.peak || 1)}
				figures={[
					{ title: "At the peak", show: (line) => megabytes(line.atPeak || line.peak) },
					{ title: "Of it", show: (line) => percent(((line.atPeak || line.peak) / (memory.peak || 1)) * 100) },
					peak,
				]}
				empty="No line held memory at the peak."
			/>
			<LineTable
				title="Leaks"
				note="lines that go on growing and keep what they took"
				lines={profile.leaks.filter((line) => matches(app, line)).slice(0, MOST)}
				share={(line) => (line.leak?.velocity ?? 0) / (profile.leaks[0]?.leak?.velocity || 1)}
				figures={[
					{ title: "Grows", show: (line) => `${megabytes(line.leak?.velocity ?? 0)}/s` },
					{ title: "Likelihood", show: (line) => percent((line.leak?.likelihood ?? 0) * 100) },
					{ title: "Kept", show: (line) => megabytes(line.kept || line.peak) },
				]}
				empty="None found."
			/>
			<LineTable
				title="Churn"
				note="allocated and given back again"
				lines={top(app, (line) => (line.allocated > 4 * line.peak ? line.allocated : 0))}
				share={(line) => line.allocated / (memory.allocated || 1)}
				figures={[
					allocated,
					{ title: "Times", show: (line) => count(line.allocations) },
					peak,
					{ title: "Python", meaning: "Part that came through Python's allocators", show: (line) => percent(line.pythonFraction * 100) },
				]}
				empty="No line allocates much more than it holds."
			/>
			<LineTable
				title="Copies"
				note="bytes moved by memcpy and memmove"
				lines={top(app, (line) => line.copied || line.copyRate)}
				share={(line) => (line.copied || line.copyRate) / (memory.copied || top(app, (one) => one.copyRate)[0]?.copyRate || 1)}
				figures={[
					{ title: "Copied", show: (line) => megabytes(line.copied || line.copyRate * profile.elapsed) },
					{ title: "Rate", show: (line) => `${megabytes(line.copyRate)}/s` },
				]}
				empty="Nothing was copied."
			/>
		</div>
	);
}
