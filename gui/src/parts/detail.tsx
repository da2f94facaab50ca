// About the selected line or function: its figures in words, who calls it and whom it calls.

import { useMemo } from "preact/hooks";
import { adviceFor } from "../advice.ts";
import { functionOf, hottestIn, useApp, type App } from "../context.ts";
import { baseName, count, megabytes, percent, seconds } from "../format.ts";
import { openEditor } from "../load.ts";
import type { Line } from "../model.ts";
import { neighbours, type Neighbour, type StackFunction, type Stacks } from "../stacks.ts";
import { describeTimes } from "./bar.tsx";
import { Reasons } from "./reasons.tsx";
import { canSuggest } from "./suggest.tsx";

const MOST_NEIGHBOURS = 8;

export function Detail({ line, isFunction }: { line: Line; isFunction: boolean }) {
	const app = useApp();
	const { profile, slice } = app;
	const stacks = profile.stacks;
	const around = useMemo(() => {
		const path = profile.files[line.file]?.path;
		const times = slice.nodeTimes;
		if (!stacks || !times) return undefined;
		return neighbours(stacks, (node) => {
			const func = stacks.functions[stacks.func[node]!];
			return func !== undefined && func.file === path && (isFunction ? isFunctionOf(func, line) : stacks.line[node] === line.line);
		}, times);
	}, [stacks, slice, line, isFunction]);
	const hottest = isFunction ? hottestIn(app, line) : line;
	const title = isFunction ? line.text : `Line ${line.line}`;
	return (
		<aside class="detail" aria-label={title}>
			<header>
				<h2>{title} <small>{isFunction ? `function at line ${line.line}` : `in ${functionOf(profile, line)}`}</small></h2>
				<span class="why">{!isFunction && <Reasons line={line} profile={profile} />}</span>
				{canSuggest(app) && hottest && (
					<button type="button" onClick={() => app.suggest(hottest, isFunction ? "function" : "line")}>Suggest an optimisation <kbd>s</kbd></button>
				)}
				{app.server?.canOpenEditor && (
					<button type="button" onClick={() => void openInEditor(app, line)}>Open in editor <kbd>o</kbd></button>
				)}
				<button type="button" class="icon" aria-label="Close" onClick={() => app.go({ line: 0 })}>×</button>
			</header>
			{!isFunction && adviceFor(profile.advice, line).map((advice) => (
				<p key={advice.rule} class="advice"><b>{advice.title}.</b> {advice.evidence} {advice.fix}</p>
			))}
			<div class="detail-columns">
				<Facts line={line} />
				{stacks && around && <Neighbours title="Called by" list={around.callers} stacks={stacks} arrow="▲" />}
				{stacks && around && <Neighbours title="Calls" list={around.callees} stacks={stacks} arrow="▼" />}
			</div>
		</aside>
	);
}

// Methods of several classes may have one name.  Scalene's stacks do not say where a function begins.
function isFunctionOf(func: StackFunction, line: Line): boolean {
	return func.name === line.text && (func.firstLine === line.line || func.firstLine === 0);
}

export async function openInEditor(app: App, line: { file: number; line: number }): Promise<void> {
	const isOpen = await openEditor(line.file, app.profile.files[line.file]?.path ?? "", line.line).catch(() => false);
	app.say(isOpen ? "Opened in the editor." : "The editor could not be opened: set $VISUAL or $EDITOR.");
}

function Facts({ line }: { line: Line }) {
	const { profile, slice } = useApp();
	const facts: [string, string][] = [];
	const put = (name: string, value: string, isThere: boolean) => isThere && facts.push([name, value]);
	put("Self", `${seconds(line.self)}, ${percent(line.percent)}`, line.self > 0);
	put("", describeTimes(line, slice.total), line.self > 0);
	put("95 % interval", `${percent(line.low ?? 0)} to ${percent(line.high ?? 0)}`, line.high !== undefined);
	put("Samples", count(line.samples ?? 0), (line.samples ?? 0) > 0);
	put("Inclusive", `${seconds(line.inclusive)}, ${percent(line.inclusivePercent)}`, line.inclusive > 0);
	put("On a CPU", `${seconds(line.cpu)}, ${percent(line.cores * 100)} of its time`, line.cpu > 0);
	put("GIL", seconds(line.gil), line.gil > 0);
	put("Garbage collection", seconds(line.gc), line.gc > 0);
	put("Other threads idle", seconds(line.idle), line.idle > 0);
	put("Awaits", `${percent(line.awaitPercent)}, ${line.concurrency.toFixed(1)} tasks at a time, at most ${count(line.concurrencyPeak)}`, line.awaitPercent > 0);
	put("Tasks", line.tasks.slice(0, 6).join(", "), line.tasks.length > 0);
	put("Allocated", `${megabytes(line.allocated)} in ${count(line.allocations)} allocations, ${percent(line.pythonFraction * 100)} Python`, line.allocated > 0);
	put("Peak", `${megabytes(line.peak)}, average ${megabytes(line.average)}`, line.peak > 0);
	put("At the program's peak", `${megabytes(line.atPeak)}, ${percent((line.atPeak / (profile.memory.peak || 1)) * 100)} of it`, line.atPeak > 0);
	put("Kept", megabytes(line.kept), line.kept > 0);
	put("Leak", `${megabytes(line.leak?.velocity ?? 0)}/s, likelihood ${percent((line.leak?.likelihood ?? 0) * 100)}`, line.leak !== undefined);
	put("Copied", `${megabytes(line.copied)}, ${megabytes(line.copyRate)}/s`, line.copied > 0);
	const { gpu } = line;
	put("GPU", `${seconds(gpu.seconds)}, ${percent(gpu.percent)} of all GPU time${gpu.copies > 0 ? `: kernels ${seconds(gpu.kernels)}, copies ${seconds(gpu.copies)}` : ""}`, gpu.seconds > 0);
	put("GPU kernels", count(gpu.launches), gpu.launches > 0);
	put("Waits for the GPU", `${seconds(gpu.wait)}${gpu.waits > 0 ? ` in ${count(gpu.waits)} calls` : ""}`, gpu.wait > 0);
	put("GPU idle meanwhile", seconds(gpu.idle), gpu.idle > 0);
	put("Copied to, from GPU", `${megabytes(gpu.toDevice)}, ${megabytes(gpu.fromDevice)}`, gpu.copied > 0);
	put("GPU memory", `${megabytes(gpu.peak)} in use, average ${megabytes(gpu.average)}${gpu.allocated > 0 ? `; allocates ${megabytes(gpu.allocated)}` : ""}`, gpu.peak > 0 || gpu.allocated > 0);
	return (
		<dl>
			{facts.map(([name, value]) => (
				<div key={name}><dt>{name}</dt><dd>{value}</dd></div>
			))}
		</dl>
	);
}

function Neighbours(props: { title: string; list: readonly Neighbour[]; stacks: Stacks; arrow: string }) {
	const app = useApp();
	if (props.list.length === 0) return null;
	return (
		<section>
			<h3>{props.title}</h3>
			<ul class="neighbours">
				{props.list.slice(0, MOST_NEIGHBOURS).map((item) => {
					const func = props.stacks.functions[item.func];
					const file = app.profile.files.find((one) => one.path === func?.file);
					const text = <><span aria-hidden="true">{props.arrow}</span> <code>{func?.name ?? "?"}</code> <small>{baseName(func?.file ?? "")}:{item.line}</small></>;
					return (
						<li key={`${item.func}:${item.line}`}>
							<b>{seconds(item.seconds)}</b>
							{file
								? <button type="button" class="link" onClick={() => app.go({ view: "source", file: file.index, line: item.line })}>{text}</button>
								: <span>{text}</span>}
						</li>
					);
				})}
			</ul>
			{props.list.length > MOST_NEIGHBOURS && <p class="empty">and {props.list.length - MOST_NEIGHBOURS} more</p>}
		</section>
	);
}
