// One line of Python in colours, its hot part marked.

import { Highlighter, markHot, unitsOfBytes } from "../highlight.ts";
import { seconds } from "../format.ts";
import type { Line } from "../model.ts";

export function CodeText({ highlighter, index, line }: { highlighter: Highlighter; index: number; line: Line | undefined }) {
	if (index < 0) return <>{line?.text}</>;
	const tokens = highlighter.tokens(index);
	const text = highlighter.lines[index] ?? "";
	const hot = line?.columns[0];
	const start = hot ? unitsOfBytes(text, hot.start) : 0;
	const end = !hot ? 0 : hot.end < 0 ? text.length : unitsOfBytes(text, hot.end);
	const code = text.trim().length;
	// A mark over the whole line would say nothing, one on every cold line distract.
	const isTelling = hot !== undefined && line !== undefined && end > start && end - start < code && hot.seconds > line.self / 4 && line.percent >= 1;
	if (!isTelling) return <>{tokens.map((token, i) => (token.style ? <span key={i} class={token.style}>{token.text}</span> : token.text))}</>;
	return (
		<>
			{markHot(tokens, start, end).map((token, i) => (
				<span key={i} class={`${token.style}${token.isHot ? " hotpart" : ""}`} title={token.isHot ? `${seconds(hot.seconds)} in this part` : undefined}>
					{token.text}
				</span>
			))}
		</>
	);
}
