import assert from "node:assert/strict";
import { test } from "node:test";
import { count, megabytes, percent, seconds, shortPath, signed } from "./format.ts";
import { markHot, unitsOfBytes } from "./highlight.ts";
import { bareCode } from "./rules.ts";
import { parseQuery } from "./search.ts";

test("seconds, percent, megabytes", () => {
	assert.deepEqual([0, 0.0000123, 0.0123, 0.41, 17.42, 123.4, 659.7, 9999, 9999.6, 359819, 359821].map(seconds), ["0 s", "12 µs", "12.3 ms", "0.41 s", "17.4 s", "123 s", "660 s", "9999 s", "2.8 h", "99.9 h", "100 h"]);
	assert.deepEqual([0, 0.01, 0.05, 36.84, 100].map(percent), ["0%", "<0.1%", "0.1%", "36.8%", "100.0%"]);
	assert.deepEqual([0, 0.0001, 0.5, 69.79, 1710].map(megabytes), ["0 B", "105 B", "512 KB", "69.8 MB", "1.67 GB"]);
	assert.equal(count(1234567), "1,234,567");
	assert.equal(signed(-0.5, seconds), "−0.50 s");
});

test("a path keeps its end", () => {
	assert.equal(shortPath("/a/b/c/file.py:12", 14), "…/c/file.py:12");
	assert.equal(shortPath("a.py", 14), "a.py");
	assert.equal(shortPath("<frozen importlib._bootstrap>:241", 18), "…b._bootstrap>:241");
});

test("search", () => {
	const place = { file: "app/models.py", func: "load", code: "for row in rows:", percent: 3 };
	const found = (query: string) => parseQuery(query)!(place);
	assert.equal(parseQuery("  "), undefined);
	assert.ok(found("ROW") && found("f:models") && found("fn:load") && found(">2%") && found("/r.w/ models"));
	assert.ok(!found("f:row") && !found(">3%") && !found("row absent") && !found("/(/"));
});

test("the hot part is cut out of the pieces", () => {
	const pieces = markHot([{ text: "if ", style: "k" }, { text: "a in b:", style: "" }], 3, 9);
	assert.deepEqual(pieces.filter((piece) => piece.isHot).map((piece) => piece.text), ["a in b"]);
	assert.equal(pieces.map((piece) => piece.text).join(""), "if a in b:");
	assert.equal(unitsOfBytes("aé😀b", 7), 4);
});

test("strings, comments and loops are no search", () => {
	assert.equal(bareCode('x = "in" # in').trim(), 'x = ""');
	assert.ok(!/\bin\b/.test(bareCode("for a in b:")));
	assert.ok(/\bin\b/.test(bareCode("[x for x in y if x in z]")));
});
