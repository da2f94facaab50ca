// Lines with a few figures: the tables of the memory view and of the printed page.

import { placeOf, useApp } from "../context.ts";
import { shortPath } from "../format.ts";
import type { Line } from "../model.ts";

export interface Figure {
	readonly title: string;
	readonly meaning?: string;
	show(line: Line): string;
}

interface Props {
	title: string;
	note?: string;
	lines: readonly Line[];
	figures: readonly Figure[];
	share?(line: Line): number; // 0 to 1, drawn as a bar
	empty: string;
}

export function LineTable(props: Props) {
	const app = useApp();
	return (
		<section class="line-table">
			<h2>{props.title} {props.note && <small>{props.note}</small>}</h2>
			{props.lines.length === 0
				? <p class="empty">{props.empty}</p>
				: (
					<table class="plain">
						<thead>
							<tr>
								{props.share && <th scope="col" class="share-head">Share</th>}
								{props.figures.map((figure) => <th key={figure.title} scope="col" class="number" title={figure.meaning}>{figure.title}</th>)}
								<th scope="col">Line</th>
								<th scope="col">Code</th>
							</tr>
						</thead>
						<tbody>
							{props.lines.map((line) => (
								<tr key={`${line.file}:${line.line}`}>
									{props.share && <td><span class="share" aria-hidden="true"><i style={{ width: `${Math.min(1, props.share(line)) * 100}%` }} /></span></td>}
									{props.figures.map((figure) => <td key={figure.title} class="number">{figure.show(line)}</td>)}
									<td class="place">
										<button type="button" class="link" title={app.profile.files[line.file]?.path} onClick={() => app.go({ view: "source", file: line.file, line: line.line, mode: "all", sort: "" })}>
											{shortPath(placeOf(app.profile, line), 40)}
										</button>
									</td>
									<td class="clip"><code>{line.text.trim()}</code></td>
								</tr>
							))}
						</tbody>
					</table>
				)}
		</section>
	);
}
