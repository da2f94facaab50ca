// A made-up profile of a training script on a GPU, with advice and marks: figures that the
// tests know, whatever the machine can measure.

const SOURCE = [
	"import torch",
	"",
	"def train(model, batches, seen):",
	"    for batch in batches:",
	"        if batch.name in seen:",
	"            continue",
	"        loss = model(batch.to('cuda')).sum()",
	"        loss.backward()",
	"        total = loss.item()",
	"    return total",
	"",
	"train(model, batches, seen)",
];
export const PATH = "/p/train.py";

function line(lineno, figures = {}) {
	return {
		lineno, line: `${SOURCE[lineno - 1]}\n`, n_cpu_percent_python: 0, n_cpu_percent_c: 0, n_sys_percent: 0, n_core_utilization: 0,
		n_gpu_percent: 0, n_gpu_avg_memory_mb: 0, n_gpu_peak_memory_mb: 0, n_malloc_mb: 0, n_peak_mb: 0, n_copy_mb_s: 0,
		start_region_line: lineno > 3 && lineno < 10 ? 4 : lineno, end_region_line: lineno > 3 && lineno < 10 ? 9 : lineno,
		start_outermost_loop: lineno > 3 && lineno < 10 ? 4 : lineno, end_outermost_loop: lineno > 3 && lineno < 10 ? 9 : lineno,
		start_function_line: lineno > 2 && lineno < 11 ? 3 : 0, end_function_line: lineno > 2 && lineno < 11 ? 10 : 0,
		...figures,
	};
}

const times = (python, native, wait = 0) => ({
	python_s: python, native_s: native, system_s: 0, wait_s: wait, n_cpu_percent_python: python * 10, n_cpu_percent_c: native * 10, n_sys_percent: wait * 10,
	n_wait_percent: wait * 10, inclusive_s: python + native + wait, n_inclusive_percent: (python + native + wait) * 10, n_samples: 400,
});

const FIGURES = {
	5: { ...times(0.5, 4.5), gpu_idle_s: 4.2 },
	7: { ...times(1, 0.5), n_gpu_percent: 57, gpu_s: 2, gpu_kernel_s: 1.5, gpu_copy_s: 0.5, gpu_launches: 3000, gpu_copied_mb: 640, gpu_to_device_mb: 640, n_gpu_avg_memory_mb: 900, n_gpu_peak_memory_mb: 1200, gpu_alloc_mb: 800 },
	8: { ...times(0.2, 0.8), n_gpu_percent: 42.7, gpu_s: 1.5, gpu_kernel_s: 1.5, gpu_launches: 6000, n_gpu_peak_memory_mb: 1400 },
	9: { ...times(0, 0.5, 2), gpu_wait_s: 2.4, gpu_waits: 1500, n_gpu_percent: 0.3, gpu_s: 0.01, gpu_copy_s: 0.01, gpu_launches: 1500, gpu_copied_mb: 0.006, gpu_from_device_mb: 0.006 },
};

export function madeProfile() {
	const lines = SOURCE.map((_, i) => line(i + 1, FIGURES[i + 1]));
	return {
		program: PATH, args: [], elapsed_time_sec: 10, entrypoint_dir: "/p", memory: false, gpu: true, gpu_device: "NVIDIA", max_footprint_mb: 0,
		files: { [PATH]: { percent_cpu_time: 100, lines, functions: [{ ...line(3, times(1.7, 6.3, 2)), line: "train", n_gpu_percent: 100, gpu_s: 3.51, gpu_launches: 10_500 }], imports: [], leaks: {} } },
		heatline: {
			version: "0", schema: 1, python: "3.11.2", machine: "test", time: { total_s: 10, ...times(1.7, 6.3, 2) },
			quality: { samples: 1600, wait_samples: 200, rate_hz: 200, lost: [], warnings: [] },
			processes: [{ pid: 7, command: "python train.py", start_s: 0, end_s: 10 }],
			threads: [{ process: 0, tid: 7, name: "MainThread", is_main: true, cpu_s: 8, off_cpu_s: 2, samples: 1600 }],
			gpu: {
				source: "cupti", devices: [{ name: "NVIDIA H200", memory_mb: 143_771 }], busy_s: 3.51, idle_s: 6.49, wait_s: 2.4, bin_s: 1,
				waits: 1500, launches: 10_500,
				utilisation: [0, 50, 40, 40, 50, 30, 40, 50, 50, 0], memory_mb: [0, 400, 1200, 1400, 1400, 1400, 1400, 1400, 1400, 900],
			},
			advice: [{
				rule: "list-membership", file: PATH, line: 5, title: "Searches a list again and again",
				evidence: "4.50 s of native time on `batch.name in seen`.", fix: "A set answers at once.", share: 0.5,
			}],
			marks: [{ s: 0.5, text: "epoch 1", pid: 7 }, { s: 5.2, text: "epoch 2", pid: 7 }, { s: 5.21, text: "first batch", pid: 7 }],
			timeline: {
				bin_s: 1, bins: 10, threads: [{ thread: 0, python: Array(10).fill(170), native: Array(10).fill(630), wait: Array(10).fill(200) }],
				stacks: Array.from({ length: 10 }, (_, bin) => [bin < 5 ? 2 : 3, bin, 1_000_000]),
			},
			stacks: {
				strings: ["<module>", "train", PATH], files: [[2, 1]], functions: [[0, 0, 1], [1, 0, 3]],
				nodes: [[0, -1, 0], [0, 0, 12], [1, 1, 5, 400, 500_000, 4_500_000], [1, 1, 7, 400, 1_200_000, 3_800_000, 0, 0, 5_000_000, 0, 0, 0, 0, 0, 0, 0, 3_510_000]],
				threads: [[2, 0, 5_000_000], [3, 0, 5_000_000]],
			},
		},
	};
}
