/* write_parts.h - the parts that write.c puts together; inner header. */
#ifndef HEATLINE_PROFILE_WRITE_PARTS_H
#define HEATLINE_PROFILE_WRITE_PARTS_H

#include "base/json_out.h"
#include "profile/model.h"
#include "profile/write.h"

#define DECIMALS_PERCENT 4
#define DECIMALS_SECONDS 9
#define DECIMALS_FRACTION 6
#define DECIMALS_TIME 3

/* How much of a file's source goes in. */
enum file_mode {
	FILE_ALL_LINES, /* every line has its record */
	FILE_SOURCE,    /* records for lines with figures; the source as one text */
	FILE_REDUCED,   /* records for lines with figures; no source */
};

/* What is written, decided before the first byte. */
struct write_plan {
	const struct profile *profile;
	const struct write_options *options;
	double line_cut;       /* lines and functions that weigh no more are left out */
	double function_cut;   /* as above */
	struct metrics *self;  /* owned; of each file in the profile, over the lines kept */
	uint32_t *files;       /* owned; indexes of the files to list, hottest first */
	enum file_mode *modes; /* owned; for each of them */
	uint32_t file_count;
	double outside_s;         /* with all that is not listed */
	double omitted_s;         /* part of it: on lines in scope that are over the maximum */
	uint32_t times_per_line;  /* at most so many moments for a line */
	uint32_t points_per_line; /* at most so many points of its memory over time */
	struct stack_node *nodes; /* owned; the folded stack tree; NULL without stacks */
	uint32_t node_count;
	struct stack_part *thread_stacks; /* owned; for the folded tree */
	uint32_t thread_stack_count;
	struct stack_part *idle_stacks; /* owned; as above */
	uint32_t idle_stack_count;
	struct stack_part *timeline_stacks; /* owned; for the folded tree */
	uint32_t timeline_stack_count;
};

void write_plan_init(struct write_plan *plan, const struct profile *profile,
		     const struct write_options *options);
void write_plan_fini(struct write_plan *plan);

bool write_plan_keeps_line(const struct write_plan *plan, const struct profile_line *line);
bool write_plan_keeps_function(const struct write_plan *plan,
			       const struct profile_function *function);

/* Scalene's memory keys of a record; all 0 when memory was not measured. */
void write_scalene_memory(struct json_out *out, const struct write_plan *plan,
			  const struct metrics *self, const struct memory *memory);

/* "memory_samples": [...]; line is NULL where there are no figures. */
void write_line_points(struct json_out *out, const struct write_plan *plan,
		       const struct profile_line *line);

/* The added memory keys of a record; none when memory was not measured. */
void write_own_memory(struct json_out *out, const struct write_plan *plan,
		      const struct metrics *self, const struct memory *memory);

/* Scalene's GPU keys of a record, and ours; none of these without a GPU. */
void write_scalene_gpu(struct json_out *out, const struct write_plan *plan,
		       const struct metrics *self, const struct gpu_figures *figures);
void write_own_gpu(struct json_out *out, const struct write_plan *plan, const struct metrics *self,
		   const struct gpu_figures *figures);

/* Scalene's GPU keys of the top level; "gpu": {...} of the "heatline" object. */
void write_gpu_summary(struct json_out *out, const struct profile *profile);
void write_gpu_object(struct json_out *out, const struct profile *profile);

/* Waiting of tasks at a line or in a function; nothing where there was none. */
void write_async_figures(struct json_out *out, const struct profile *profile,
			 const struct async_figures *figures);

/* "async": {...} of the "heatline" object. */
void write_async_object(struct json_out *out, const struct profile *profile);

/* "leaks": {...} */
void write_leaks(struct json_out *out, const struct write_plan *plan,
		 const struct profile_file *file);

/* Scalene's memory keys of the top level. */
void write_memory_summary(struct json_out *out, const struct write_plan *plan);

/* "memory": {...} of the "heatline" object. */
void write_memory_object(struct json_out *out, const struct profile *profile);

/* "files": {...} */
void write_files(struct json_out *out, const struct write_plan *plan);

/* "stacks": [...], "combined_stacks": [...] and, where memory was measured,
 * "memory_stacks": [...], in Scalene's shape. */
void write_scalene_stacks(struct json_out *out, const struct write_plan *plan);

/* "stacks": {...}, the whole tree. */
void write_stack_tree(struct json_out *out, const struct write_plan *plan);

/* "name": [[node, part, microseconds], ...] */
void write_stack_parts(struct json_out *out, const char *name, const struct stack_part *parts,
		       uint32_t count);

/* "timeline": {...} */
void write_timeline(struct json_out *out, const struct write_plan *plan);

/* The seconds by kind, as keys of the open object; the rare kinds only where
 * there are any. */
void write_seconds(struct json_out *out, const struct metrics *metrics);

#endif
