/* prompt_figures.c - the figures of a place as sentences. */
#include "suggest/prompt_figures.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#define MAX_CALLERS 5u
#define WORTH_TELLING_MB 0.05

static void put_time(struct buf *out, const struct profile *profile, const struct metrics *self)
{
	double seconds = metrics_seconds(self), low, high;
	const char *waits = metrics_waits_for(self);

	buf_text(out, "- time: ");
	buf_seconds(out, seconds);
	buf_printf(out, ", %.1f%%", profile_percent(profile, seconds));
	if (self->samples && profile->total_s > 0) {
		profile_share_interval(seconds / profile->total_s, self->samples, &low, &high);
		buf_printf(out, " (%.0f to %.0f%% with 95%% certainty, %llu samples)", 100 * low,
			   100 * high, (unsigned long long)self->samples);
	}
	buf_printf(out, ": %.1f%% in Python code, %.1f%% in native code, %.1f%% in the system, "
			"%.1f%% waiting", profile_percent(profile, self->python_s),
		   profile_percent(profile, self->native_s), profile_percent(profile, self->system_s),
		   profile_percent(profile, self->wait_s));
	if (waits && self->wait_s > 0)
		buf_printf(out, " (mostly for: %s)", waits);
	buf_text(out, "\n");
	if (self->gc_s > 0.01 * profile->total_s)
		buf_printf(out, "- part of it is garbage collection: %.1f%%\n",
			   profile_percent(profile, self->gc_s));
}

static void put_memory(struct buf *out, const struct metrics *self, const struct memory *memory)
{
	if (self->alloc_bytes < WORTH_TELLING_MB * MB && self->copy_bytes < WORTH_TELLING_MB * MB)
		return;
	buf_printf(out, "- memory: %.1f MB allocated in about %.0f allocations, at most %.1f MB "
			"at once, %.1f MB never given back, %.1f MB copied\n",
		   self->alloc_bytes / MB, memory->alloc_count, memory->peak_bytes / MB,
		   self->kept_bytes / MB, self->copy_bytes / MB);
	if (memory->leak_likelihood > 0.9)
		buf_printf(out, "- it looks like a leak: %.2f MB more each second\n",
			   memory->leak_bytes_per_s / MB);
}

static void put_gpu(struct buf *out, const struct profile *profile, const struct metrics *self,
		    const struct gpu_figures *gpu)
{
	if (!profile->gpu.source || (self->gpu_s <= 0 && gpu->wait_s <= 0))
		return;
	buf_text(out, "- GPU: ");
	buf_seconds(out, self->gpu_s);
	buf_text(out, " of work launched here (");
	buf_seconds(out, gpu->kernel_s);
	buf_text(out, " in kernels, ");
	buf_seconds(out, gpu->copy_s);
	buf_printf(out, " copying), %.0f launches, %.1f MB to the device and %.1f MB from it, Python "
			"blocked on it for ",
		   gpu->launches, gpu->to_device_bytes / MB, gpu->from_device_bytes / MB);
	buf_seconds(out, gpu->wait_s);
	buf_char(out, '\n');
}

/* --- the whole range --- */

static void put_range(struct buf *out, const struct profile *profile,
		      const struct profile_file *file, struct line_range range)
{
	struct metrics sum = {0};
	double inclusive_s = 0;

	for (uint32_t i = 0; i < file->line_count; i++) {
		const struct profile_line *line = &file->lines[i];

		if (line->line < range.first || line->line > range.last)
			continue;
		metrics_add(&sum, &line->self);
		inclusive_s += line->inclusive_s;
	}
	buf_printf(out, "\nMeasured in lines %u to %u together:\n", range.first, range.last);
	put_time(out, profile, &sum);
	if (inclusive_s > 1.05 * metrics_seconds(&sum))
		buf_text(out, "- they also call other functions of the program, which are not "
			      "counted here\n");
	if (sum.alloc_bytes > WORTH_TELLING_MB * MB || sum.copy_bytes > WORTH_TELLING_MB * MB)
		buf_printf(out, "- memory: %.1f MB allocated, %.1f MB never given back, %.1f MB "
				"copied\n", sum.alloc_bytes / MB, sum.kept_bytes / MB,
			   sum.copy_bytes / MB);
}

/* --- callers --- */

struct caller {
	const struct stack_node *node;
	double seconds;
};

static double *inclusive_seconds(const struct profile *profile)
{
	double *seconds = mem_zalloc(profile->stack_count, sizeof(*seconds));

	for (uint32_t i = profile->stack_count; i-- > 0;) {
		seconds[i] += metrics_seconds(&profile->stacks[i].self);
		if (i > 0)
			seconds[profile->stacks[i].parent] += seconds[i];
	}
	return seconds;
}

static bool is_same_place(const struct stack_node *a, const struct stack_node *b)
{
	return a->file == b->file && a->line == b->line && a->function == b->function;
}

/* Books a caller; those beyond the room are left out, which the few hottest never are in
 * a tree that is sorted by nothing: the lightest makes way. */
static void add_caller(struct caller *callers, uint32_t *count, const struct stack_node *node,
		       double seconds)
{
	uint32_t lightest = 0;

	for (uint32_t i = 0; i < *count; i++) {
		if (is_same_place(callers[i].node, node)) {
			callers[i].seconds += seconds;
			return;
		}
		if (callers[i].seconds < callers[lightest].seconds)
			lightest = i;
	}
	if (*count < 4 * MAX_CALLERS)
		callers[(*count)++] = (struct caller){node, seconds};
	else if (callers[lightest].seconds < seconds)
		callers[lightest] = (struct caller){node, seconds};
}

static int compare_callers(const void *left, const void *right)
{
	double a = ((const struct caller *)left)->seconds;
	double b = ((const struct caller *)right)->seconds;

	return (a < b) - (a > b);
}

static void put_callers(struct buf *out, const struct profile *profile,
			const struct prompt_place *place, const char *function)
{
	struct caller callers[4 * MAX_CALLERS];
	double *seconds = inclusive_seconds(profile);
	uint32_t count = 0;

	for (uint32_t i = 1; i < profile->stack_count; i++) {
		const struct stack_node *node = &profile->stacks[i];
		const struct stack_node *parent = &profile->stacks[node->parent];

		if (node->file == place->file && node->line == place->line1 && node->parent &&
		    parent->file < profile->file_count && parent->function &&
		    !text_equal(parent->function, function)) /* it called itself */
			add_caller(callers, &count, parent, seconds[i]);
	}
	qsort(callers, count, sizeof(callers[0]), compare_callers);
	if (count)
		buf_text(out, "\nCalled from:\n");
	for (uint32_t i = 0; i < count && i < MAX_CALLERS; i++)
		buf_printf(out, "- %s, %s line %u: %.1f%%\n", callers[i].node->function,
			   path_basename(profile->files[callers[i].node->file].path),
			   callers[i].node->line, profile_percent(profile, callers[i].seconds));
	free(seconds);
}

/* What the rules (profile/advice.h) have found at the place. */
static void put_advice(struct buf *out, const struct profile *profile,
		       const struct profile_file *file, struct line_range range)
{
	for (uint32_t i = 0; i < profile->advice_count; i++) {
		const struct advice *advice = &profile->advice[i];

		if (text_equal(advice->file, file->path) && advice->line >= range.first &&
		    advice->line <= range.last)
			buf_printf(out, "- line %u, a pattern that is known to be slow: %s. %s %s\n",
				   advice->line, advice->title, advice->evidence, advice->fix);
	}
}

void prompt_put_figures(struct buf *out, const struct profile *profile,
			const struct profile_file *file, const struct prompt_place *place)
{
	const struct profile_line *line = profile_find_line(file, place->line1);
	const struct profile_function *function = line ? profile_find_function(file, line) : NULL;
	struct line_range range = prompt_range(file, place->line1, place->scope);

	buf_printf(out, "\nMeasured at line %u:\n", place->line1);
	if (line) {
		put_time(out, profile, &line->self);
		buf_printf(out, "- with everything that it calls: %.1f%%\n",
			   profile_percent(profile, line->inclusive_s));
		if (profile->has_memory)
			put_memory(out, &line->self, &line->memory);
		put_gpu(out, profile, &line->self, &line->gpu);
		if (line->async.await_s > 0)
			buf_printf(out, "- tasks that wait here: %.*f task-seconds, %.1f at once\n",
				   line->async.await_s < 1 ? 3 : line->async.await_s < 100 ? 1 : 0,
				   line->async.await_s, line->async.concurrency_mean);
	} else {
		buf_text(out, "- nothing: no sample met it\n");
	}
	if (range.last > range.first)
		put_range(out, profile, file, range);
	put_advice(out, profile, file, range);
	put_callers(out, profile, place, function ? function->name : NULL);
}
