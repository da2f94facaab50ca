// The page on paper: summary, lines and functions as plain tables.  It exists only while
// the browser prints; on screen it would be thousands of nodes for nothing.

import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AppContext, placeOf, useApp, type App } from "../context.ts";
import { count, megabytes, percent, seconds, shortPath } from "../format.ts";
import type { Line } from "../model.ts";
import { findings } from "../rules.ts";
import { KINDS } from "./bar.tsx";

const MOST = 50;

// Rendered at once: the browser takes what is there when the event's handlers return.
export function usePrinting(app: App): void {
	const latest = useRef(app);
	latest.current = app;
	useEffect(() => {
		const root = document.createElement("div");
		root.id = "print";
		document.body.append(root);
		const before = () => render(<AppContext.Provider value={latest.current}><PrintedReport /></AppContext.Provider>, root);
		const after = () => render(null, root);
		addEventListener("beforeprint", before);
		addEventListener("afterprint", after);
		return () => {
			removeEventListener("beforeprint", before);
			removeEventListener("afterprint", after);
			root.remove();
		};
	}, []);
}

function PrintedReport() {
	const app = useApp();
	const { profile, slice } = app;
	return (
		<article>
			<h1>{profile.program} {profile.args.join(" ")}</h1>
			<p>
				{profile.started > 0 && `${new Date(profile.started * 1000).toLocaleString()}. `}
				{profile.python && `Python ${profile.python}. `}{profile.machine && `${profile.machine}. `}
				Ran {seconds(profile.elapsed)}; total time {seconds(slice.total)}:{" "}
				{KINDS.map(([kind, name]) => `${name} ${seconds(slice.times[kind])} (${percent((slice.times[kind] / (slice.total || 1)) * 100)})`).join(", ")}.
				{slice.range && ` Only ${seconds(slice.range.from)} to ${seconds(slice.range.to)} of the run.`}
				{profile.hasMemory && ` Memory peak ${megabytes(profile.memory.peak)}, allocated ${megabytes(profile.memory.allocated)}, copied ${megabytes(profile.memory.copied)}.`}
				{profile.gpu && ` GPU busy ${seconds(profile.gpu.busy)}, idle ${seconds(profile.gpu.idle)}.`}
				{profile.quality.samples !== undefined && ` ${count(profile.quality.samples + profile.quality.waitSamples)} samples.`}
			</p>
			<h2>What to look at</h2>
			<ul>
				{profile.advice.map((one, i) => <li key={i}><b>{one.title}</b> ({shortPath(`${one.path}:${one.line}`, 60)}). {one.evidence} {one.fix}</li>)}
				{findings(profile, slice).map((finding) => <li key={finding.title + finding.detail}><b>{finding.title}.</b> {finding.detail}</li>)}
			</ul>
			<h2>Hottest lines <small>percent {slice.base}</small></h2>
			<Printed lines={slice.lines} />
			<h2>Functions</h2>
			<Printed lines={slice.functions} />
		</article>
	);
}

function Printed({ lines }: { lines: readonly Line[] }) {
	const { profile } = useApp();
	return (
		<table class="plain">
			<thead><tr><th scope="col" class="number">Time</th><th scope="col" class="number">Share</th><th scope="col" class="number">Inclusive</th><th scope="col" class="number">Peak</th><th scope="col">Line</th><th scope="col">Code</th></tr></thead>
			<tbody>
				{lines.filter((line) => line.self > 0).slice(0, MOST).map((line) => (
					<tr key={`${line.file}:${line.line}:${line.text}`}>
						<td class="number">{seconds(line.self)}</td>
						<td class="number">{percent(line.percent)}</td>
						<td class="number">{seconds(line.inclusive)}</td>
						<td class="number">{line.peak > 0 ? megabytes(line.peak) : ""}</td>
						<td>{shortPath(placeOf(profile, line), 44)}</td>
						<td class="clip"><code>{line.text.trim()}</code></td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
