/* gpu.h - what lines and the program had the GPUs do; part of the model.
 *
 * Always: gpu_s of a record (in struct metrics) = kernel_s + copy_s where the
 * source is CUPTI; where it is NVML the two are 0. */
#ifndef HEATLINE_PROFILE_GPU_H
#define HEATLINE_PROFILE_GPU_H

#include <stdint.h>

/* Of a line, a function, or the whole. */
struct gpu_figures {
	double kernel_s, copy_s; /* on the device */
	double wait_s;           /* Python blocked on a device */
	double idle_s;           /* the main thread was here while no device worked */
	double launches, waits;  /* counts: kernels, times blocked */
	double copied_bytes, to_device_bytes, from_device_bytes;
	double alloc_bytes;      /* taken from the driver */
	double memory_byte_s;    /* device memory in use, summed over the GPU time */
	double peak_bytes;       /* most of it */
};

struct gpu_device {
	const char *name;    /* interned */
	double memory_bytes; /* that it has */
	double busy_s;
	double peak_bytes;   /* most that the program had taken of it */
};

#define GPU_MAX_DEVICES 64u
#define GPU_MAX_BINS 200u

/* The program's use of GPUs. */
struct profile_gpu {
	const char *source; /* "cupti" or "nvml"; interned; NULL: no GPU was used */
	const char *note;   /* interned; NULL */
	struct gpu_device *devices; /* owned; at most GPU_MAX_DEVICES */
	uint32_t device_count;
	double busy_s, idle_s;
	struct gpu_figures sum; /* over everything; its idle_s is not used */
	double bin_s;
	uint32_t bins;       /* at most GPU_MAX_BINS */
	double *utilisation; /* owned; percent of each bin */
	double *memory_bytes; /* owned; most in each bin */
};

void gpu_figures_add(struct gpu_figures *sum, const struct gpu_figures *part);

#endif
