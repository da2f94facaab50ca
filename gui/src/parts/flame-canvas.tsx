// The canvas: click zooms, arrows walk, Enter zooms, Backspace zooms out, s shows the source.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useApp } from "../context.ts";
import { frameAt, type Frames } from "../flame.ts";
import { drawFrames, LEVEL } from "../flame-draw.ts";
import { colours, prepareCanvas, useWidth } from "./canvas.ts";

interface Props {
	frames: Frames;
	root: number;
	label(frame: number): string;
	fill(frame: number, colour: (name: string) => string): string;
	status(frame: number): ComponentChildren; // about the frame under the pointer, or selected
	zoomTo(frame: number): void;
	showSource(frame: number): void;
	legend: ComponentChildren;
}

export function FlameCanvas(props: Props) {
	const { frames, root } = props;
	const { theme } = useApp();
	const box = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const width = useWidth(box);
	const [sight, setSight] = useState({ top: 0, height: 400 });
	const [selected, setSelected] = useState(-1);
	const [hovered, setHovered] = useState(-1);
	const levels = useMemo(() => levelsBelow(frames, root), [frames, root]);

	useEffect(() => {
		setSelected(-1);
		setHovered(-1);
	}, [frames]);
	useEffect(() => {
		const measure = () => setSight((old) => ({ ...old, height: box.current?.clientHeight ?? 400 }));
		measure();
		const observer = new ResizeObserver(measure);
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		const context = prepareCanvas(canvas.current, width, sight.height);
		if (!context) return;
		const colour = colours();
		drawFrames(context, frames, { root, width, ...sight, selected }, {
			fill: (frame) => props.fill(frame, colour),
			label: props.label,
			text: colour("flame-text"),
			outline: colour("text"),
		});
	}, [frames, root, width, sight, selected, props.fill, theme]);

	const at = (event: MouseEvent) => {
		const corner = canvas.current!.getBoundingClientRect();
		const depth = Math.floor((event.clientY - corner.top + sight.top) / LEVEL) + frames.depth[root]!;
		const position = frames.start[root]! + ((event.clientX - corner.left) / width) * frames.value[root]!;
		return frameAt(frames, depth, position);
	};
	const known = (frame: number) => frame >= 0 && frame < frames.count;
	const shown = known(hovered) ? hovered : known(selected) ? selected : root;
	return (
		<>
			<div
				class="flame-box"
				ref={box}
				onScroll={(event) => {
					const top = event.currentTarget.scrollTop;
					setSight((old) => ({ ...old, top }));
				}}
			>
				<div style={{ height: `${levels * LEVEL}px` }}>
					<canvas
						ref={canvas}
						tabIndex={0}
						role="application"
						aria-roledescription="flame graph"
						aria-label={`Flame graph of ${frames.count - 1} frames. Arrow keys walk, Enter zooms, Backspace zooms out, s shows the source. The same is there as a table.`}
						aria-describedby="flame-status"
						onMouseMove={(event) => setHovered(at(event))}
						onMouseLeave={() => setHovered(-1)}
						onClick={(event) => {
							const frame = at(event);
							if (frame < 0) return;
							setSelected(frame);
							props.zoomTo(frame);
						}}
						onDblClick={(event) => props.showSource(at(event))}
						onKeyDown={(event) => {
							const next = walk(frames, root, known(selected) ? selected : root, event.key);
							if (next !== undefined) setSelected(next);
							else if (event.key === "Enter" && known(selected)) props.zoomTo(selected);
							else if (event.key === "Backspace") props.zoomTo(Math.max(0, frames.parent[root]!));
							else if (event.key === "s" && known(selected)) props.showSource(selected);
							else return;
							event.preventDefault();
							event.stopPropagation();
						}}
					/>
				</div>
			</div>
			<div class="flame-status" id="flame-status" role="status">
				{props.status(shown)}
				{props.legend}
			</div>
		</>
	);
}

function levelsBelow(frames: Frames, root: number): number {
	let deepest = 0;
	const stack = [root];
	while (stack.length > 0) {
		const frame = stack.pop()!;
		deepest = Math.max(deepest, frames.depth[frame]!);
		for (let i = 0; i < frames.children[frame]!; i++) stack.push(frames.firstChild[frame]! + i);
	}
	return deepest - frames.depth[root]! + 1;
}

// The frame that a key leads to, or undefined for other keys.
function walk(frames: Frames, root: number, from: number, key: string): number | undefined {
	const parent = frames.parent[from]!;
	switch (key) {
		case "ArrowDown":
			return frames.children[from]! > 0 ? frames.firstChild[from]! : from;
		case "ArrowUp":
			return from === root || parent < 0 ? from : parent;
		case "ArrowRight":
			return from !== root && from + 1 < frames.firstChild[parent]! + frames.children[parent]! ? from + 1 : from;
		case "ArrowLeft":
			return from !== root && from > frames.firstChild[parent]! ? from - 1 : from;
		default:
			return undefined;
	}
}
