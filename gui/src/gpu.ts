// What the GPU did: for the whole run, over time, and for the line that started the work.
// All of it is absent (`NO_GPU`, undefined) in a profile without GPU figures.

import * as raw from "./raw.ts";

export interface LineGpu {
	readonly percent: number; // of the GPU time of the whole program
	readonly seconds: number; // kernels + copies
	readonly kernels: number; // seconds
	readonly copies: number; // seconds
	readonly launches: number;
	readonly toDevice: number; // MB
	readonly fromDevice: number; // MB
	readonly copied: number; // MB, both directions and within the device
	readonly wait: number; // seconds that Python was blocked on the device
	readonly waits: number; // how often
	readonly idle: number; // seconds of the main thread while no device had work
	readonly allocated: number; // MB
	readonly average: number; // MB in use
	readonly peak: number; // MB in use
}

export interface Gpu {
	readonly source: string; // "cupti": exact; "nvml": utilisation that was sampled
	readonly device: string; // names, joined
	readonly deviceMemory: number; // MB, all devices; 0: unknown
	readonly busy: number; // seconds
	readonly idle: number;
	readonly wait: number;
	readonly waits: number;
	readonly launches: number;
	readonly peak: number; // MB that the program had taken at most
	readonly binSeconds: number; // width of the bins of both lists, 0: none
	readonly utilisation: readonly number[]; // percent
	readonly memory: readonly number[]; // MB
	readonly note: string;
}

const NO_GPU: LineGpu = {
	percent: 0, seconds: 0, kernels: 0, copies: 0, launches: 0, toDevice: 0, fromDevice: 0, copied: 0, wait: 0, waits: 0, idle: 0,
	allocated: 0, average: 0, peak: 0,
};

// Keys of which one at least is above 0 where a line has something to do with the GPU.
export const GPU_FIGURES = ["n_gpu_percent", "gpu_s", "gpu_wait_s", "gpu_idle_s", "gpu_launches", "gpu_alloc_mb", "n_gpu_peak_memory_mb"] as const;

// `elapsed` gives Scalene's percentages, which are of it, their seconds.
export function readLineGpu(record: raw.Raw, elapsed: number): LineGpu {
	if (!GPU_FIGURES.some((key) => raw.number(record[key]) > 0)) return NO_GPU;
	const percent = raw.number(record.n_gpu_percent);
	const toDevice = raw.number(record.gpu_to_device_mb);
	const fromDevice = raw.number(record.gpu_from_device_mb);
	return {
		percent,
		seconds: raw.optionalNumber(record.gpu_s) ?? (percent * elapsed) / 100,
		kernels: raw.number(record.gpu_kernel_s),
		copies: raw.number(record.gpu_copy_s),
		launches: raw.number(record.gpu_launches),
		toDevice,
		fromDevice,
		copied: raw.optionalNumber(record.gpu_copied_mb) ?? toDevice + fromDevice,
		wait: raw.number(record.gpu_wait_s),
		waits: raw.number(record.gpu_waits),
		idle: raw.number(record.gpu_idle_s),
		allocated: raw.number(record.gpu_alloc_mb),
		average: raw.number(record.n_gpu_avg_memory_mb),
		peak: raw.number(record.n_gpu_peak_memory_mb),
	};
}

const MOST_BINS = 10_000;

export function readGpu(top: raw.Raw, value: unknown): Gpu | undefined {
	if (!raw.flag(top.gpu)) return undefined;
	const record = raw.object(value);
	const devices = raw.list(record.devices).map(raw.object);
	const memory = raw.numbers(record.memory_mb).slice(0, MOST_BINS);
	return {
		source: raw.text(record.source),
		device: devices.map((device) => raw.text(device.name)).filter(Boolean).join(", ") || raw.text(top.gpu_device),
		deviceMemory: devices.reduce((sum, device) => sum + raw.number(device.memory_mb), 0),
		busy: raw.number(record.busy_s),
		idle: raw.number(record.idle_s),
		wait: raw.number(record.wait_s),
		waits: raw.number(record.waits),
		launches: raw.number(record.launches),
		peak: memory.reduce((most, mb) => Math.max(most, mb), 0),
		binSeconds: raw.number(record.bin_s),
		utilisation: raw.numbers(record.utilisation).slice(0, MOST_BINS),
		memory,
		note: raw.text(record.note),
	};
}

export function gpuBusyShare(gpu: Gpu): number {
	return gpu.busy > 0 ? gpu.busy / (gpu.busy + gpu.idle) : 0;
}
