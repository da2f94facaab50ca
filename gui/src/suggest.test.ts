import assert from "node:assert/strict";
import { test } from "node:test";
import { EventParser } from "./events.ts";
import { diffLines } from "./suggest.ts";

test("events come whole, however they were cut", () => {
	const text = 'event: text\ndata: "a\\nb"\n\n: a comment\n\nevent: done\r\ndata: {"diff":\r\ndata: "x"}\r\n\r\nevent: error\ndata: no JSON\n\n';
	for (const step of [1, 3, 1000]) {
		const parser = new EventParser();
		const events = [];
		for (let at = 0; at < text.length; at += step) events.push(...parser.feed(text.slice(at, at + step)));
		assert.deepEqual(events, [{ name: "text", data: "a\nb" }, { name: "done", data: { diff: "x" } }, { name: "error", data: "no JSON" }]);
	}
});

test("a diff by line", () => {
	const kinds = diffLines("--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n").map((line) => line.kind);
	assert.deepEqual(kinds, ["hunk", "hunk", "hunk", "same", "remove", "add"]);
});
