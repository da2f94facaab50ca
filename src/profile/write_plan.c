/* write_plan.c - decide what of a profile goes into the file.
 *
 * Every decision must come out the same for a profile that was written and
 * read back, or writing it again would change it: they depend only on what
 * the file keeps, and what was cut to a maximum is within the maximum. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "base/vec.h"
#include "profile/stack_parts.h"
#include "profile/stack_tree.h"
#include "profile/write_parts.h"

/* Together these keep the largest profile under 5 MiB: a record with figures
 * takes some 1100 bytes, a line without some 550, a node some 50, a moment or
 * point some 20. */
#define MAX_FUNCTIONS 500u
#define MAX_LINES_WITHOUT_FIGURES 2000u
#define MAX_SOURCE_BYTES (512u << 10)
#define MAX_LINE_BYTES 10000u
#define MAX_TIMES 20000u
#define MAX_POINTS 15000u
#define MIN_FILE_BYTES MB /* of memory that make a file worth listing */
#define MAX_TREE_NODES 12000u
#define MAX_TIMELINE_STACKS 12000u
#define MAX_THREAD_STACKS 8000u
#define MAX_IDLE_STACKS 2000u

/* What is left of the maxima. */
struct allowance {
	uint32_t lines;
	size_t source_bytes;
};

/* What it did itself and, less so, what it is part of. */
static double weigh(const struct profile *profile, const struct metrics *self, double inclusive_s)
{
	return metrics_weight(self, &profile->sum) + profile_percent(profile, inclusive_s) / 100;
}

static double await_share(const struct profile *profile, const struct async_figures *async)
{
	return profile->await_s > 0 ? async->await_s / profile->await_s : 0;
}

static double line_weight(const struct write_plan *plan, const struct profile_line *line)
{
	return weigh(plan->profile, &line->self, line->inclusive_s) +
	       await_share(plan->profile, &line->async);
}

static double function_weight(const struct write_plan *plan,
			      const struct profile_function *function)
{
	return weigh(plan->profile, &function->self, function->inclusive_s) +
	       await_share(plan->profile, &function->async);
}

bool write_plan_keeps_line(const struct write_plan *plan, const struct profile_line *line)
{
	return line_weight(plan, line) > plan->line_cut;
}

bool write_plan_keeps_function(const struct write_plan *plan,
			       const struct profile_function *function)
{
	return function_weight(plan, function) > plan->function_cut;
}

static int compare_descending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left < right) - (left > right);
}

/* The weight of the first that is too much; -1 when all may stay. */
static double cut_of(double *weights, uint32_t count, uint32_t maximum)
{
	if (count <= maximum)
		return -1;
	qsort(weights, count, sizeof(*weights), compare_descending);
	return weights[maximum];
}

static void choose_cuts(struct write_plan *plan)
{
	VEC(double) lines = VEC_EMPTY;
	VEC(double) functions = VEC_EMPTY;
	for (uint32_t i = 0; i < plan->profile->file_count; i++) {
		const struct profile_file *file = &plan->profile->files[i];
		for (uint32_t j = 0; j < file->line_count; j++)
			vec_push(&lines, line_weight(plan, &file->lines[j]));
		for (uint32_t j = 0; j < file->function_count; j++)
			vec_push(&functions, function_weight(plan, &file->functions[j]));
	}
	plan->line_cut = cut_of(lines.items, lines.count, PROFILE_LINES_MAX);
	plan->function_cut = cut_of(functions.items, functions.count, MAX_FUNCTIONS);
	vec_free(&lines);
	vec_free(&functions);
}

/* Added up line by line, as the reader will do. */
static void sum_files(struct write_plan *plan)
{
	plan->omitted_s = plan->profile->omitted_s;
	plan->self = mem_zalloc(plan->profile->file_count, sizeof(*plan->self));
	for (uint32_t i = 0; i < plan->profile->file_count; i++) {
		const struct profile_file *file = &plan->profile->files[i];
		for (uint32_t j = 0; j < file->line_count; j++) {
			if (write_plan_keeps_line(plan, &file->lines[j]))
				metrics_add(&plan->self[i], &file->lines[j].self);
			else if (file->in_scope)
				plan->omitted_s += metrics_seconds(&file->lines[j].self);
		}
	}
}

static int compare_files(const void *a, const void *b, void *context)
{
	const struct write_plan *plan = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double left_s = metrics_seconds(&plan->self[left]);
	double right_s = metrics_seconds(&plan->self[right]);
	if (left_s != right_s)
		return left_s > right_s ? -1 : 1;
	double left_bytes = plan->self[left].alloc_bytes;
	double right_bytes = plan->self[right].alloc_bytes;
	if (left_bytes != right_bytes)
		return left_bytes > right_bytes ? -1 : 1;
	return strcmp(plan->profile->files[left].path, plan->profile->files[right].path);
}

static bool has_kept_line(const struct write_plan *plan, const struct profile_file *file)
{
	for (uint32_t i = 0; i < file->line_count; i++) {
		if (write_plan_keeps_line(plan, &file->lines[i]))
			return true;
	}
	return false;
}

static double count_allocs(const struct write_plan *plan, const struct profile_file *file)
{
	double count = 0;
	for (uint32_t i = 0; i < file->line_count; i++) {
		if (write_plan_keeps_line(plan, &file->lines[i]))
			count += file->lines[i].memory.alloc_count;
	}
	return count;
}

/* In percent of the peak; a single block can be all of it. */
static double peak_share(const struct write_plan *plan, const struct profile_file *file)
{
	double bytes = 0, peak_bytes = plan->profile->memory.peak_bytes;
	for (uint32_t i = 0; i < file->line_count; i++) {
		if (write_plan_keeps_line(plan, &file->lines[i]))
			bytes += file->lines[i].memory.at_peak_bytes;
	}
	return bytes >= MIN_FILE_BYTES && peak_bytes > 0 ? 100 * bytes / peak_bytes : 0;
}

static bool is_worth_listing(const struct write_plan *plan, uint32_t index)
{
	const struct profile_file *file = &plan->profile->files[index];
	const struct metrics *self = &plan->self[index];
	double share = profile_percent(plan->profile, metrics_seconds(self));
	if (!file->in_scope || !has_kept_line(plan, file))
		return false;
	double gpu_share = self->gpu_s > 0 ? 100 * self->gpu_s / plan->profile->sum.gpu_s : 0;
	double idle_share = plan->profile->elapsed_s > 0 ? 100 * self->idle_s / plan->profile->elapsed_s
							 : 0;
	double most = fmax(fmax(share, gpu_share), fmax(idle_share, peak_share(plan, file)));
	return most >= plan->options->cpu_percent_threshold ||
	       (self->alloc_bytes >= MIN_FILE_BYTES &&
		count_allocs(plan, file) >= plan->options->malloc_threshold);
}

static void choose_files(struct write_plan *plan)
{
	const struct profile *profile = plan->profile;
	plan->files = mem_alloc(profile->file_count * sizeof(*plan->files));
	for (uint32_t i = 0; i < profile->file_count; i++) {
		if (is_worth_listing(plan, i))
			plan->files[plan->file_count++] = i;
	}
	if (plan->file_count)
		qsort_r(plan->files, plan->file_count, sizeof(*plan->files), compare_files, plan);
	double inside_s = 0;
	for (uint32_t i = 0; i < plan->file_count; i++)
		inside_s += metrics_seconds(&plan->self[plan->files[i]]);
	plan->outside_s = fmax(0, profile->total_s - inside_s);
	plan->omitted_s = fmin(plan->omitted_s, plan->outside_s);
}

/* Counts the lines; UINT32_MAX when one of them is too long to be repeated. */
static uint32_t count_lines(const struct profile_file *file)
{
	uint32_t count = 0;
	const char *at = file->source, *end = file->source + file->source_size;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end;
		if ((size_t)(next - at) > MAX_LINE_BYTES)
			return UINT32_MAX;
		at = next;
		count++;
	}
	return count;
}

static enum file_mode choose_mode(const struct write_plan *plan, const struct profile_file *file,
				  struct allowance *allowance)
{
	if (!file->source || plan->options->is_reduced)
		return FILE_REDUCED;
	uint32_t lines = count_lines(file);
	if (lines <= allowance->lines) {
		allowance->lines -= lines;
		return FILE_ALL_LINES;
	}
	if (file->source_size <= allowance->source_bytes) {
		allowance->source_bytes -= file->source_size;
		return FILE_SOURCE;
	}
	return FILE_REDUCED;
}

static void choose_modes(struct write_plan *plan)
{
	struct allowance allowance = {MAX_LINES_WITHOUT_FIGURES, MAX_SOURCE_BYTES};
	plan->modes = mem_alloc(plan->file_count * sizeof(*plan->modes));
	for (uint32_t i = 0; i < plan->file_count; i++)
		plan->modes[i] = choose_mode(plan, &plan->profile->files[plan->files[i]],
					     &allowance);
}

static uint32_t times_of(const struct profile_line *line)
{
	return line->sample_times;
}

static uint32_t points_of(const struct profile_line *line)
{
	return line->memory_point_count;
}

static uint64_t count_items(const struct write_plan *plan,
			    uint32_t (*items_of)(const struct profile_line *), uint32_t per_line)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < plan->file_count; i++) {
		const struct profile_file *file = &plan->profile->files[plan->files[i]];
		for (uint32_t j = 0; j < file->line_count; j++) {
			uint32_t items = items_of(&file->lines[j]);
			if (write_plan_keeps_line(plan, &file->lines[j]))
				count += items < per_line ? items : per_line;
		}
	}
	return count;
}

/* The largest number for each line with which all stay under the maximum. */
static uint32_t choose_per_line(const struct write_plan *plan,
				uint32_t (*items_of)(const struct profile_line *), uint32_t most)
{
	uint32_t low = 0, high = most;
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;
		if (count_items(plan, items_of, middle) <= most)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static double whole_microseconds(double seconds)
{
	return rint(seconds * 1e6) / 1e6;
}

/* The parts of the folded tree's nodes; the caller frees. */
static struct stack_part *fold_parts(const struct write_plan *plan, const uint32_t *moved_to,
				     const struct stack_part *parts, uint32_t *count, uint32_t keep)
{
	if (*count == 0)
		return NULL;
	struct stack_part *folded = mem_alloc(*count * sizeof(*folded));
	uint32_t *parents = mem_alloc(plan->node_count * sizeof(*parents));
	for (uint32_t i = 0; i < plan->node_count; i++)
		parents[i] = plan->nodes[i].parent;
	for (uint32_t i = 0; i < *count; i++)
		folded[i] = (struct stack_part){moved_to[parts[i].node], parts[i].part, parts[i].us};
	*count = stack_parts_sum(folded, *count);
	*count = stack_parts_fold(folded, *count, parents, plan->node_count, keep);
	free(parents);
	return folded;
}

static void fold_all_parts(struct write_plan *plan, const uint32_t *moved_to)
{
	const struct profile *profile = plan->profile;
	plan->thread_stack_count = profile->thread_stack_count;
	plan->thread_stacks = fold_parts(plan, moved_to, profile->thread_stacks,
					 &plan->thread_stack_count, MAX_THREAD_STACKS);
	plan->idle_stack_count = profile->idle_stack_count;
	plan->idle_stacks = fold_parts(plan, moved_to, profile->idle_stacks, &plan->idle_stack_count,
				       MAX_IDLE_STACKS);
	plan->timeline_stack_count = profile->timeline.stack_count;
	plan->timeline_stacks = fold_parts(plan, moved_to, profile->timeline.stacks,
					   &plan->timeline_stack_count, MAX_TIMELINE_STACKS);
}

static void fold_stacks(struct write_plan *plan)
{
	const struct profile *profile = plan->profile;
	if (!plan->options->has_stacks || profile->stack_count == 0)
		return;
	size_t bytes = profile->stack_count * sizeof(*plan->nodes);
	plan->nodes = mem_alloc(bytes);
	memcpy(plan->nodes, profile->stacks, bytes);
	uint32_t *moved_to = mem_alloc(profile->stack_count * sizeof(*moved_to));
	plan->node_count = stack_tree_fold_to(plan->nodes, profile->stack_count, MAX_TREE_NODES,
					      moved_to);
	fold_all_parts(plan, moved_to);
	free(moved_to);
	for (uint32_t i = 0; i < plan->node_count; i++) {
		struct metrics *self = &plan->nodes[i].self;
		self->python_s = whole_microseconds(self->python_s);
		self->native_s = whole_microseconds(self->native_s);
		self->system_s = whole_microseconds(self->system_s);
		self->wait_s = whole_microseconds(self->wait_s);
	}
}

void write_plan_init(struct write_plan *plan, const struct profile *profile,
		     const struct write_options *options)
{
	*plan = (struct write_plan){.profile = profile, .options = options};
	choose_cuts(plan);
	sum_files(plan);
	choose_files(plan);
	choose_modes(plan);
	plan->times_per_line = choose_per_line(plan, times_of, MAX_TIMES);
	plan->points_per_line = choose_per_line(plan, points_of, MAX_POINTS);
	fold_stacks(plan);
}

void write_plan_fini(struct write_plan *plan)
{
	free(plan->self);
	free(plan->files);
	free(plan->modes);
	free(plan->nodes);
	free(plan->thread_stacks);
	free(plan->idle_stacks);
	free(plan->timeline_stacks);
	*plan = (struct write_plan){0};
}
