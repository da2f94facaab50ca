// The flame graph for those who read tables: functions below the zoomed frame.

import { useMemo, useState } from "preact/hooks";
import { useApp } from "../context.ts";
import { percent, shortPath } from "../format.ts";
import { pathTo, sumFunctions, type Frames } from "../flame.ts";
import type { Stacks } from "../stacks.ts";
import { showValue } from "../views/flame.tsx";
import { Rows } from "./rows.tsx";

export function FlameTable({ frames, stacks, root }: { frames: Frames; stacks: Stacks; root: number }) {
	const app = useApp();
	const { metric } = app.state;
	const [isBySelf, setBySelf] = useState(false);
	const rows = useMemo(() => {
		const sums = sumFunctions(frames, root).filter((sum) => {
			const func = stacks.functions[sum.func];
			return !app.matcher || app.matcher({ file: func?.file ?? "", func: func?.name ?? "", code: "", percent: (sum.value / (frames.value[0] || 1)) * 100 });
		});
		return isBySelf ? sums.sort((a, b) => b.self - a.self) : sums;
	}, [frames, root, isBySelf, app.matcher]);
	const all = frames.value[0] || 1;
	const head = (title: string, isSorted: boolean, sort: () => void) => (
		<span class="cell wide" role="columnheader" aria-sort={isSorted ? "descending" : "none"}>
			<button type="button" onClick={sort}>{title}<span aria-hidden="true">{isSorted ? " ▼" : ""}</span></button>
		</span>
	);
	return (
		<Rows
			class="flame-table"
			count={rows.length}
			label="Functions of the flame graph"
			focus={-1}
			columns={4}
			header={
				<div class="row head" role="row" aria-rowindex={1}>
					{head("Inclusive", !isBySelf, () => setBySelf(false))}
					{head("Self", isBySelf, () => setBySelf(true))}
					<span class="name" role="columnheader">Function</span>
					<span class="place" role="columnheader">File</span>
				</div>
			}
			render={(i) => {
				const row = rows[i]!;
				const func = stacks.functions[row.func];
				return (
					<div key={row.func} class="row" role="row" aria-rowindex={i + 2}>
						<span class="cell wide time" role="gridcell"><b>{showValue(metric, row.value)}</b><em>{percent((row.value / all) * 100)}</em></span>
						<span class="cell wide time" role="gridcell"><b>{showValue(metric, row.self)}</b><em>{percent((row.self / all) * 100)}</em></span>
						<span class="name" role="gridcell">
							<button type="button" class="link" onClick={() => app.go({ zoom: pathTo(frames, row.frame).map((one) => frames.func[one]!) })}><code>{func?.name}</code></button>
						</span>
						<span class="place" role="gridcell" title={func?.file}>{func?.file ? `${shortPath(func.file, 60)}:${func.firstLine}` : "not Python"}</span>
					</div>
				);
			}}
		/>
	);
}
