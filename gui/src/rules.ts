// What a person who knows profiles would say about one: a reason beside every hot line,
// and what to look at in the program as a whole.  Rules over the file's figures, nothing
// else; each says the figure it rests on.  What to change in a line is the profiler's own
// advice (advice.ts).

import { count, megabytes, percent, seconds, shortPath } from "./format.ts";
import { adviceFor } from "./advice.ts";
import { gpuBusyShare } from "./gpu.ts";
import type { Line, Profile } from "./model.ts";
import type { Slice } from "./slice.ts";

export interface Reason {
	readonly kind: "python" | "native" | "system" | "wait" | "memory" | "gpu";
	readonly text: string;
}

const WAITS: readonly (readonly [RegExp, string])[] = [
	[/\bsleep\s*\(/, "sleeps"],
	[/\bawait\b|\basync (for|with)\b/, "awaits"],
	[/\b(recv|send|sendall|accept|connect|urlopen|socket|request|requests|http|session|fetch|poll|select)\w*\b/i, "waits for a socket"],
	[/\b(subprocess|Popen|communicate|check_output|waitpid)\b/, "waits for a process"],
	[/\b(join|acquire|Lock|lock|Event|Condition|Semaphore|result|as_completed|Queue|queue)\b|\.(wait|get|put)\s*\(/, "waits for a lock or thread"],
	[/\b(read|readline|readlines|write|open|fsync|flush|input)\s*\(/, "waits for a file"],
];

// The profiler's own word for what a line waits for, where it has one.
const WAITS_FOR: Readonly<Record<string, string>> = {
	GIL: "waits for the GIL",
	lock: "waits for a lock or thread",
	queue: "waits for a queue",
	socket: "waits for a socket",
	events: "waits for events",
	file: "waits for a file",
	pipe: "waits for a pipe",
	terminal: "waits for the terminal",
	sleep: "sleeps",
	child: "waits for a process",
};

const NATIVE: readonly (readonly [RegExp, string])[] = [
	[/^\s*(import|from)\s/, "imports"],
	[/\b(sorted\s*\(|\.sort\s*\()/, "native: sorts"],
	[/\bre\.\w+\(|\.(findall|finditer|fullmatch|sub|subn)\s*\(/, "native: regular expression"],
	[/\b(hashlib|pbkdf2|sha\d+|md5|blake2)/, "native: hashes"],
	[/\b(json|pickle|marshal|yaml|csv)\.\w+\(/, "native: reads or writes data"],
	[/\b(np|numpy|scipy|linalg)\.|@/, "native: numpy"],
	[/\b(pd|pandas|df)\b|\.(groupby|merge|apply|agg)\s*\(/, "native: pandas"],
	[/\bin\b/, "native: searches"],
];

function firstMatch(table: readonly (readonly [RegExp, string])[], text: string): string | undefined {
	return table.find(([pattern]) => pattern.test(text))?.[1];
}

// Code without its strings, its comment and the “in” of loops: these are no reason.
export function bareCode(text: string): string {
	return text.replace(/("(\\.|[^"\\])*"|'(\\.|[^'\\])*')/g, '""').replace(/#.*$/, "").replace(/\bfor\b[^:]*?\bin\b/g, "for");
}

const MUCH_COPIED_MB = 100;
const MUCH_OF_PEAK = 0.25;

// At most three, the most telling first.
export function reasonsOf(line: Line, profile: Profile, textOf: (line: number) => string): Reason[] {
	const reasons: Reason[] = [];
	if (line.leak) reasons.push({ kind: "memory", text: `grows ${megabytes(line.leak.velocity)}/s` });
	const isGpuWait = line.gpu.wait > line.self / 3;
	const time = isGpuWait ? undefined : timeReason(line, profile.isScalene, textOf);
	if (time) reasons.push(time);
	// Other threads' waiting too, which is no part of the line's own time.
	if (line.gil > line.self / 3 && time?.text !== WAITS_FOR.GIL) reasons.push({ kind: "wait", text: `${seconds(line.gil)} for the GIL` });
	if (isGpuWait) reasons.push({ kind: "gpu", text: "waits for the GPU" });
	else if (line.gpu.percent >= 1) reasons.push({ kind: "gpu", text: `GPU ${percent(line.gpu.percent)}` });
	if (line.copied >= MUCH_COPIED_MB) reasons.push({ kind: "memory", text: `copies ${megabytes(line.copied)}` });
	const ofPeak = profile.memory.peak > 0 ? line.atPeak / profile.memory.peak : 0;
	if (ofPeak >= MUCH_OF_PEAK) reasons.push({ kind: "memory", text: `holds ${Math.round(ofPeak * 100)}% of the peak` });
	return reasons.slice(0, 3);
}

// To Scalene whatever is off the CPU is the system's.
function timeReason(line: Line, isScalene: boolean, textOf: (line: number) => string): Reason | undefined {
	if (!(line.self > 0)) return undefined;
	const code = bareCode(line.text);
	if (line.gc > line.self / 3) return { kind: "python", text: "garbage collection" };
	if (line.wait > line.self / 2) return { kind: "wait", text: waitReason(line, code) };
	if (line.system > line.self / 2) return { kind: "system", text: isScalene ? "in the kernel, or waits" : "in the kernel" };
	if (/^\s*(import|from)\s/.test(code)) return { kind: "python", text: "imports" };
	if (line.native > line.self / 2) return { kind: "native", text: firstMatch(NATIVE, code) ?? "native code" };
	if (line.python > line.self / 2) return { kind: "python", text: pythonReason(line, code, textOf) };
	return { kind: "python", text: "mixed" };
}

// A task that awaits has the event loop wait for it, in whatever way that does.
function waitReason(line: Line, code: string): string {
	if (/\bawait\b/.test(code)) return "awaits";
	return WAITS_FOR[line.waitsFor] ?? firstMatch(WAITS, code) ?? "waits";
}

function pythonReason(line: Line, code: string, textOf: (line: number) => string): string {
	if (/[[({].*\bfor\b/.test(code)) return "Python loop in one line";
	const region = line.regionStart || line.loopStart;
	if (/^\s*(async\s+)?(for|while)\b/.test(region === line.line ? code : textOf(region))) return "Python loop";
	return "Python code";
}

export interface Finding {
	readonly title: string;
	readonly detail: string;
	readonly line?: Line; // where to look
	readonly weight: number; // share of the run that it is about, for the order
}

const place = (profile: Profile, line: Line) => shortPath(`${profile.files[line.file]?.name ?? "?"}:${line.line}`, 40);

export function findings(profile: Profile, slice: Slice): Finding[] {
	const found = [
		...timeFindings(profile, slice),
		...functionFindings(profile, slice),
		...waitFindings(profile, slice),
		...memoryFindings(profile),
		...threadFindings(profile, slice),
		...gpuFindings(profile),
	].sort((a, b) => b.weight - a.weight);
	return [...qualityFindings(profile), ...found];
}

function timeFindings(profile: Profile, slice: Slice): Finding[] {
	const found: Finding[] = [];
	const { total, times } = slice;
	const hottest = slice.lines[0];
	if (hottest && hottest.percent >= 20 && hottest.wait < hottest.self / 2 && adviceFor(profile.advice, hottest).length === 0)
		found.push({
			title: `One line takes ${percent(hottest.percent)} of the time`,
			detail: `${place(profile, hottest)} ${firstLook(hottest)}`,
			line: hottest,
			weight: hottest.percent,
		});
	const pythonShare = total > 0 ? (times.python / total) * 100 : 0;
	if (pythonShare >= 60)
		found.push({
			title: `The interpreter itself takes ${percent(pythonShare)}`,
			detail: "Loops in Python are the cost: a library call, a comprehension or a better data structure saves most.",
			weight: pythonShare / 2,
		});
	const systemShare = total > 0 ? (times.system / total) * 100 : 0;
	if (systemShare >= 20)
		found.push({
			title: profile.isScalene ? `System and waiting take ${percent(systemShare)}` : `The kernel takes ${percent(systemShare)}`,
			detail: profile.isScalene
				? "Scalene does not tell them apart: system calls and page faults, but also sleep, locks and input."
				: "System calls, or memory touched for the first time (page faults). Larger buffers and arrays that are used again help.",
			line: [...slice.lines].sort((a, b) => b.system - a.system)[0],
			weight: systemShare,
		});
	// A module that is imported has its own imports below it: only the program's count, with all below.
	const imports = slice.lines.filter((line) => /^(import|from)\s/.test(line.text) && profile.files[line.file]?.kind === "project")
		.sort((a, b) => b.inclusive - a.inclusive);
	const importShare = imports.reduce((sum, line) => sum + Math.max(line.percent, line.inclusivePercent), 0);
	if (importShare >= 10)
		found.push({
			title: `Imports take ${percent(importShare)}`,
			detail: "Importing inside the function that needs a module postpones its price.",
			line: imports[0],
			weight: importShare,
		});
	const gcShare = total > 0 ? (slice.gc / total) * 100 : 0;
	if (gcShare >= 5)
		found.push({
			title: `Garbage collection takes ${percent(gcShare)}`,
			detail: "Many container objects live at once. gc.freeze() after set-up, or fewer objects, help.",
			weight: gcShare,
		});
	return found;
}

// The program's heaviest function that is not just the way to all the others.
function functionFindings(profile: Profile, slice: Slice): Finding[] {
	const heaviest = slice.functions
		.filter((func) => profile.files[func.file]?.kind === "project" && func.inclusivePercent >= 20 && func.inclusivePercent <= 80 && !func.text.startsWith("<"))
		.sort((a, b) => b.inclusive - a.inclusive)[0];
	if (!heaviest || heaviest.self > heaviest.inclusive / 2) return [];
	return [{
		title: `${heaviest.text} takes ${percent(heaviest.inclusivePercent)} with what it calls`,
		detail: `${place(profile, heaviest)}: ${seconds(heaviest.inclusive)}, of which ${seconds(heaviest.self)} in itself.`,
		line: { ...heaviest, text: `def ${heaviest.text}` },
		weight: heaviest.inclusivePercent / 2,
	}];
}

function firstLook(line: Line): string {
	if (line.python > line.self / 2) return "spends it in the interpreter: making this line do less pays most.";
	if (line.native > line.self / 2)
		return "spends it in native code: call it less often or with less data; rewriting the Python around it changes little.";
	return "is the first place to look.";
}

function waitFindings(profile: Profile, slice: Slice): Finding[] {
	const share = slice.total > 0 ? (slice.times.wait / slice.total) * 100 : 0;
	const longest = [...slice.lines].sort((a, b) => b.wait - a.wait)[0];
	if (share < 10 || !longest || longest.wait === 0 || longest.gpu.wait > longest.wait / 2) return [];
	return [{
		title: `The main thread waits ${percent(share)} (${seconds(slice.times.wait)})`,
		detail: `Most of it, ${seconds(longest.wait)}, on ${place(profile, longest)}. Waits can overlap: threads, asyncio, or asking for several things at once.`,
		line: longest,
		weight: share,
	}];
}

function memoryFindings(profile: Profile): Finding[] {
	if (!profile.hasMemory) return [];
	const found: Finding[] = [];
	const { memory, elapsed } = profile;
	for (const line of profile.leaks.filter((one) => adviceFor(profile.advice, one).length === 0).slice(0, 3))
		found.push({
			title: `Memory grows ${megabytes(line.leak?.velocity ?? 0)}/s on one line`,
			detail: `${place(profile, line)} keeps ${megabytes(line.kept || line.peak)} (leak likelihood ${percent((line.leak?.likelihood ?? 0) * 100)}).`,
			line,
			weight: 60,
		});
	const most = [...profile.lines].sort((a, b) => b.copied - a.copied)[0];
	if (most && (memory.copied >= 1024 || memory.copied / (elapsed || 1) >= 500))
		found.push({
			title: `${megabytes(memory.copied)} are copied`,
			detail: `Most by ${place(profile, most)}: ${megabytes(most.copied)}. Views, memoryview or in-place operations copy nothing.`,
			line: most,
			weight: 15,
		});
	const churn = [...profile.lines].sort((a, b) => b.allocated - a.allocated)[0];
	if (churn && memory.peak > 0 && memory.allocated > 10 * memory.peak && memory.allocated >= 500)
		found.push({
			title: `${megabytes(memory.allocated)} are allocated to hold at most ${megabytes(memory.peak)}`,
			detail: `${place(profile, churn)} allocates most: ${megabytes(churn.allocated)} in ${count(churn.allocations)} allocations.`,
			line: churn,
			weight: 10,
		});
	const holder = [...profile.lines].sort((a, b) => b.atPeak - a.atPeak)[0];
	if (holder && memory.peak >= 50 && holder.atPeak / memory.peak >= 0.5)
		found.push({
			title: `One line holds ${Math.round((holder.atPeak / memory.peak) * 100)}% of the peak of ${megabytes(memory.peak)}`,
			detail: `${place(profile, holder)} has ${megabytes(holder.atPeak)} live at that moment.`,
			line: holder,
			weight: 12,
		});
	return found;
}

// Where the time is that no line shows: in other files, or on lines that the file has no room for.
function whereOutside(profile: Profile): string {
	const elsewhere = "It is in files out of scope. --profile-all shows them too.";
	if (profile.omitted <= 0) return elsewhere;
	const room = `${seconds(profile.omitted)} of it is on colder lines: a profile keeps those that count most.`;
	return profile.omitted < 0.99 * profile.outside ? `${room} The rest is in files out of scope, which --profile-all shows too.` : room;
}

function threadFindings(profile: Profile, slice: Slice): Finding[] {
	const found: Finding[] = [];
	const share = slice.total > 0 ? (slice.gil / slice.total) * 100 : 0;
	if (share >= 5)
		found.push({
			title: `Threads wait ${seconds(slice.gil)} for the GIL`,
			detail: "Only one thread runs Python at a time: processes, or native code that lets go of it, run side by side.",
			weight: share,
		});
	const outside = profile.total > 0 ? (profile.outside / profile.total) * 100 : 0;
	if (outside >= 10)
		found.push({
			title: `${percent(outside)} of the time is on no line shown`,
			detail: whereOutside(profile),
			weight: outside / 2,
		});
	return found;
}

const MUCH_IDLE = 0.3;
const MUCH_WAITED = 0.1;

// The device beside the program: who starves it, and who stands still for it.
function gpuFindings(profile: Profile): Finding[] {
	const { gpu } = profile;
	if (!gpu || !(gpu.busy > 0)) return [];
	const found: Finding[] = [];
	const idle = 1 - gpuBusyShare(gpu);
	const starver = [...profile.lines].sort((a, b) => b.gpu.idle - a.gpu.idle)[0];
	if (idle >= MUCH_IDLE && starver && starver.gpu.idle > 0)
		found.push({
			title: `The GPU is idle ${percent(idle * 100)} of the time`,
			detail: `Meanwhile ${place(profile, starver)} takes most of that: ${seconds(starver.gpu.idle)}. Data made ready beside the GPU's work, or larger batches, keep it busy.`,
			line: starver,
			weight: idle * 50,
		});
	const longest = [...profile.lines].sort((a, b) => b.gpu.wait - a.gpu.wait)[0];
	if (longest && longest.gpu.wait > 0 && gpu.wait >= MUCH_WAITED * profile.total)
		found.push({
			title: `Python waits ${seconds(gpu.wait)} for the GPU${gpu.waits > 0 ? `, ${count(gpu.waits)} times` : ""}`,
			detail: `Most of it, ${seconds(longest.gpu.wait)}, on ${place(profile, longest)}. Each look at a result waits for all that was started before it: look less often.`,
			line: longest,
			weight: (gpu.wait / profile.total) * 100,
		});
	return found;
}

const FEW_SAMPLES = 100;

function sentence(text: string): string {
	const isWord = /^[a-z]+ /.test(text); // not the name of a file
	return (isWord ? text.charAt(0).toUpperCase() + text.slice(1) : text) + (/[.!?]$/.test(text) ? "" : ".");
}

function qualityFindings(profile: Profile): Finding[] {
	const { quality } = profile;
	const found: Finding[] = quality.warnings.map((warning) => ({ title: "Warning", detail: sentence(warning), weight: 100 }));
	const samples = (quality.samples ?? Infinity) + quality.waitSamples;
	if (samples < FEW_SAMPLES)
		found.push({
			title: `Only ${count(samples)} samples`,
			detail: "The figures are rough. Run the program longer, or on more data.",
			weight: 100,
		});
	if ((quality.overhead ?? 0) >= 5)
		found.push({
			title: `Profiling cost about ${percent(quality.overhead ?? 0)}`,
			detail: "Lines that allocate much may look slower than they are; --cpu-only costs less.",
			weight: 100,
		});
	return found;
}

// Fewer samples than this and a line's share is little more than a guess.
export function isRough(line: Line): boolean {
	return line.samples !== undefined && line.samples > 0 && line.samples < 10 && line.self > 0;
}
