// The canvas: click zooms, arrows walk, Enter zooms, Backspace zooms out, s shows the source.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useApp, type App } from "../context.ts";
import { baseName, percent } from "../format.ts";
import { frameAt, pathTo, type Frames } from "../flame.ts";
import { drawFrames, LEVEL } from "../flame-draw.ts";
import type { Stacks } from "../stacks.ts";
import { showValue } from "../views/flame.tsx";
import { colours, prepareCanvas, useWidth } from "./canvas.ts";

interface Props {
	frames: Frames;
	stacks: Stacks;
	root: number;
	isMatch: ((frame: number) => boolean) | undefined;
}

export function FlameCanvas({ frames, stacks, root, isMatch }: Props) {
	const app = useApp();
	const box = useRef<HTMLDivElement>(null);
	const canvas = useRef<HTMLCanvasElement>(null);
	const width = useWidth(box);
	const [sight, setSight] = useState({ top: 0, height: 400 });
	const [selected, setSelected] = useState(-1);
	const [hovered, setHovered] = useState(-1);
	const levels = useMemo(() => levelsBelow(frames, root), [frames, root]);

	useEffect(() => setSelected(-1), [frames]);
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
		const begin = performance.now();
		const drawn = drawFrames(context, frames, { root, width, ...sight, selected }, {
			fill: (frame) => (isMatch?.(frame) ? colour("match") : fillOf(frames, stacks, frame, colour)),
			label: (frame) => labelOf(frames, stacks, frame),
			text: colour("flame-text"),
			background: colour("page"),
			outline: colour("text"),
		});
		if (canvas.current) canvas.current.dataset.drawn = `${drawn} frames in ${(performance.now() - begin).toFixed(0)} ms`;
	}, [frames, root, width, sight, selected, isMatch, app.theme]);

	const at = (event: MouseEvent) => {
		const corner = canvas.current!.getBoundingClientRect();
		const depth = Math.floor((event.clientY - corner.top + sight.top) / LEVEL) + frames.depth[root]!;
		const position = frames.start[root]! + ((event.clientX - corner.left) / width) * frames.value[root]!;
		return frameAt(frames, depth, position);
	};
	const zoomTo = (frame: number) => app.go({ zoom: pathTo(frames, frame).map((one) => frames.func[one]!) });
	const shown = hovered >= 0 ? hovered : selected >= 0 ? selected : root;
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
						aria-label={`Flame graph of ${frames.count - 1} frames. Arrow keys walk, Enter zooms, Backspace zooms out. “As a table” shows the same as a table.`}
						aria-describedby="flame-status"
						onMouseMove={(event) => setHovered(at(event))}
						onMouseLeave={() => setHovered(-1)}
						onClick={(event) => {
							const frame = at(event);
							if (frame < 0) return;
							setSelected(frame);
							zoomTo(frame);
						}}
						onDblClick={(event) => showSource(app, frames, stacks, at(event))}
						onKeyDown={(event) => {
							const next = walk(frames, root, selected < 0 ? root : selected, event.key);
							if (next !== undefined) setSelected(next);
							else if (event.key === "Enter" && selected >= 0) zoomTo(selected);
							else if (event.key === "Backspace") app.go({ zoom: app.state.zoom.slice(0, -1) });
							else if (event.key === "s") showSource(app, frames, stacks, selected);
							else return;
							event.preventDefault();
							event.stopPropagation();
						}}
					/>
				</div>
			</div>
			<div class="flame-status" id="flame-status" role="status">
				<FrameText frames={frames} stacks={stacks} frame={shown} root={root} />
				{shown > 0 && app.profile.files.some((file) => file.path === stacks.functions[frames.func[shown]!]?.file) && (
					<button type="button" class="link" onClick={() => showSource(app, frames, stacks, shown)}>Source</button>
				)}
				<Legend />
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
export function walk(frames: Frames, root: number, from: number, key: string): number | undefined {
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

function labelOf(frames: Frames, stacks: Stacks, frame: number): string {
	if (frame === 0) return "all";
	return stacks.functions[frames.func[frame]!]?.name ?? "?";
}

// Colour says whose code it is; neighbours differ a little in lightness, which means nothing.
function fillOf(frames: Frames, stacks: Stacks, frame: number, colour: (name: string) => string): string {
	if (frame === 0) return colour("flame-root");
	const func = stacks.functions[frames.func[frame]!];
	const kind = !func || func.file === "" ? "native" : func.isInScope && !isLibrary(func.file) ? "own" : isLibrary(func.file) === "packages" ? "packages" : "library";
	return colour(`flame-${kind}-${frames.func[frame]! % 3}`);
}

function isLibrary(path: string): "packages" | "library" | "" {
	if (/\/(site|dist)-packages\//.test(path)) return "packages";
	return /\/lib(64)?\/python3[^/]*\/|^<frozen/.test(path) ? "library" : "";
}

function showSource(app: App, frames: Frames, stacks: Stacks, frame: number): void {
	const func = stacks.functions[frames.func[frame] ?? -1];
	const file = app.profile.files.find((one) => one.path === func?.file);
	if (file) app.go({ view: "source", file: file.index, line: frames.line[frame]!, mode: "all", sort: "" });
	else app.say("The source of this frame is not in the profile.");
}

function FrameText({ frames, stacks, frame, root }: { frames: Frames; stacks: Stacks; frame: number; root: number }) {
	const { metric } = useApp().state;
	const func = stacks.functions[frames.func[frame]!];
	const value = frames.value[frame]!;
	return (
		<span class="frame-text">
			<code>{func ? func.name : "all"}</code>
			{func && <small title={func.file}>{baseName(func.file)}:{frames.line[frame]}</small>}
			<b>{showValue(metric, value)}</b>
			<span>{percent((value / (frames.value[0]! || 1)) * 100)} of all</span>
			{root > 0 && <span>{percent((value / (frames.value[root]! || 1)) * 100)} of the zoomed</span>}
			<span>self {showValue(metric, frames.self[frame]!)}</span>
		</span>
	);
}

function Legend() {
	return (
		<ul class="legend">
			<li><i class="flame-own" aria-hidden="true" />program</li>
			<li><i class="flame-packages" aria-hidden="true" />packages</li>
			<li><i class="flame-library" aria-hidden="true" />standard library</li>
			<li><i class="flame-native" aria-hidden="true" />not Python</li>
		</ul>
	);
}
