// Dragging over a picture of the run selects a part of it; a click takes that back.

import { useRef } from "preact/hooks";
import type { App } from "../context.ts";
import type { Profile } from "../model.ts";
import { binsOf } from "../timeline.ts";

// How many seconds the width of such a picture stands for.
export function runLength(profile: Profile): number {
	const { timeline, memory, elapsed } = profile;
	const last = memory.timeline[memory.timeline.length - 1]?.[0] ?? 0;
	return timeline ? timeline.binSeconds * timeline.bins : Math.max(elapsed, last) || 1;
}

export function canBrush(profile: Profile): boolean {
	return profile.timeline !== undefined && profile.stacks !== undefined && profile.timeline.nodes.length > 0;
}

// Selects whole bins.  All of them, or none, is the whole run.
export function selectRange(app: App, a: number, b: number, isStep: boolean): void {
	const { timeline } = app.profile;
	if (!timeline || !canBrush(app.profile)) return;
	const [first, last] = binsOf(timeline, { from: Math.min(a, b), to: Math.max(a, b) });
	const isPart = last > first && last - first < timeline.bins;
	app.go({ range: isPart ? { from: first * timeline.binSeconds, to: last * timeline.binSeconds } : undefined }, isStep);
}

export function useBrush(app: App, width: number) {
	const begin = useRef<number | undefined>(undefined);
	const until = runLength(app.profile);
	const secondsAt = (event: PointerEvent) => {
		const left = (event.currentTarget as Element).getBoundingClientRect().left;
		return Math.min(Math.max((event.clientX - left) / (width || 1), 0), 1) * until;
	};
	const isClick = (event: PointerEvent) => Math.abs(secondsAt(event) - (begin.current ?? 0)) <= until / 200;
	return {
		onPointerDown(event: PointerEvent) {
			if (event.button !== 0 || !canBrush(app.profile)) return;
			(event.currentTarget as Element).setPointerCapture(event.pointerId);
			begin.current = secondsAt(event);
		},
		onPointerMove(event: PointerEvent) {
			if (begin.current !== undefined && !isClick(event)) selectRange(app, begin.current, secondsAt(event), false);
		},
		onPointerUp(event: PointerEvent) {
			if (begin.current === undefined) return;
			if (isClick(event)) app.go({ range: undefined });
			else selectRange(app, begin.current, secondsAt(event), true);
			begin.current = undefined;
		},
	};
}
