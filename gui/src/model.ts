// The profile as the page works with it: every key that a view needs, typed, with one
// unit each (seconds, percent of the total, MB).  Figures are the file's own: nothing is
// recomputed that the file says.  Only Scalene's files have no seconds; theirs are the
// percentages of the elapsed time.

import { readAdvice, type Advice } from "./advice.ts";
import { baseName } from "./format.ts";
import { GPU_FIGURES, readGpu, readLineGpu, type Gpu, type LineGpu } from "./gpu.ts";
import * as raw from "./raw.ts";
import { readStacks, readScaleneStacks, type Stacks } from "./stacks.ts";
import { readMarks, readTimeline, type Mark, type Timeline } from "./timeline.ts";

export interface Times {
	readonly python: number; // seconds, self
	readonly native: number;
	readonly system: number;
	readonly wait: number;
}

export interface Column {
	readonly start: number; // bytes of UTF-8 within the line
	readonly end: number; // -1: to the end of the line
	readonly seconds: number;
}

export interface Leak {
	readonly likelihood: number;
	readonly velocity: number; // MB/s
}

// A line with figures, or a function: then `text` is its name.
export interface Line extends Times {
	readonly file: number; // index in Profile.files
	readonly line: number;
	readonly text: string;
	readonly self: number; // python + native + system + wait
	readonly percent: number; // self, of the total
	readonly inclusive: number; // seconds
	readonly inclusivePercent: number;
	readonly cpu: number;
	readonly cores: number; // part of its own time on a CPU
	readonly idle: number;
	readonly gil: number;
	readonly gc: number;
	readonly waitsFor: string; // what most of the waiting is for, "": unknown
	readonly samples: number | undefined; // unknown in Scalene's files
	readonly low: number | undefined; // 95 % interval of `percent`
	readonly high: number | undefined;
	readonly allocated: number; // MB
	readonly allocations: number;
	readonly pythonFraction: number;
	readonly peak: number;
	readonly average: number;
	readonly kept: number;
	readonly atPeak: number;
	readonly copied: number; // MB in all
	readonly copyRate: number; // MB/s
	readonly gpu: LineGpu;
	readonly awaitPercent: number;
	readonly concurrency: number;
	readonly concurrencyPeak: number;
	readonly tasks: readonly string[];
	readonly memory: readonly [number, number][]; // seconds since the start, MB live
	readonly moments: readonly number[]; // seconds since the start
	readonly columns: readonly Column[];
	readonly regionStart: number;
	readonly loopStart: number;
	readonly functionStart: number;
	readonly leak: Leak | undefined;
}

export interface File {
	readonly index: number;
	readonly path: string;
	readonly name: string; // below the program's folder, or the whole path
	readonly kind: "project" | "packages" | "library";
	readonly percent: number;
	readonly lines: readonly Line[]; // with figures, in order
	readonly functions: readonly Line[];
	readonly source: ReadonlyMap<number, string> | readonly string[]; // what the file holds of its text
	readonly isWhole: boolean; // `source` has every line
}

export interface Thread {
	readonly process: number;
	readonly tid: number; // 0: it stands for many
	readonly name: string;
	readonly isMain: boolean;
	readonly threads: number; // that it stands for
	readonly cpu: number;
	readonly offCpu: number;
	readonly samples: number;
}

export interface Process {
	readonly pid: number;
	readonly parent: number;
	readonly command: string;
	readonly name: string;
	readonly python: string;
	readonly start: number;
	readonly end: number;
	readonly note: string;
}

export interface Memory {
	readonly peak: number;
	readonly peakAt: number | undefined;
	readonly peakPython: number;
	readonly peakRss: number;
	readonly average: number;
	readonly allocated: number;
	readonly allocations: number;
	readonly python: number;
	readonly kept: number;
	readonly copied: number;
	readonly timeline: readonly (readonly [number, number, number])[]; // s, MB live, MB resident
}

export interface Quality {
	readonly samples: number | undefined;
	readonly waitSamples: number; // looks at threads whose waiting is part of the total
	readonly rate: number;
	readonly overhead: number | undefined;
	readonly clock: string;
	readonly lost: readonly { reason: string; count: number }[];
	readonly warnings: readonly string[];
}

export interface Profile {
	readonly program: string;
	readonly args: readonly string[];
	readonly folder: string;
	readonly started: number; // seconds since 1970, 0: unknown
	readonly elapsed: number;
	readonly total: number; // the base of all percentages, seconds
	readonly samples: number; // 0: unknown
	readonly outside: number;
	readonly omitted: number; // part of it on lines that the file has no room for
	readonly times: Times;
	readonly cpu: number;
	readonly idle: number;
	readonly gil: number;
	readonly gc: number;
	readonly version: string;
	readonly python: string;
	readonly machine: string;
	readonly suspended: number; // seconds of the elapsed time that were not profiled
	readonly isPartial: boolean;
	readonly isScalene: boolean;
	readonly gpu: Gpu | undefined; // undefined: no GPU was measured
	readonly hasMemory: boolean;
	readonly memory: Memory;
	readonly quality: Quality;
	readonly processes: readonly Process[];
	readonly threads: readonly Thread[];
	readonly files: readonly File[];
	readonly lines: readonly Line[]; // of all files, hottest first
	readonly functions: readonly Line[];
	readonly leaks: readonly Line[];
	readonly advice: readonly Advice[]; // the most worthwhile first
	readonly marks: readonly Mark[];
	readonly timeline: Timeline | undefined;
	readonly stacks: Stacks | undefined;
	readonly json: raw.Raw;
}

interface Base {
	total: number;
	elapsed: number;
	perfStart: number;
	isScalene: boolean;
}

// Scalene counts the program as well.
function argsOf(program: string, args: string[], isScalene: boolean): string[] {
	return isScalene && args.length > 0 && baseName(args[0]!) === baseName(program) ? args.slice(1) : args;
}

// Throws an Error with one sentence when `value` is no profile at all.
export function readProfile(value: unknown): Profile {
	const top = raw.object(value);
	if (typeof top.files !== "object" || top.files === null || Array.isArray(top.files))
		throw new Error("This is not a profile: it has no “files”.");
	const ours = raw.object(top.heatline);
	const isScalene = !("heatline" in top) || raw.flag(ours.from_scalene);
	const time = raw.object(ours.time);
	const elapsed = raw.number(top.elapsed_time_sec) || raw.number(time.elapsed_s);
	const total = raw.number(time.total_s) || elapsed;
	const base: Base = { total, elapsed, perfStart: raw.number(top.start_time_perf), isScalene };
	const folder = raw.text(top.entrypoint_dir);
	const files = Object.entries(top.files).map(([path, file], index) =>
		readFile(index, path, raw.object(file), folder, base),
	);
	const lines = files.flatMap((file) => file.lines).sort((a, b) => b.self - a.self);
	const stacks = "stacks" in ours ? readStacks(ours.stacks) : readScaleneStacks(top.stacks, base.total);
	return {
		program: raw.text(top.program),
		args: argsOf(raw.text(top.program), raw.texts(top.args), isScalene),
		folder,
		started: raw.number(top.start_time_absolute),
		elapsed,
		total,
		samples: raw.number(time.samples),
		outside: raw.number(time.outside_s),
		omitted: raw.number(time.omitted_s),
		times: "python_s" in time ? readTimes(time) : sumTimes(lines),
		cpu: raw.number(time.cpu_s),
		idle: raw.number(time.idle_s),
		gil: raw.number(time.gil_s),
		gc: raw.number(time.gc_s),
		version: raw.text(ours.version),
		python: raw.text(ours.python),
		machine: raw.text(ours.machine),
		suspended: raw.number(ours.suspended_s),
		isPartial: raw.flag(ours.is_partial),
		isScalene,
		gpu: readGpu(top, ours.gpu),
		hasMemory: raw.flag(top.memory),
		memory: readMemory(top, raw.object(ours.memory), lines),
		quality: readQuality(raw.object(ours.quality)),
		processes: raw.list(ours.processes).map(raw.object).map(readProcess),
		threads: raw.list(ours.threads).map(raw.object).map(readThread),
		files,
		lines,
		functions: files.flatMap((file) => file.functions).sort((a, b) => b.self - a.self),
		leaks: lines
			.filter((line) => line.leak !== undefined)
			.sort((a, b) => (b.leak?.velocity ?? 0) - (a.leak?.velocity ?? 0)),
		advice: readAdvice(ours.advice, files),
		marks: readMarks(ours.marks),
		timeline: readTimeline(ours.timeline),
		stacks,
		json: top,
	};
}

function readTimes(record: raw.Raw): Times {
	return {
		python: raw.number(record.python_s),
		native: raw.number(record.native_s),
		system: raw.number(record.system_s),
		wait: raw.number(record.wait_s),
	};
}

function sumTimes(lines: readonly Times[]): Times {
	const sum = { python: 0, native: 0, system: 0, wait: 0 };
	for (const line of lines) {
		sum.python += line.python;
		sum.native += line.native;
		sum.system += line.system;
		sum.wait += line.wait;
	}
	return sum;
}

function readFile(index: number, path: string, file: raw.Raw, folder: string, base: Base): File {
	const leaks = raw.object(file.leaks);
	const records = raw.list(file.lines).map(raw.object);
	const lines = records.filter(hasFigures).map((record) => readLine(index, record, base, leaks));
	const functions = raw.list(file.functions).map(raw.object).filter(hasFigures)
		.map((record) => readLine(index, record, base, {}));
	const source = readSource(file, records, base);
	return {
		index,
		path,
		name: folder !== "" && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path,
		kind: fileKind(path, folder),
		percent: raw.number(file.percent_cpu_time),
		lines,
		functions,
		source,
		isWhole: Array.isArray(source),
	};
}

function fileKind(path: string, folder: string): File["kind"] {
	if (/\/(site|dist)-packages\//.test(path)) return "packages";
	if (/\/lib(64)?\/python3[^/]*\//.test(path) || path.startsWith("<frozen")) return "library";
	return folder === "" || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`) || !path.startsWith("/") ? "project" : "packages";
}

// The text: all lines as a list where the file has them, else those it has by number.
function readSource(file: raw.Raw, records: readonly raw.Raw[], base: Base): File["source"] {
	if (typeof file.source === "string") return splitLines(file.source);
	const byNumber = new Map<number, string>();
	let isWhole = records.length > 0 && !raw.flag(file.reduced);
	records.forEach((record, i) => {
		const number = raw.number(record.lineno);
		byNumber.set(number, sourceText(record.line, base));
		if (number !== i + 1) isWhole = false;
	});
	return isWhole ? [...byNumber.values()] : byNumber;
}

export function splitLines(source: string): string[] {
	const lines = source.split(/\r\n|\r|\n/);
	if (lines.length > 1 && lines[lines.length - 1] === "") lines.pop();
	return lines;
}

// Scalene escapes & < > (twice) for its own page.
function sourceText(value: unknown, base: Base): string {
	let line = raw.text(value).replace(/[\r\n]+$/, "");
	if (base.isScalene && line.includes("&"))
		for (let i = 0; i < 2; i++)
			line = line.replace(/&(lt|gt|quot|#x27|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? "");
	return line;
}

const ENTITIES: Readonly<Record<string, string>> = {
	lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'", amp: "&",
};

// Most lines of a file have none; looking before reading saves most of the time.
const FIGURES = [
	"n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent", "inclusive_s", "n_malloc_mb", "n_peak_mb", "n_copy_mb", "n_copy_mb_s",
	"idle_s", "n_async_await_percent", "n_at_peak_mb", "n_samples", ...GPU_FIGURES,
] as const;

function hasFigures(record: raw.Raw): boolean {
	return FIGURES.some((key) => raw.number(record[key]) > 0);
}

function readLine(file: number, record: raw.Raw, base: Base, leaks: raw.Raw): Line {
	const share = (key: string) => (raw.number(record[key]) * base.total) / 100;
	const wait = raw.optionalNumber(record.wait_s) ?? share("n_wait_percent");
	const times: Times = "python_s" in record
		? readTimes(record)
		: {
			python: share("n_cpu_percent_python"),
			native: share("n_cpu_percent_c"),
			system: Math.max(0, share("n_sys_percent") - wait),
			wait,
		};
	const self = times.python + times.native + times.system + times.wait;
	const lineno = raw.number(record.lineno);
	const leak = leaks[String(lineno)];
	return {
		...times,
		file,
		line: lineno,
		text: sourceText(record.line, base),
		self,
		percent: raw.number(record.n_cpu_percent_python) + raw.number(record.n_cpu_percent_c) +
			raw.number(record.n_sys_percent),
		inclusive: raw.optionalNumber(record.inclusive_s) ?? share("n_inclusive_percent"),
		inclusivePercent: raw.number(record.n_inclusive_percent),
		cpu: raw.number(record.cpu_s),
		cores: raw.number(record.n_core_utilization),
		idle: raw.number(record.idle_s),
		gil: raw.number(record.gil_s),
		gc: raw.number(record.gc_s),
		waitsFor: raw.text(record.waits_for),
		samples: raw.optionalNumber(record.n_samples),
		low: raw.optionalNumber(record.n_percent_low),
		high: raw.optionalNumber(record.n_percent_high),
		allocated: raw.number(record.n_malloc_mb),
		allocations: raw.number(record.n_mallocs),
		pythonFraction: raw.number(record.n_python_fraction),
		peak: raw.number(record.n_peak_mb),
		average: raw.number(record.n_avg_mb),
		kept: raw.number(record.n_kept_mb),
		atPeak: raw.number(record.n_at_peak_mb),
		copied: raw.optionalNumber(record.n_copy_mb) ?? 0,
		copyRate: raw.number(record.n_copy_mb_s),
		gpu: readLineGpu(record, base.elapsed),
		awaitPercent: raw.number(record.n_async_await_percent),
		concurrency: raw.number(record.n_async_concurrency_mean),
		concurrencyPeak: raw.number(record.n_async_concurrency_peak),
		tasks: raw.texts(record.async_task_names),
		memory: raw.pairs(record.memory_samples).map(([ns, mb]) => [ns / 1e9, mb]),
		moments: raw.numbers(record.cpu_samples_list).map((moment) => moment - base.perfStart),
		columns: readColumns(record, lineno),
		regionStart: raw.number(record.start_region_line),
		loopStart: raw.number(record.start_outermost_loop),
		functionStart: raw.number(record.start_function_line),
		leak: leak === undefined ? undefined : readLeak(raw.object(leak)),
	};
}

function readLeak(leak: raw.Raw): Leak {
	return { likelihood: raw.number(leak.likelihood), velocity: raw.number(leak.velocity_mb_s) };
}

function readColumns(record: raw.Raw, lineno: number): Column[] {
	const columns: Column[] = [];
	for (const item of raw.list(record.columns)) {
		const [line, start, endLine, end, seconds] = raw.numbers(item);
		if (line !== lineno || start === undefined) continue;
		columns.push({ start, end: endLine === lineno ? end ?? -1 : -1, seconds: seconds ?? 0 });
	}
	return columns;
}

function readMemory(top: raw.Raw, ours: raw.Raw, lines: readonly Line[]): Memory {
	const peak = raw.number(top.max_footprint_mb) || raw.number(ours.peak_mb);
	const sum = (get: (line: Line) => number) => lines.reduce((n, line) => n + get(line), 0);
	const timeline = raw.list(ours.timeline).map((point): [number, number, number] => {
		const [s, live, resident] = raw.numbers(point);
		return [s ?? 0, live ?? 0, resident ?? 0];
	});
	return {
		peak,
		peakAt: raw.optionalNumber(ours.peak_s),
		peakPython: raw.optionalNumber(ours.peak_python_mb) ?? peak * raw.number(top.max_footprint_python_fraction),
		peakRss: raw.number(ours.peak_rss_mb),
		average: raw.number(ours.average_mb),
		allocated: raw.optionalNumber(ours.allocated_mb) ?? sum((line) => line.allocated),
		allocations: raw.number(ours.allocations),
		python: raw.number(ours.python_mb),
		kept: raw.number(ours.kept_mb),
		copied: raw.optionalNumber(ours.copied_mb) ?? sum((line) => line.copied),
		timeline: timeline.length > 0
			? timeline
			: raw.pairs(top.samples).map(([ns, mb]) => [ns / 1e9, mb, 0] as const),
	};
}

function readQuality(record: raw.Raw): Quality {
	return {
		samples: raw.optionalNumber(record.samples),
		waitSamples: Math.max(0, raw.number(record.wait_samples) - raw.number(record.idle_samples)),
		rate: raw.number(record.rate_hz),
		overhead: raw.optionalNumber(record.overhead_percent),
		clock: raw.text(record.clock),
		lost: raw.list(record.lost).map(raw.object).map((lost) => ({
			reason: raw.text(lost.reason),
			count: raw.number(lost.count),
		})),
		warnings: raw.texts(record.warnings),
	};
}

function readProcess(record: raw.Raw): Process {
	return {
		pid: raw.number(record.pid),
		parent: raw.number(record.parent_pid),
		command: raw.text(record.command),
		name: raw.text(record.name),
		python: raw.text(record.python),
		start: raw.number(record.start_s),
		end: raw.number(record.end_s),
		note: raw.text(record.note),
	};
}

function readThread(record: raw.Raw): Thread {
	return {
		process: raw.number(record.process),
		tid: raw.number(record.tid),
		name: raw.text(record.name),
		isMain: raw.flag(record.is_main),
		threads: raw.number(record.joined) || 1,
		cpu: raw.number(record.cpu_s),
		offCpu: raw.number(record.off_cpu_s),
		samples: raw.number(record.samples),
	};
}
