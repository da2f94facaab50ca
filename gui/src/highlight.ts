// Python in colours.  The parser works in short turns beside the page, so that a file of
// 50 000 lines is on screen at once and coloured a moment later.

import { parser } from "@lezer/python";
import { highlightTree, tagHighlighter, tags } from "@lezer/highlight";
import type { Tree } from "@lezer/common";

export interface Token {
	readonly text: string;
	readonly style: string; // class name, "" is plain
}

const STYLES = tagHighlighter([
	{ tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword, tags.definitionKeyword, tags.moduleKeyword], class: "k" },
	{ tag: [tags.string, tags.special(tags.string)], class: "s" },
	{ tag: [tags.number, tags.bool, tags.null], class: "n" },
	{ tag: tags.comment, class: "c" },
	{ tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], class: "d" },
	{ tag: tags.meta, class: "m" },
]);

const TURN_MS = 8;
const LONGEST_LINE = 2000; // the rest of a longer line is cut

// One text and, once it is there, its syntax tree.
export class Highlighter {
	readonly lines: readonly string[];
	private readonly starts: Int32Array;
	private readonly text: string;
	private tree: Tree | undefined;
	private timer: ReturnType<typeof setTimeout> | undefined;

	constructor(lines: readonly string[], done: () => void) {
		this.lines = lines;
		this.text = lines.join("\n");
		this.starts = new Int32Array(lines.length);
		for (let i = 1; i < lines.length; i++) this.starts[i] = this.starts[i - 1]! + lines[i - 1]!.length + 1;
		const parse = parser.startParse(this.text);
		const turn = () => {
			const end = performance.now() + TURN_MS;
			while (performance.now() < end) {
				const tree = parse.advance();
				if (!tree) continue;
				this.tree = tree;
				done();
				return;
			}
			this.timer = setTimeout(turn);
		};
		this.timer = setTimeout(turn);
	}

	stop(): void {
		clearTimeout(this.timer);
	}

	// Line `index` in pieces; one plain piece until the tree is there.
	tokens(index: number): Token[] {
		const line = this.lines[index] ?? "";
		const shown = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
		if (!this.tree) return [{ text: shown, style: "" }];
		const from = this.starts[index]!;
		const to = from + Math.min(line.length, LONGEST_LINE);
		const tokens: Token[] = [];
		let at = from;
		const put = (end: number, style: string) => {
			if (end > at) tokens.push({ text: this.text.slice(at, end), style });
			at = Math.max(at, end);
		};
		highlightTree(this.tree, STYLES, (start, end, style) => {
			put(Math.min(Math.max(start, from), to), "");
			put(Math.min(end, to), style);
		}, from, to);
		put(to, "");
		if (line.length > LONGEST_LINE) tokens.push({ text: "…", style: "" });
		return tokens;
	}
}

// The same pieces, cut where the hot part begins and ends.
export function markHot(tokens: readonly Token[], start: number, end: number): (Token & { isHot: boolean })[] {
	const out: (Token & { isHot: boolean })[] = [];
	let at = 0;
	for (const token of tokens) {
		const cuts = [0, start - at, end - at, token.text.length]
			.map((cut) => Math.min(Math.max(cut, 0), token.text.length));
		for (let i = 0; i < 3; i++)
			if (cuts[i + 1]! > cuts[i]!)
				out.push({ text: token.text.slice(cuts[i], cuts[i + 1]), style: token.style, isHot: i === 1 });
		at += token.text.length;
	}
	return out;
}

// Columns count bytes of UTF-8, texts count units of UTF-16.
export function unitsOfBytes(text: string, bytes: number): number {
	let seen = 0;
	let i = 0;
	while (i < text.length && seen < bytes) {
		const code = text.codePointAt(i)!;
		seen += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		i += code < 0x10000 ? 1 : 2;
	}
	return i;
}
