import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT, formatState, parseState, type State } from "./state.ts";

test("defaults make an empty address", () => {
	assert.equal(formatState(DEFAULT), "");
	assert.deepEqual(parseState(""), DEFAULT);
	assert.deepEqual(parseState("#"), DEFAULT);
});

test("every key comes back", () => {
	const state: State = {
		view: "source", file: 12, line: 240, mode: "active", sort: "total", isAscending: true, query: "f:x & y=#1",
		range: { from: 1.2, to: 3.4 }, metric: "allocated", thread: 2, isInverted: true, isScopeOnly: true,
		isTable: true, zoom: [3, 14, 15],
	};
	assert.deepEqual(parseState(`#${formatState(state)}`), state);
});

test("nonsense is ignored", () => {
	assert.deepEqual(parseState("#v=nothing&f=x&l=-5&t=3-1&m=__proto__&z=a.b&s=<b>&unknown=1"), DEFAULT);
	assert.equal(parseState("#f=99999999999999999999").file, 0);
});
