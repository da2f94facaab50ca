/* merge_async.c - the waiting of tasks in two runs, one after the other. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/merge_parts.h"

static void add_name(struct async_figures *figures, const char *name)
{
	for (uint32_t i = 0; i < figures->name_count; i++) {
		if (text_equal(figures->names[i], name))
			return;
	}
	if (figures->name_count == ASYNC_MAX_NAMES)
		return;
	figures->names = mem_resize(figures->names, figures->name_count + 1,
				    sizeof(*figures->names));
	figures->names[figures->name_count++] = name;
}

void merge_async(const struct merge *merge, struct async_figures *into,
		 const struct async_figures *from)
{
	double sum_s = into->await_s + from->await_s;
	if (sum_s > 0)
		into->concurrency_mean = (into->concurrency_mean * into->await_s +
					  from->concurrency_mean * from->await_s) / sum_s;
	into->await_s = sum_s;
	into->concurrency_peak = fmax(into->concurrency_peak, from->concurrency_peak);
	into->is_coroutine = into->is_coroutine || from->is_coroutine;
	for (uint32_t i = 0; i < from->name_count; i++)
		add_name(into, profile_intern(merge->into, from->names[i]));
}

static int compare_steps(const void *a, const void *b)
{
	const struct blocking_step *left = a, *right = b;
	return (left->longest_s < right->longest_s) - (left->longest_s > right->longest_s);
}

static void add_step(struct profile *profile, const struct blocking_step *step)
{
	for (uint32_t i = 0; i < profile->blocking_count; i++) {
		struct blocking_step *known = &profile->blocking[i];
		if (known->line == step->line && text_equal(known->file, step->file) &&
		    text_equal(known->function, step->function)) {
			known->count += step->count;
			known->total_s += step->total_s;
			known->longest_s = fmax(known->longest_s, step->longest_s);
			return;
		}
	}
	profile->blocking = mem_resize(profile->blocking, profile->blocking_count + 1,
				       sizeof(*profile->blocking));
	struct blocking_step *added = &profile->blocking[profile->blocking_count++];
	*added = *step;
	added->file = profile_intern(profile, step->file);
	added->function = profile_intern(profile, step->function);
}

void merge_whole_async(struct merge *merge)
{
	struct profile *into = merge->into;
	into->has_async = into->has_async || merge->from->has_async;
	into->await_s += merge->from->await_s;
	for (uint32_t i = 0; i < merge->from->blocking_count; i++)
		add_step(into, &merge->from->blocking[i]);
	if (into->blocking_count)
		qsort(into->blocking, into->blocking_count, sizeof(*into->blocking), compare_steps);
	if (into->blocking_count > ASYNC_MAX_BLOCKING)
		into->blocking_count = ASYNC_MAX_BLOCKING;
}
