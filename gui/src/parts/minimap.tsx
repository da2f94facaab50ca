// Heat beside the scroll bar: where in the file the time went.  A click goes there.

import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../context.ts";
import type { Line } from "../model.ts";
import { KINDS } from "./bar.tsx";
import { colours, prepareCanvas } from "./canvas.ts";

const WIDTH = 18;

export function Minimap({ rows, heat, full }: { rows: number; heat: readonly (readonly [number, Line])[]; full: number }) {
	const app = useApp();
	const canvas = useRef<HTMLCanvasElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const [height, setHeight] = useState(0);
	useEffect(() => {
		const measure = () => setHeight(box.current?.clientHeight ?? 0);
		measure();
		const observer = new ResizeObserver(measure);
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		const context = prepareCanvas(canvas.current, WIDTH, height);
		if (!context || rows === 0) return;
		const colour = colours();
		const thick = Math.max(2, height / rows);
		for (const [index, line] of heat) {
			const [kind] = KINDS.reduce((most, one) => (line[one[0]] > line[most[0]] ? one : most));
			context.fillStyle = colour(kind);
			context.fillRect(1, (index / rows) * height, Math.max(3, (line.self / full) * (WIDTH - 2)), thick);
		}
	}, [rows, heat, full, height, app.theme]);
	return (
		<div
			class="minimap"
			ref={box}
			aria-hidden="true"
			onClick={(event) => {
				const part = (event.clientY - event.currentTarget.getBoundingClientRect().top) / (height || 1);
				const near = heat.reduce<readonly [number, Line] | undefined>((best, one) =>
					!best || Math.abs(one[0] / rows - part) < Math.abs(best[0] / rows - part) ? one : best, undefined);
				if (near) app.go({ line: near[1].line });
			}}
		>
			<canvas ref={canvas} />
		</div>
	);
}
