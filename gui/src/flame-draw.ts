// Drawing a flame graph: only what is in sight and wide enough.  A frame narrower than
// half a pixel is not drawn, nor is anything above it, so the time does not depend on how
// many there are.

import type { Frames } from "./flame.ts";

export const LEVEL = 20; // pixels a frame is high
const NARROWEST = 0.5;
const LABELLED = 26; // pixels from which on a frame has its name

export interface Paint {
	fill(frame: number): string;
	label(frame: number): string;
	readonly text: string;
	readonly outline: string;
}

export interface Sight {
	readonly root: number; // the frame that fills the width
	readonly width: number;
	readonly top: number; // pixels scrolled
	readonly height: number;
	readonly selected: number; // -1: none
}

export function drawFrames(context: CanvasRenderingContext2D, frames: Frames, sight: Sight, paint: Paint): number {
	const { root, width } = sight;
	const scale = frames.value[root]! > 0 ? width / frames.value[root]! : 0;
	const origin = frames.start[root]!;
	const base = frames.depth[root]!;
	context.font = `12px ${MONO}`;
	context.textBaseline = "middle";
	const letter = context.measureText("m").width;
	let drawn = 0;
	const stack = [root];
	while (stack.length > 0) {
		const frame = stack.pop()!;
		const wide = frames.value[frame]! * scale;
		const y = (frames.depth[frame]! - base) * LEVEL - sight.top;
		if (wide < NARROWEST || y > sight.height) continue;
		const x = (frames.start[frame]! - origin) * scale;
		if (y + LEVEL > 0) {
			context.fillStyle = paint.fill(frame);
			context.fillRect(x, y, Math.max(wide - (wide > 3 ? 1 : 0), NARROWEST), LEVEL - 1);
			drawn++;
			if (wide >= LABELLED) {
				const room = Math.floor((wide - 8) / letter);
				const name = paint.label(frame);
				context.fillStyle = paint.text;
				context.fillText(name.length <= room ? name : `${name.slice(0, Math.max(0, room - 1))}…`, x + 4, y + LEVEL / 2);
			}
			if (frame === sight.selected) {
				context.strokeStyle = paint.outline;
				context.lineWidth = 2;
				context.strokeRect(x + 1, y + 1, Math.max(wide - 3, 1), LEVEL - 3);
			}
		}
		for (let i = frames.children[frame]! - 1; i >= 0; i--) stack.push(frames.firstChild[frame]! + i);
	}
	return drawn;
}

const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
