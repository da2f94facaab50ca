// The heads of the columns: a click sorts; the menu hides, and says what each one means.

import { useApp } from "../context.ts";
import { COLUMNS, type ColumnDef } from "../columns.tsx";
import type { Profile } from "../model.ts";
import { readPreference, writePreference } from "../store.ts";

// What the user has switched on or off, by column.
export function shownColumns(): ReadonlyMap<string, boolean> {
	const choices = readPreference("columns").split(",").filter((item) => /^[-+]\w+$/.test(item));
	return new Map(choices.map((item) => [item.slice(1), item.startsWith("+")]));
}

export function ColumnHead({ column, base, hasRange }: { column: ColumnDef; base: string; hasRange: boolean }) {
	const app = useApp();
	const { state } = app;
	const isSorted = state.sort === column.id;
	const note = hasRange && column.isThere && /memor|cop|alloc|GPU/i.test(column.meaning) ? " Of the whole run, not of the range." : "";
	return (
		<span
			class={`cell col-${column.id}`}
			role="columnheader"
			style={{ width: `${column.width}px` }}
			aria-sort={isSorted ? (state.isAscending ? "ascending" : "descending") : "none"}
		>
			<button
				type="button"
				title={`${column.meaning}${note} Percent ${base}.`}
				onClick={() => app.go(isSorted && !state.isAscending
					? { isAscending: true }
					: isSorted ? { sort: "", isAscending: false } : { sort: column.id, isAscending: false })}
			>
				{column.title}
				<span aria-hidden="true">{isSorted ? (state.isAscending ? " ▲" : " ▼") : ""}</span>
			</button>
		</span>
	);
}

interface MenuProps {
	profile: Profile;
	hidden: ReadonlyMap<string, boolean>;
	change(choices: ReadonlyMap<string, boolean>): void;
}

export function ColumnMenu({ profile, hidden, change }: MenuProps) {
	const { slice } = useApp();
	const choose = (id: string, isShown: boolean) => {
		const choices = new Map(hidden).set(id, isShown);
		change(choices);
		writePreference("columns", [...choices].map(([name, shown]) => (shown ? "+" : "-") + name).join(","));
	};
	return (
		<details class="menu">
			<summary>Columns</summary>
			<div class="sheet">
				<p>Percentages are {slice.base}.</p>
				{COLUMNS.filter((column) => column.isThere?.(profile) ?? true).map((column) => (
					<label key={column.id}>
						<input
							type="checkbox"
							checked={hidden.get(column.id) ?? column.isShown}
							onChange={(event) => choose(column.id, event.currentTarget.checked)}
						/>
						<b>{column.title}</b>
						<span>{column.meaning}</span>
					</label>
				))}
			</div>
		</details>
	);
}
