// `heatline.timeline`: what every thread did in each of at most 200 stretches of the run,
// and which stacks were there.  From it every view is recomputed for a part of the run.

import * as raw from "./raw.ts";

export const STATES = ["python", "native", "system", "wait", "gil", "gc"] as const;
export type State = (typeof STATES)[number];

export interface ThreadBins {
	readonly thread: number; // index in Profile.threads
	readonly states: Readonly<Record<State, Float64Array>>; // milliseconds a bin
}

export interface Timeline {
	readonly binSeconds: number;
	readonly bins: number;
	readonly threads: readonly ThreadBins[];
	// Parallel lists: microseconds of a stack node within a bin.
	readonly nodes: Int32Array;
	readonly nodeBins: Int32Array;
	readonly nodeTimes: Float64Array;
}

export interface Range {
	readonly from: number; // seconds since the start
	readonly to: number;
}

// Something that the program said of itself.
export interface Mark {
	readonly at: number; // seconds since the start
	readonly text: string;
	readonly pid: number;
}

export function readMarks(value: unknown): Mark[] {
	return raw.list(value).map(raw.object)
		.map((mark) => ({ at: raw.number(mark.s), text: raw.text(mark.text), pid: raw.number(mark.pid) }))
		.sort((a, b) => a.at - b.at);
}

const MOST_BINS = 10_000;

export function readTimeline(value: unknown): Timeline | undefined {
	const record = raw.object(value);
	const bins = raw.number(record.bins);
	const binSeconds = raw.number(record.bin_s);
	if (!(bins >= 1 && bins <= MOST_BINS && binSeconds > 0)) return undefined;
	const threads = raw.list(record.threads).map(raw.object).map((thread): ThreadBins => {
		const states = Object.fromEntries(
			STATES.map((state) => {
				const milliseconds = new Float64Array(bins);
				milliseconds.set(raw.numbers(thread[state]).slice(0, bins));
				return [state, milliseconds];
			}),
		) as Record<State, Float64Array>;
		return { thread: raw.number(thread.thread), states };
	});
	const triples = raw.list(record.stacks);
	const nodes = new Int32Array(triples.length);
	const nodeBins = new Int32Array(triples.length);
	const nodeTimes = new Float64Array(triples.length);
	triples.forEach((item, i) => {
		const triple = raw.list(item);
		nodes[i] = raw.number(triple[0]);
		nodeBins[i] = raw.number(triple[1]);
		nodeTimes[i] = raw.number(triple[2]);
	});
	return { binSeconds, bins, threads, nodes, nodeBins, nodeTimes };
}

// Which bins a range touches: [first, last).  Ranges are whole bins, so that what is
// shown is what was measured.
export function binsOf(timeline: Timeline, range: Range): [number, number] {
	const first = Math.max(0, Math.floor(range.from / timeline.binSeconds + 1e-6));
	const last = Math.min(timeline.bins, Math.ceil(range.to / timeline.binSeconds - 1e-6));
	return [first, Math.max(first, last)];
}

// Microseconds by node within a range.
export function nodeTimesIn(timeline: Timeline, range: Range, nodeCount: number): Float64Array {
	const [first, last] = binsOf(timeline, range);
	const times = new Float64Array(nodeCount);
	for (let i = 0; i < timeline.nodes.length; i++) {
		const bin = timeline.nodeBins[i]!;
		const node = timeline.nodes[i]!;
		if (bin >= first && bin < last && node >= 0 && node < nodeCount)
			times[node]! += timeline.nodeTimes[i]!;
	}
	return times;
}

// Milliseconds by state and bin, of all threads.  Only main threads' waiting counts for
// the total, so `isMain` says whose to add; `gil` and `gc` are parts of the others.
export function sumThreads(timeline: Timeline, isMain: (thread: number) => boolean): Record<State, Float64Array> {
	const sums = Object.fromEntries(
		STATES.map((state) => [state, new Float64Array(timeline.bins)]),
	) as Record<State, Float64Array>;
	for (const one of timeline.threads) {
		for (const state of STATES) {
			if (state === "wait" && !isMain(one.thread)) continue;
			for (let bin = 0; bin < timeline.bins; bin++) sums[state][bin]! += one.states[state][bin]!;
		}
	}
	return sums;
}
