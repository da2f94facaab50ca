// A long list of which only the rows in sight exist.  Rows have one height, so where a
// row stands is a multiplication.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const ROW_HEIGHT = 24; // what can be clicked on needs as much
const SPARE = 8; // rows kept above and below

interface Props {
	count: number;
	label: string;
	class?: string;
	isFitted?: boolean; // no higher than its rows, within what the style allows
	role?: "grid" | "group";
	focus: number; // row to bring into sight, -1: none
	columns?: number;
	rowHeight?: number; // pixels
	header?: ComponentChildren; // stays in sight, scrolls sideways with the rows
	aside?: ComponentChildren; // beside the scroll bar
	render(index: number): ComponentChildren;
	onKey?(event: KeyboardEvent, page: number): void;
}

export function Rows(props: Props) {
	const rowHeight = props.rowHeight ?? ROW_HEIGHT;
	const scroller = useRef<HTMLDivElement>(null);
	const [top, setTop] = useState(0);
	const [height, setHeight] = useState(600);

	useLayoutEffect(() => {
		const element = scroller.current;
		if (!element) return;
		const measure = () => setHeight(element.clientHeight || 600);
		measure();
		const observer = new ResizeObserver(measure);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);

	useEffect(() => {
		const element = scroller.current;
		if (!element || props.focus < 0) return;
		const head = props.header ? rowHeight + 4 : 0;
		const at = props.focus * rowHeight;
		const room = element.clientHeight - head;
		if (at < element.scrollTop || at + rowHeight > element.scrollTop + room)
			element.scrollTop = Math.max(0, at - room / 3);
	}, [props.focus, props.count]);

	const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
	const last = Math.min(props.count, Math.ceil((top + height) / rowHeight) + SPARE);
	const rows: ComponentChildren[] = [];
	for (let i = first; i < last; i++) rows.push(props.render(i));
	return (
		<div class={`rows ${props.class ?? ""}`} style={{ "--row": `${rowHeight}px`, height: props.isFitted ? `${props.count * rowHeight + 34}px` : undefined }}>
			<div
				ref={scroller}
				class="scroller"
				tabIndex={props.role ? undefined : 0}
				role={props.role ?? "grid"}
				aria-label={props.label}
				aria-rowcount={props.role ? undefined : props.count + (props.header ? 1 : 0)}
				aria-colcount={props.columns}
				onScroll={(event) => setTop(event.currentTarget.scrollTop)}
				onKeyDown={(event) => props.onKey?.(event, Math.max(1, Math.floor(height / rowHeight) - 2))}
			>
				{props.header}
				<div class="canvas" role="presentation" style={{ height: `${props.count * rowHeight}px` }}>
					<div role="presentation" class="window" style={{ transform: `translateY(${first * rowHeight}px)` }}>
						{rows}
					</div>
				</div>
			</div>
			{props.aside}
		</div>
	);
}
