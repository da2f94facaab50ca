// Every file with its lines, figures in the cells.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { adviceFor } from "../advice.ts";
import { COLUMNS, type ColumnDef } from "../columns.tsx";
import { matches, placeOf, useApp, type App } from "../context.ts";
import { count, shortPath } from "../format.ts";
import { Highlighter } from "../highlight.ts";
import { fetchSource } from "../load.ts";
import { splitLines, type File, type Line, type Profile } from "../model.ts";
import { useWidth } from "../parts/canvas.ts";
import { CodeText } from "../parts/code.tsx";
import { ColumnHead, ColumnMenu, shownColumns } from "../parts/columns.tsx";
import { Detail } from "../parts/detail.tsx";
import { Files } from "../parts/files.tsx";
import { Minimap } from "../parts/minimap.tsx";
import { Rows } from "../parts/rows.tsx";

// A row: a line of the file, with figures or without; a function; or a gap.
interface Row {
	readonly number: number;
	readonly line: Line | undefined;
	readonly gap: number; // lines left out here
}

export function Source() {
	const app = useApp();
	const { profile, state } = app;
	const file = profile.files[state.file];
	const [hidden, setHidden] = useState(() => shownColumns());
	const listing = useRef<HTMLElement>(null);
	const columns = columnsThatFit(profile, hidden, useWidth(listing));
	const texts = useSource(app, file);
	const rows = useMemo(() => makeRows(app, file, texts), [app.slice, file, texts, state.mode, state.sort, state.isAscending, state.query]);
	const highlighter = useHighlighter(texts, file);
	const full = rows.reduce((most, row) => Math.max(most, row.line?.self ?? 0), 0);
	// A file is first seen where it is hot.
	const seen = useRef<File | undefined>(undefined);
	const isFirst = file !== undefined && seen.current?.path !== file.path && state.line === 0 && state.sort === "";
	useEffect(() => {
		seen.current = file;
	}, [file]);
	const selected = rows.findIndex((row) => row.gap === 0 && row.number === state.line && state.line > 0);
	const isFunctions = state.mode === "functions";
	const line = (isFunctions ? app.slice.functionsOf : app.slice.linesOf)[state.file]?.find((one) => one.line === state.line);
	const width = columns.reduce((sum, column) => sum + column.width, 0);

	const head = (
		<div class="row head" role="row" aria-rowindex={1}>
			{columns.map((column) => <ColumnHead key={column.id} column={column} base={app.slice.base} hasRange={app.slice.range !== undefined} />)}
			<LineHead isFunctions={state.mode === "functions"} isAll={!file} />
		</div>
	);
	return (
		<div class="source" style={{ "--figures": `${width}px` }}>
			<Files />
			<section class="listing" ref={listing}>
				<Toolbar file={file} rows={rows} menu={<ColumnMenu profile={profile} hidden={hidden} change={setHidden} />} />
				<Rows
					class="lines"
					rowHeight={21}
					count={rows.length}
					label={file ? `Lines of ${file.name}` : "All files"}
					focus={isFirst ? rows.findIndex((row) => row.line !== undefined && row.line.self === full) : selected}
					columns={columns.length + 2}
					header={head}
					aside={state.sort === "" && state.mode === "all" && file ? <Minimap rows={rows.length} heat={heatOf(rows)} full={full} /> : undefined}
					onKey={(event, page) => moveSelection(app, rows, selected, event, page)}
					render={(i) => (
						<SourceRow key={`${i}:${rows[i]!.number}`} index={i} row={rows[i]!} columns={columns} full={full} highlighter={highlighter} />
					)}
				/>
				{rows.length === 0 && <p class="empty">{app.matcher ? "Nothing here matches the search." : "No line of this file has figures."}</p>}
				{line && <Detail line={line} isFunction={isFunctions} />}
			</section>
		</div>
	);
}

const CODE_WIDTH = 420; // pixels that the code should have
const DISPENSABLE = ["trend", "copied", "peak", "alloc", "total"]; // in this order

// What the user chose, else what is usual, less what leaves the code no room.
function columnsThatFit(profile: Profile, choices: ReadonlyMap<string, boolean>, width: number): ColumnDef[] {
	let columns = COLUMNS.filter((column) => (column.isThere?.(profile) ?? true) && (choices.get(column.id) ?? column.isShown));
	for (const id of DISPENSABLE) {
		const taken = columns.reduce((sum, column) => sum + column.width, 0);
		if (width === 0 || width - taken >= CODE_WIDTH) break;
		if (choices.get(id) === undefined) columns = columns.filter((column) => column.id !== id);
	}
	return columns;
}

function heatOf(rows: readonly Row[]): readonly (readonly [number, Line])[] {
	return rows.flatMap((row, i) => (row.line && row.line.self > 0 ? [[i, row.line] as const] : []));
}

// The file's text: from the profile, else from the server, else as far as it is known.
function useSource(app: App, file: File | undefined): File["source"] {
	const [fetched, setFetched] = useState<{ path: string; lines: string[] }>();
	useEffect(() => {
		if (!file || file.isWhole || !app.server || file.path.startsWith("<")) return;
		let isCurrent = true;
		fetchSource(file.index, file.path).then((text) => {
			if (isCurrent && text !== undefined) setFetched({ path: file.path, lines: splitLines(text) });
		}, () => undefined);
		return () => {
			isCurrent = false;
		};
	}, [file?.path]);
	if (!file) return NO_SOURCE;
	return !file.isWhole && fetched?.path === file.path ? fetched.lines : file.source;
}

const NO_SOURCE: readonly string[] = [];

function useHighlighter(texts: File["source"], file: File | undefined) {
	const [, redraw] = useState(0);
	const made = useMemo(() => {
		if (!file) return undefined;
		const numbers = new Map<number, number>(); // line number to index
		let lines: readonly string[];
		if (Array.isArray(texts)) lines = texts as readonly string[];
		else {
			const known = [...(texts as ReadonlyMap<number, string>)].sort((a, b) => a[0] - b[0]);
			known.forEach(([number], i) => numbers.set(number, i));
			lines = known.map(([, text]) => text);
		}
		const highlighter = new Highlighter(lines, () => redraw((n) => n + 1));
		return { highlighter, indexOf: (line: number) => (Array.isArray(texts) ? line - 1 : numbers.get(line) ?? -1) };
	}, [texts]);
	useEffect(() => () => made?.highlighter.stop(), [made]);
	return made;
}

function makeRows(app: App, file: File | undefined, texts: File["source"]): Row[] {
	const { state, slice } = app;
	const lists = state.mode === "functions" ? slice.functionsOf : slice.linesOf;
	const lines = (file ? lists[file.index] ?? [] : lists.flat()).filter((line) => matches(app, line));
	const isSorted = state.sort !== "" || !file;
	if (isSorted || state.mode === "functions") return sortLines(lines, state.sort || "time", state.isAscending)
		.map((line) => ({ number: line.line, line, gap: 0 }));
	const isWhole = Array.isArray(texts);
	if (state.mode === "active" || app.matcher || !isWhole) return withGaps(lines);
	const byNumber = new Map(lines.map((line) => [line.line, line]));
	return (texts as readonly string[]).map((_, i) => ({ number: i + 1, line: byNumber.get(i + 1), gap: 0 }));
}

function withGaps(lines: readonly Line[]): Row[] {
	const rows: Row[] = [];
	let last = 0;
	for (const line of lines) {
		if (line.line > last + 1) rows.push({ number: last + 1, line: undefined, gap: line.line - last - 1 });
		rows.push({ number: line.line, line, gap: 0 });
		last = line.line;
	}
	return rows;
}

function sortLines(lines: readonly Line[], sort: string, isAscending: boolean): Line[] {
	const column = COLUMNS.find((one) => one.id === sort);
	const value = column ? column.value : (line: Line) => -line.line;
	const sign = isAscending ? 1 : -1;
	return [...lines].sort((a, b) => sign * (value(a) - value(b)) || a.file - b.file || a.line - b.line);
}

function moveSelection(app: App, rows: readonly Row[], selected: number, event: KeyboardEvent, page: number): void {
	const steps: Record<string, number> = {
		ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length,
	};
	const step = steps[event.key];
	if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
	event.preventDefault();
	let to = Math.min(Math.max((selected < 0 ? (step > 0 ? -1 : 0) : selected) + step, 0), rows.length - 1);
	if (rows[to]?.gap) to = Math.min(Math.max(to + Math.sign(step), 0), rows.length - 1);
	const row = rows[to];
	if (row) app.go(rowTarget(row, app), false);
}

function rowTarget(row: Row, app: App) {
	return app.state.file < 0 ? { line: row.number, file: row.line?.file ?? -1, sort: "" } : { line: row.number };
}

function LineHead({ isFunctions, isAll }: { isFunctions: boolean; isAll: boolean }) {
	return (
		<>
			<span class={isAll ? "lineno long" : "lineno"} role="columnheader">Line</span>
			<span class="code" role="columnheader">{isFunctions ? "Function" : "Code"}</span>
		</>
	);
}

function Toolbar({ file, rows, menu }: { file: File | undefined; rows: readonly Row[]; menu: ComponentChildren }) {
	const app = useApp();
	const { state } = app;
	const modes = [["all", "All lines"], ["active", "With figures"], ["functions", "Functions"]] as const;
	return (
		<div class="toolbar">
			<h2 title={file?.path}>{file ? shortPath(file.name, 60) : "All files"}</h2>
			<div class="switch" role="group" aria-label="Rows">
				{modes.map(([mode, name]) => (
					<button key={mode} type="button" aria-pressed={state.mode === mode} onClick={() => app.go({ mode, line: 0 })}>{name}</button>
				))}
			</div>
			{state.sort !== "" && file && (
				<button type="button" onClick={() => app.go({ sort: "", isAscending: false })}>File order</button>
			)}
			<span class="count" role="status">
				{app.matcher
					? `${count(rows.filter((row) => row.line).length)} match`
					: state.mode === "all" && rows.some((row) => row.gap > 0) && "The profile has only the lines with figures of this file."}
			</span>
			{menu}
		</div>
	);
}

// Behind the code of a line of which the profiler knows what to do about it.
function AdviceNote({ line }: { line: Line }) {
	const [first] = adviceFor(useApp().profile.advice, line);
	return first ? <em class="note" title={`${first.evidence} ${first.fix}`}>{first.title}</em> : null;
}

interface RowProps {
	index: number;
	row: Row;
	columns: readonly ColumnDef[];
	full: number;
	highlighter: ReturnType<typeof useHighlighter>;
}

function SourceRow({ index, row, columns, full, highlighter }: RowProps) {
	const app = useApp();
	const { state, slice, profile } = app;
	const { line } = row;
	if (row.gap > 0)
		return (
			<div class="row gap" role="row" aria-rowindex={index + 2}>
				<span role="gridcell">… {row.gap === 1 ? "1 line" : `${count(row.gap)} lines`} without figures</span>
			</div>
		);
	const isSelected = row.number === state.line && (state.file < 0 || state.line > 0);
	const heat = line && full > 0 ? line.self / full : 0;
	const isCode = state.mode !== "functions";
	return (
		<div
			class={`row${isSelected ? " selected" : ""}${heat > 0.5 ? " hottest" : ""}`}
			role="row"
			aria-rowindex={index + 2}
			aria-selected={isSelected}
			style={{ "--heat": String(heat) }}
			onClick={() => app.go(rowTarget(row, app), state.line === 0)}
		>
			{columns.map((column) => (
				<span key={column.id} class={`cell col-${column.id}`} role="gridcell" style={{ width: `${column.width}px` }}>
					{line && column.value(line) > 0 ? column.cell(line, slice, full) : ""}
				</span>
			))}
			<span class={state.file < 0 ? "lineno long" : "lineno"} role="gridcell">{state.file < 0 && line ? shortPath(placeOf(profile, line), 28) : row.number}</span>
			<span class="code" role="gridcell">
				{isCode && state.file >= 0 && highlighter
					? <CodeText highlighter={highlighter.highlighter} index={highlighter.indexOf(row.number)} line={line} />
					: line?.text.trim()}
				{isCode && line && <AdviceNote line={line} />}
			</span>
		</div>
	);
}
