// Says that only a part of the run is shown, lets it be typed, and takes it back.

import { useApp } from "../context.ts";
import { canBrush, runLength } from "./brush.ts";

export function RangeChip() {
	const app = useApp();
	const { range } = app.state;
	if (!range) return null;
	const whole = !canBrush(app.profile) ? "" : app.profile.hasMemory ? "Memory" : app.profile.gpu ? "What the GPU did" : "";
	const until = runLength(app.profile);
	const change = (from: number, to: number) => {
		if (to > from && from >= 0) app.go({ range: { from, to: Math.min(to, until) } });
	};
	return (
		<div class="range" role="group" aria-label="Selected range">
			<span>Only from</span>
			<input type="number" aria-label="From, seconds" min="0" max={until} step="any" value={range.from.toFixed(3)} onChange={(event) => change(Number(event.currentTarget.value), range.to)} />
			<span>to</span>
			<input type="number" aria-label="To, seconds" min="0" max={until} step="any" value={range.to.toFixed(3)} onChange={(event) => change(range.from, Number(event.currentTarget.value))} />
			<span>s</span>
			{!canBrush(app.profile) && <b>This profile has no timeline: the whole run is shown.</b>}
			<button type="button" onClick={() => app.go({ range: undefined })}>Whole run <kbd>r</kbd></button>
			{whole && <span class="count">{whole} is that of the whole run.</span>}
		</div>
	);
}
