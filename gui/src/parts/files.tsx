// The list of files at the side: the program's own first, each with its share.

import { useMemo } from "preact/hooks";
import { useApp } from "../context.ts";
import { percent, shortPath } from "../format.ts";
import type { File } from "../model.ts";
import { Rows } from "./rows.tsx";

const GROUPS: readonly (readonly [File["kind"], string])[] = [
	["project", "Program"],
	["packages", "Packages"],
	["library", "Standard library"],
];

export function Files() {
	const app = useApp();
	const { profile, slice, state } = app;
	const rows = useMemo(() => {
		const list: (File | string)[] = [];
		for (const [kind, title] of GROUPS) {
			const files = profile.files.filter((file) => file.kind === kind)
				.sort((a, b) => (slice.filePercent[b.index] ?? 0) - (slice.filePercent[a.index] ?? 0));
			if (files.length > 0) list.push(title, ...files);
		}
		return list;
	}, [profile, slice]);
	const all = (
		<button
			key="all"
			type="button"
			class="file"
			aria-current={state.file < 0 ? "true" : undefined}
			onClick={() => app.go({ file: -1, line: 0 })}
		>
			<span>All files</span>
		</button>
	);
	return (
		<nav class="files" aria-label="Files">
			{all}
			<Rows
				count={rows.length}
				label="Files"
				role="group"
				focus={rows.findIndex((row) => typeof row !== "string" && row.index === state.file)}
				render={(i) => {
					const row = rows[i]!;
					if (typeof row === "string") return <h2 key={row} class="group">{row}</h2>;
					const share = slice.filePercent[row.index] ?? 0;
					return (
						<button
							key={row.path}
							type="button"
							class="file"
							title={row.path}
							aria-current={row.index === state.file ? "true" : undefined}
							onClick={() => app.go({ file: row.index, line: 0 })}
						>
							<span class="heat" aria-hidden="true" style={{ width: `${Math.min(share, 100)}%` }} />
							<span>{shortPath(row.name, 25)}</span>
							<em>{percent(share)}</em>
						</button>
					);
				}}
			/>
		</nav>
	);
}
