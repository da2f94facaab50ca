/* merge_parts.h - the parts that merge.c puts together; inner header. */
#ifndef HEATLINE_PROFILE_MERGE_PARTS_H
#define HEATLINE_PROFILE_MERGE_PARTS_H

#include "profile/model.h"

struct merge {
	struct profile *into;
	const struct profile *from;
	double shift_s;        /* when `from` begins, since the start of `into` */
	uint32_t *files;       /* owned; of each file of `from` its index in `into` */
	uint32_t thread_shift; /* of `from`'s threads in `into` */
	bool takes_peak;       /* the higher peak is `from`'s */
};

/* Stacks, by thread and over time. */
void merge_stacks(struct merge *merge);

/* The memory of the whole, before anything of a line is merged. */
void merge_whole_memory(struct merge *merge);

/* The memory of a line or function. */
void merge_memory(const struct merge *merge, struct memory *into, const struct memory *from);

/* The waiting of tasks: of the whole, and of a line or function. */
void merge_whole_async(struct merge *merge);
void merge_async(const struct merge *merge, struct async_figures *into,
		 const struct async_figures *from);

/* The GPUs of the whole. */
void merge_whole_gpu(struct merge *merge);

/* Appends points, later by shift_s, and keeps at most `most` of them. */
struct memory_point *merge_points(struct memory_point *into, uint32_t *count,
				  const struct memory_point *from, uint32_t from_count,
				  double shift_s, uint32_t most);

#endif
