/* gpu.h - what the processes of a run have GPUs do, as it is collected.
 *
 * Two sources.  The agent tells of every kernel and copy, by the stack that
 * launched it (gpu.c books the records).  Where it cannot (CUPTI is missing,
 * not permitted, or somebody else's), utilisation and memory are sampled from
 * outside through NVML, and what the GPUs did meanwhile goes to the line at
 * which the main thread is seen (gpu_sample.c).
 *
 * When a GPU idles, what did Python do?  When each of them worked is kept for the
 * whole run (gpu_busy.c), and so is what the main threads did, and the two are
 * compared when a profile is made (gpu_idle.c).  Times here are since the start
 * of the run. */
#ifndef HEATLINE_COLLECT_GPU_H
#define HEATLINE_COLLECT_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "profile/model.h"
#include "wire/record.h"

struct collector;
struct intern;
struct process;
struct nvml;

/* A device, whichever number a process has for it. */
struct gpu_card {
	const char *name; /* interned */
	const char *bus;  /* interned; "" when not known */
	double memory_bytes;
	VEC(float) busy; /* nanoseconds of work in each slot of time */
	double taken_bytes, peak_bytes; /* by all processes */
};

/* What a process knows of GPUs. */
struct gpu_user {
	bool is_on;  /* every kernel is told */
	bool is_off; /* it is not, though CUDA is used */
	uint64_t look_ns; /* when it was last asked whether it uses CUDA */
	VEC(uint32_t) sites; /* its sites to nodes; 0: not known */
	uint32_t cards[GPU_MAX_DEVICES]; /* its devices: index + 1, or 0 */
	double taken_bytes[GPU_MAX_DEVICES];
};

/* What a node of the tree had GPUs do. */
struct gpu_node {
	uint32_t node;
	struct gpu_figures figures;
	double sampled_s; /* GPU time by samples of utilisation */
	double settled_s; /* idle time here that is not compared again */
	double host_s;    /* of a main thread, here, beside any idle time */
};

/* A stretch of time during which GPUs worked for busy_ns. */
struct gpu_span {
	uint64_t begin_ns, end_ns, busy_ns;
};

/* Time of a main thread, at a node of the tree. */
struct gpu_host_time {
	uint64_t begin_ns, end_ns;
	uint32_t node;
};

struct gpu {
	VEC(struct gpu_card) cards;
	struct map node_index; /* of the tree, to nodes */
	VEC(struct gpu_node) nodes;
	bool is_foreign;  /* the program is started with a profiler of its own */
	const char *note; /* interned; why there is no more; NULL */
	bool is_sampled;  /* some process is sampled by NVML */
	struct nvml *nvml; /* owned; NULL: not open */
	bool is_nvml_refused; /* it cannot be opened */
	uint64_t sampled_ns; /* when NVML was last asked */
	double taken_bytes; /* of all cards */

	/* over time */
	uint64_t bin_ns;
	uint32_t bins;
	double bin_bytes[GPU_MAX_BINS];

	uint64_t slot_ns; /* of the cards' busy; a bin is some slots */
	uint64_t first_ns, last_ns; /* of all work; last 0: there was none */
	VEC(struct gpu_host_time) host;
};

/* How long GPUs worked in each slot of time. */
struct gpu_busy {
	float *slots; /* owned by the caller */
	uint32_t count;
};

void gpu_init(struct gpu *gpu);
void gpu_fini(struct gpu *gpu);

/* --- gpu.c --- */

/* Each returns false when the record makes no sense. */
bool gpu_on_state(struct collector *collector, struct process *process,
		  const struct record_gpu_state *record);
bool gpu_on_device(struct collector *collector, struct process *process,
		   const struct record_gpu_device *record);
bool gpu_on_site(struct collector *collector, struct process *process,
		 const struct record_gpu_site *record);
bool gpu_on_work(struct collector *collector, struct process *process,
		 const struct record_gpu_work *record);
bool gpu_on_span(struct collector *collector, struct process *process,
		 const struct record_gpu_span *record);

/* The process has ended: its memory is free. */
void gpu_on_end(struct collector *collector, struct process *process);

/* What is kept for a node of the tree, made when missing; valid until the next
 * is made. */
struct gpu_node *gpu_node_of(struct gpu *gpu, uint32_t node);

/* The card with this bus; else that with this name and no bus; made when
 * missing.  The index. */
uint32_t gpu_card_index(struct gpu *gpu, struct intern *strings, const char *bus,
			const char *name);

/* Puts the memory that is taken on the timeline. */
void gpu_note_memory(struct gpu *gpu, uint64_t at_ns);

/* --- gpu_busy.c --- */

/* A card, by its index, has worked. */
void gpu_busy_add(struct gpu *gpu, uint32_t index, struct gpu_span span);

double gpu_busy_card_s(const struct gpu *gpu, const struct gpu_card *card);

/* How long any of the cards worked; whole->slots is the caller's to free. */
void gpu_busy_whole(const struct gpu *gpu, struct gpu_busy *whole);

/* --- gpu_idle.c --- */

/* What a main thread did in the ns before end_ns. */
void gpu_idle_host(struct collector *collector, uint32_t node, uint64_t end_ns, uint64_t ns);

/* Tells every node how long GPUs idled meanwhile, as far as is known now. */
void gpu_idle_settle(struct collector *collector);

/* --- gpu_sample.c --- */

/* Whether the driver is told to load a profiler that is not ours. */
bool gpu_is_foreign(void);

/* Once a round: asks NVML where that is needed. */
void gpu_round(struct collector *collector);

/* --- build_gpu.c --- */

/* What is known of a node of the tree, or NULL; its GPU time. */
const struct gpu_node *build_gpu_node(const struct collector *collector, uint32_t node);
double build_gpu_seconds(const struct gpu_node *node);

/* The whole program's use of GPUs, after the stacks have been booked. */
void build_gpu(struct collector *collector, struct profile *profile);

#endif
