// What drawing on a canvas needs: its size, sharp on dense screens, and the style's colours.

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

// The width of an element, followed.
export function useWidth(ref: RefObject<HTMLElement | null>): number {
	const [width, setWidth] = useState(0);
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		const measure = () => setWidth(Math.floor(element.clientWidth));
		measure();
		const observer = new ResizeObserver(measure);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	return width;
}

// Sized and cleared; its unit is the CSS pixel.
export function prepareCanvas(
	canvas: HTMLCanvasElement | null, width: number, height: number,
): CanvasRenderingContext2D | null {
	const context = canvas?.getContext("2d") ?? null;
	if (!canvas || !context || width <= 0 || height <= 0) return null;
	const dense = window.devicePixelRatio || 1;
	canvas.width = Math.round(width * dense);
	canvas.height = Math.round(height * dense);
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	context.setTransform(dense, 0, 0, dense, 0, 0);
	context.clearRect(0, 0, width, height);
	return context;
}

// Reads a token of the style sheet: colours()("python") is the value of --python now.
export function colours(): (name: string) => string {
	const style = getComputedStyle(document.documentElement);
	const known = new Map<string, string>();
	return (name) => {
		let value = known.get(name);
		if (value === undefined) known.set(name, (value = style.getPropertyValue(`--${name}`).trim() || "gray"));
		return value;
	};
}
