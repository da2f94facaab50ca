// This run against an earlier one: verdict, lines, flame graph of the difference.

import { useCallback, useMemo, useState } from "preact/hooks";
import { placeOf, useApp } from "../context.ts";
import { compare, uniteStacks, type Pair, type StackUnion } from "../diff.ts";
import { baseName, megabytes, percent, seconds, shortPath, signed } from "../format.ts";
import { makeFrames } from "../flame.ts";
import { readText } from "../load.ts";
import type { Profile } from "../model.ts";
import { FlameCanvas } from "../parts/flame-canvas.tsx";
import { Rows } from "../parts/rows.tsx";
import { sumUp } from "../stacks.ts";
import { labelOf, showSource } from "./flame.tsx";

export function Compare() {
	const { baseline } = useApp();
	return <div class="compare">{baseline ? <Comparison before={baseline} /> : <Choose />}</div>;
}

function Choose() {
	const app = useApp();
	const take = (file: File | undefined) => {
		file?.text().then(readText).then(app.setBaseline).catch((error: unknown) => app.say(error instanceof Error ? error.message : String(error)));
	};
	return (
		<div
			class="drop"
			onDragOver={(event) => event.preventDefault()}
			onDrop={(event) => {
				event.preventDefault();
				take(event.dataTransfer?.files[0]);
			}}
		>
			<h2>Compare with an earlier run</h2>
			<p>Choose its profile, or drop it here. It stays in this page.</p>
			<p><input type="file" accept=".json,application/json" aria-label="Profile of the earlier run" onChange={(event) => take(event.currentTarget.files?.[0])} /></p>
		</div>
	);
}

function Comparison({ before }: { before: Profile }) {
	const app = useApp();
	const after = app.profile;
	const [isAll, setAll] = useState(false);
	const result = useMemo(() => compare(before, after), [before, after]);
	const pairs = useMemo(() => result.pairs.filter((pair) => (isAll || !pair.isNoise) && isMatch(app, before, pair)), [result, isAll, app.matcher]);
	const union = useMemo(() => uniteStacks(before, after), [before, after]);
	return (
		<>
			<p class="verdict">{result.verdict}</p>
			<p class="facts">
				<span>Total time <b>{seconds(before.total)}</b> → <b>{seconds(after.total)}</b> ({signed(after.total - before.total, seconds)})</span>
				<span>elapsed <b>{seconds(before.elapsed)}</b> → <b>{seconds(after.elapsed)}</b></span>
				{before.hasMemory && after.hasMemory && <span>peak <b>{megabytes(before.memory.peak)}</b> → <b>{megabytes(after.memory.peak)}</b></span>}
				{before.hasMemory && after.hasMemory && <span>allocated <b>{megabytes(before.memory.allocated)}</b> → <b>{megabytes(after.memory.allocated)}</b></span>}
				{before.gpu && after.gpu && <span>GPU busy <b>{seconds(before.gpu.busy)}</b> → <b>{seconds(after.gpu.busy)}</b></span>}
				<span>before: {baseName(before.program)}, {before.started > 0 ? new Date(before.started * 1000).toLocaleString() : "date unknown"}</span>
				<label class="check"><input type="checkbox" checked={isAll} onChange={() => setAll(!isAll)} /> also changes within noise</label>
				<button type="button" onClick={() => app.setBaseline(undefined)}>Other profile</button>
			</p>
			<Lines before={before} pairs={pairs} />
			{union && <DiffFlame union={union} />}
		</>
	);
}

function isMatch(app: ReturnType<typeof useApp>, before: Profile, pair: Pair): boolean {
	const line = pair.after ?? pair.before!;
	const file = (pair.after ? app.profile : before).files[line.file]?.name ?? "";
	return !app.matcher || app.matcher({ file, func: "", code: line.text, percent: line.percent });
}

function Lines({ before, pairs }: { before: Profile; pairs: readonly Pair[] }) {
	const titles = ["Change", "Before", "After", "Percent", "Peak memory"];
	const { matcher } = useApp();
	if (pairs.length === 0) return <p class="empty">{matcher ? "No line that changed matches the search." : "No line changed beyond noise."}</p>;
	return (
		<Rows
			class="lines"
			isFitted
			count={pairs.length}
			label="Lines that changed"
			focus={-1}
			columns={titles.length + 2}
			header={
				<div class="row head" role="row" aria-rowindex={1}>
					{titles.map((title) => <span key={title} class="cell" role="columnheader">{title}</span>)}
					<span class="lineno long" role="columnheader">Line</span>
					<span class="code" role="columnheader">Code</span>
				</div>
			}
			render={(i) => <PairRow key={i} index={i} pair={pairs[i]!} before={before} />}
		/>
	);
}

function PairRow({ index, pair, before }: { index: number; pair: Pair; before: Profile }) {
	const app = useApp();
	const { profile } = app;
	const line = pair.after ?? pair.before!;
	const kind = pair.isNoise ? "noise" : pair.delta > 0 ? "slower" : "faster";
	const state = !pair.before ? "new: " : !pair.after ? "gone: " : pair.isEdited ? "edited: " : "";
	const place = placeOf(pair.after ? profile : before, line);
	return (
		<div class="row" role="row" aria-rowindex={index + 2}>
			<span class={`cell ${kind}`} role="gridcell"><b>{pair.isNoise ? "≈" : pair.delta > 0 ? "▲" : "▼"} {signed(pair.delta, seconds)}</b></span>
			<span class="cell" role="gridcell">{pair.before ? seconds(pair.before.self) : "–"}</span>
			<span class="cell" role="gridcell">{pair.after ? seconds(pair.after.self) : "–"}</span>
			<span class="cell" role="gridcell">{pair.before && pair.before.self > 0 ? signed((pair.delta / pair.before.self) * 100, percent) : "–"}</span>
			<span class="cell" role="gridcell">{!pair.isPeakNoise ? signed(pair.peakDelta, megabytes) : ""}</span>
			<span class="lineno long" role="gridcell">
				{pair.after
					? <button type="button" class="link" onClick={() => app.go({ view: "source", file: line.file, line: line.line, mode: "all", sort: "" })}>{shortPath(place, 32)}</button>
					: shortPath(place, 32)}
			</span>
			<span class="code" role="gridcell">{state && <em class="noise">{state}</em>}{line.text.trim()}</span>
		</div>
	);
}

function DiffFlame({ union }: { union: StackUnion }) {
	const app = useApp();
	const [root, setRoot] = useState(0);
	const frames = useMemo(() => {
		setRoot(0);
		return makeFrames(union.stacks, union.widths, { isInverted: false });
	}, [union]);
	const [before, after] = useMemo(
		() => [sumUp(union.stacks.parent, union.before), sumUp(union.stacks.parent, union.after)],
		[union],
	);
	const change = (frame: number) => after[frames.node[frame]!]! - before[frames.node[frame]!]!;
	const largest = Math.max(before[0]!, after[0]!) || 1;
	const fill = useCallback((frame: number, colour: (name: string) => string) => {
		const share = change(frame) / largest;
		const step = Math.abs(share) < 0.005 ? 0 : Math.abs(share) < 0.03 ? 1 : Math.abs(share) < 0.12 ? 2 : 3;
		return colour(step === 0 ? "flame-diff-same" : `flame-diff-${share > 0 ? "up" : "down"}-${step}`);
	}, [frames, before, after]);
	const label = (frame: number) => {
		const share = change(frame) / largest;
		return `${Math.abs(share) < 0.005 ? "" : share > 0 ? "▲ " : "▼ "}${labelOf(frames, union.stacks, frame)}`;
	};
	return (
		<section>
			<h2>Flame graph of the difference <small>a frame is as wide as in the slower of the two runs</small></h2>
			<FlameCanvas
				frames={frames}
				root={root}
				label={label}
				fill={fill}
				zoomTo={setRoot}
				showSource={(frame) => showSource(app, union.stacks.functions[frames.func[frame] ?? -1], frames.line[frame] ?? 0)}
				status={(frame) => (
					<span class="frame-text">
						<code>{labelOf(frames, union.stacks, frame)}</code>
						<b>{signed(change(frame) / 1e6, seconds)}</b>
						<span>{seconds(before[frames.node[frame]!]! / 1e6)} → {seconds(after[frames.node[frame]!]! / 1e6)}</span>
						{root > 0 && <button type="button" class="link" onClick={() => setRoot(0)}>All</button>}
					</span>
				)}
				legend={<ul class="legend"><li class="slower">▲ slower</li><li class="faster">▼ faster</li></ul>}
			/>
		</section>
	);
}
