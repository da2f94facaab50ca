/* nvml.h - NVIDIA's management library, opened at run time.
 *
 * Tells of a GPU from outside: its name, how busy it was lately, how much of its
 * memory a process has.  Nothing of it is linked. */
#ifndef HEATLINE_COLLECT_NVML_H
#define HEATLINE_COLLECT_NVML_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct nvml;

/* Opens the library and counts its GPUs; NULL with err filled when the library
 * is missing, does not work, or there is no GPU. */
struct nvml *nvml_open(struct err *err);
void nvml_close(struct nvml *nvml); /* accepts NULL */

uint32_t nvml_count(const struct nvml *nvml);

/* Name (NUL-terminated), bus ("" when not known) and size of a device's memory. */
void nvml_describe(const struct nvml *nvml, uint32_t device, char name[96], char bus[16],
		   double *memory_bytes);

/* How busy the device was lately, 0 to 1, and how much of its memory is in use;
 * false when it does not say. */
bool nvml_sample(const struct nvml *nvml, uint32_t device, double *busy, double *used_bytes);

/* Memory that a process has of the device; false when it is not listed there
 * (it does not use it, or has another number in the driver's view). */
bool nvml_process_memory(const struct nvml *nvml, uint32_t device, pid_t pid, double *bytes);

#endif
