/* gpu_parts.c - what was done on GPUs: added up, written and read.
 *
 * Scalene's keys and ours; without a GPU a record has only Scalene's, all 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "profile/gpu.h"
#include "profile/read_parts.h"
#include "profile/write_parts.h"

#define DECIMALS_MB 7 /* of a byte, less than half */

void gpu_figures_add(struct gpu_figures *sum, const struct gpu_figures *part)
{
	sum->kernel_s += part->kernel_s;
	sum->copy_s += part->copy_s;
	sum->wait_s += part->wait_s;
	sum->idle_s += part->idle_s;
	sum->launches += part->launches;
	sum->waits += part->waits;
	sum->copied_bytes += part->copied_bytes;
	sum->to_device_bytes += part->to_device_bytes;
	sum->from_device_bytes += part->from_device_bytes;
	sum->alloc_bytes += part->alloc_bytes;
	sum->memory_byte_s += part->memory_byte_s;
	sum->peak_bytes = fmax(sum->peak_bytes, part->peak_bytes);
}

/* Device memory in use, averaged over gpu_s. */
static double average_bytes(const struct gpu_figures *figures, double gpu_s)
{
	return gpu_s > 0 ? fmin(rint(figures->memory_byte_s / gpu_s), figures->peak_bytes) : 0;
}

/* --- writing --- */

static void put_mb(struct json_out *out, const char *key, double bytes)
{
	json_put_number(out, key, bytes / MB, DECIMALS_MB);
}

static void put_count(struct json_out *out, const char *key, double count)
{
	json_put_unsigned(out, key, count > 0 ? (uint64_t)count : 0);
}

void write_scalene_gpu(struct json_out *out, const struct write_plan *plan,
		       const struct metrics *self, const struct gpu_figures *figures)
{
	double whole_s = plan->profile->sum.gpu_s;
	double share = whole_s > 0 ? fmin(100 * self->gpu_s / whole_s, 100) : 0;
	json_put_number(out, "n_gpu_percent", share, DECIMALS_PERCENT);
	put_mb(out, "n_gpu_avg_memory_mb", average_bytes(figures, self->gpu_s));
	put_mb(out, "n_gpu_peak_memory_mb", figures->peak_bytes);
}

void write_own_gpu(struct json_out *out, const struct write_plan *plan, const struct metrics *self,
		   const struct gpu_figures *figures)
{
	if (!plan->profile->gpu.source)
		return;
	json_put_number(out, "gpu_s", self->gpu_s, DECIMALS_SECONDS);
	json_put_number(out, "gpu_kernel_s", figures->kernel_s, DECIMALS_SECONDS);
	json_put_number(out, "gpu_copy_s", figures->copy_s, DECIMALS_SECONDS);
	put_count(out, "gpu_launches", figures->launches);
	put_mb(out, "gpu_copied_mb", figures->copied_bytes);
	put_mb(out, "gpu_to_device_mb", figures->to_device_bytes);
	put_mb(out, "gpu_from_device_mb", figures->from_device_bytes);
	json_put_number(out, "gpu_wait_s", figures->wait_s, DECIMALS_SECONDS);
	put_count(out, "gpu_waits", figures->waits);
	json_put_number(out, "gpu_idle_s", figures->idle_s, DECIMALS_SECONDS);
	put_mb(out, "gpu_alloc_mb", figures->alloc_bytes);
}

void write_gpu_summary(struct json_out *out, const struct profile *profile)
{
	const struct profile_gpu *gpu = &profile->gpu;
	const char *name = gpu->device_count > 0 ? gpu->devices[0].name : "";
	char text[200];
	json_put_bool(out, "gpu", gpu->source != NULL);
	if (gpu->device_count > 1) {
		snprintf(text, sizeof(text), "%s and %u more", name, gpu->device_count - 1);
		name = text;
	}
	json_put_text(out, "gpu_device", name);
}

static void write_devices(struct json_out *out, const struct profile_gpu *gpu)
{
	json_begin_array(out, "devices");
	for (uint32_t i = 0; i < gpu->device_count; i++) {
		const struct gpu_device *device = &gpu->devices[i];
		json_begin_object(out, NULL);
		json_put_text(out, "name", device->name);
		put_mb(out, "memory_mb", device->memory_bytes);
		json_put_number(out, "busy_s", device->busy_s, DECIMALS_SECONDS);
		put_mb(out, "peak_memory_mb", device->peak_bytes);
		json_end_object(out);
	}
	json_end_array(out);
}

static void write_bins(struct json_out *out, const char *key, const double *values, uint32_t count,
		       double unit, int decimals)
{
	json_begin_array(out, key);
	for (uint32_t i = 0; i < count; i++)
		json_put_number(out, NULL, values[i] / unit, decimals);
	json_end_array(out);
}

void write_gpu_object(struct json_out *out, const struct profile *profile)
{
	const struct profile_gpu *gpu = &profile->gpu;
	json_put_newline(out);
	json_begin_object(out, "gpu");
	json_put_text(out, "source", gpu->source);
	json_put_text(out, "note", gpu->note);
	write_devices(out, gpu);
	json_put_number(out, "busy_s", gpu->busy_s, DECIMALS_SECONDS);
	json_put_number(out, "idle_s", gpu->idle_s, DECIMALS_SECONDS);
	json_put_number(out, "gpu_s", profile->sum.gpu_s, DECIMALS_SECONDS);
	json_put_number(out, "kernel_s", gpu->sum.kernel_s, DECIMALS_SECONDS);
	json_put_number(out, "copy_s", gpu->sum.copy_s, DECIMALS_SECONDS);
	put_count(out, "launches", gpu->sum.launches);
	json_put_number(out, "wait_s", gpu->sum.wait_s, DECIMALS_SECONDS);
	put_count(out, "waits", gpu->sum.waits);
	put_mb(out, "copied_mb", gpu->sum.copied_bytes);
	put_mb(out, "to_device_mb", gpu->sum.to_device_bytes);
	put_mb(out, "from_device_mb", gpu->sum.from_device_bytes);
	put_mb(out, "alloc_mb", gpu->sum.alloc_bytes);
	json_put_number(out, "bin_s", gpu->bin_s, DECIMALS_SECONDS);
	write_bins(out, "utilisation", gpu->utilisation, gpu->bins, 1, 2);
	write_bins(out, "memory_mb", gpu->memory_bytes, gpu->bins, MB, 3);
	json_end_object(out);
}

/* --- reading --- */

static double get_count(struct profile_reader *reader, const json_t *object, const char *key)
{
	return (double)reader_unsigned(reader, object, key, INT64_MAX);
}

void read_gpu_figures(struct profile_reader *reader, const json_t *record, struct metrics *self,
		      struct gpu_figures *figures)
{
	self->gpu_s = reader_number(reader, record, "gpu_s");
	figures->kernel_s = reader_number(reader, record, "gpu_kernel_s");
	figures->copy_s = reader_number(reader, record, "gpu_copy_s");
	figures->launches = get_count(reader, record, "gpu_launches");
	figures->copied_bytes = reader_mb(reader, record, "gpu_copied_mb");
	figures->to_device_bytes = reader_mb(reader, record, "gpu_to_device_mb");
	figures->from_device_bytes = reader_mb(reader, record, "gpu_from_device_mb");
	figures->wait_s = reader_number(reader, record, "gpu_wait_s");
	figures->waits = get_count(reader, record, "gpu_waits");
	figures->idle_s = reader_number(reader, record, "gpu_idle_s");
	figures->alloc_bytes = reader_mb(reader, record, "gpu_alloc_mb");
	figures->peak_bytes = reader_mb(reader, record, "n_gpu_peak_memory_mb");
	figures->memory_byte_s = reader_mb(reader, record, "n_gpu_avg_memory_mb") * self->gpu_s;
}

/* Scalene tells only shares; a second for all makes a percent a hundredth. */
void read_scalene_gpu(struct profile_reader *reader, const json_t *record, struct metrics *self,
		      struct gpu_figures *figures)
{
	self->gpu_s = fmax(0, reader_number(reader, record, "n_gpu_percent") / 100);
	figures->peak_bytes = reader_mb(reader, record, "n_gpu_peak_memory_mb");
	figures->memory_byte_s = reader_mb(reader, record, "n_gpu_avg_memory_mb") * self->gpu_s;
}

static void read_devices(struct profile_reader *reader, const json_t *object,
			 struct profile_gpu *gpu)
{
	const json_t *list = reader_array(reader, object, "devices");
	size_t size = json_array_size(list);
	size_t kept = size < GPU_MAX_DEVICES ? size : GPU_MAX_DEVICES;
	gpu->devices = mem_zalloc(kept, sizeof(*gpu->devices));
	for (size_t i = 0; i < kept; i++) {
		const json_t *item = json_array_get(list, i);
		struct gpu_device *device = &gpu->devices[gpu->device_count++];
		if (!json_is_object(item))
			reader_fail(reader, "an item of \"devices\" is not an object");
		device->name = reader_text(reader, item, "name");
		device->memory_bytes = reader_mb(reader, item, "memory_mb");
		device->busy_s = reader_number(reader, item, "busy_s");
		device->peak_bytes = reader_mb(reader, item, "peak_memory_mb");
		if (!device->name)
			device->name = profile_intern(reader->profile, "GPU");
	}
}

static void read_bins(struct profile_reader *reader, const json_t *object, struct profile_gpu *gpu)
{
	const json_t *busy = reader_array(reader, object, "utilisation");
	const json_t *memory = reader_array(reader, object, "memory_mb");
	size_t size = json_array_size(busy);
	gpu->bins = size < GPU_MAX_BINS ? (uint32_t)size : GPU_MAX_BINS;
	gpu->utilisation = mem_zalloc(gpu->bins, sizeof(*gpu->utilisation));
	gpu->memory_bytes = mem_zalloc(gpu->bins, sizeof(*gpu->memory_bytes));
	for (uint32_t i = 0; i < gpu->bins; i++) {
		gpu->utilisation[i] = reader_item_number(reader, busy, i, "utilisation");
		gpu->memory_bytes[i] = MB * reader_item_number(reader, memory, i, "memory_mb");
	}
}

void read_gpu(struct profile_reader *reader, const json_t *root, const json_t *heatline)
{
	struct profile_gpu *gpu = &reader->profile->gpu;
	const json_t *object = heatline ? reader_object(reader, heatline, "gpu") : NULL;
	if (!heatline && reader_bool(reader, root, "gpu")) {
		gpu->source = profile_intern(reader->profile, "nvml");
		gpu->devices = mem_zalloc(1, sizeof(*gpu->devices));
		const char *name = reader_text(reader, root, "gpu_device");
		gpu->devices[gpu->device_count++].name =
			name && *name ? name : profile_intern(reader->profile, "GPU");
	}
	if (!object)
		return;
	gpu->source = reader_text(reader, object, "source");
	if (!gpu->source)
		reader_fail(reader, "\"gpu\" has no \"source\"");
	gpu->note = reader_text(reader, object, "note");
	gpu->busy_s = reader_number(reader, object, "busy_s");
	gpu->idle_s = reader_number(reader, object, "idle_s");
	reader->profile->sum.gpu_s = reader_number(reader, object, "gpu_s");
	gpu->sum.kernel_s = reader_number(reader, object, "kernel_s");
	gpu->sum.copy_s = reader_number(reader, object, "copy_s");
	gpu->sum.launches = get_count(reader, object, "launches");
	gpu->sum.wait_s = reader_number(reader, object, "wait_s");
	gpu->sum.waits = get_count(reader, object, "waits");
	gpu->sum.copied_bytes = reader_mb(reader, object, "copied_mb");
	gpu->sum.to_device_bytes = reader_mb(reader, object, "to_device_mb");
	gpu->sum.from_device_bytes = reader_mb(reader, object, "from_device_mb");
	gpu->sum.alloc_bytes = reader_mb(reader, object, "alloc_mb");
	gpu->bin_s = reader_number(reader, object, "bin_s");
	read_devices(reader, object, gpu);
	read_bins(reader, object, gpu);
}
