// Time by kind as one bar.  Pieces are told apart by a gap, their order and, in high
// contrast, by a pattern; the figures stand beside it in print.

import { percent, seconds } from "../format.ts";
import type { Times } from "../model.ts";

export const KINDS: readonly (readonly [keyof Times, string])[] = [
	["python", "Python"],
	["native", "native"],
	["system", "system"],
	["wait", "waiting"],
];

export function describeTimes(times: Times, total: number): string {
	return KINDS.filter(([kind]) => times[kind] > 0)
		.map(([kind, name]) => `${name} ${seconds(times[kind])} (${percent((times[kind] / (total || 1)) * 100)})`)
		.join(", ");
}

// As wide as its share of `full` seconds.
export function TimeBar({ times, full }: { times: Times; full: number }) {
	return (
		<span class="bar" aria-hidden="true">
			{KINDS.map(([kind]) => {
				const share = full > 0 ? (times[kind] / full) * 100 : 0;
				return share > 0 ? <i key={kind} class={kind} style={{ width: `${Math.min(share, 100)}%` }} /> : null;
			})}
		</span>
	);
}
