#include "report/outside.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define LEAST_S 1e-6 /* the difference of two sums is seldom 0 */

double outside_before_python(const struct profile *profile)
{
	return profile->process_count == 1 ? fmax(0, profile->processes[0].start_s) : 0;
}

double outside_elsewhere(const struct profile *profile)
{
	double seconds = profile->outside_s - profile->omitted_s;
	return seconds >= LEAST_S ? seconds : 0;
}

static void find_most(struct outside *outside, const struct profile *profile, const double *seconds)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		if (seconds[i] > outside->most_s) {
			outside->most_s = seconds[i];
			outside->most = &profile->files[i];
		}
	}
}

struct outside outside_find(const struct profile *profile)
{
	struct outside outside = {0};
	bool *is_inside = mem_zalloc(profile->stack_count + 1u, sizeof(*is_inside));
	double *seconds = mem_zalloc(profile->file_count + 1u, sizeof(*seconds));

	for (uint32_t i = 1; i < profile->stack_count; i++) {
		const struct stack_node *node = &profile->stacks[i];
		bool has_file = node->file < profile->file_count;

		is_inside[i] = is_inside[node->parent] || (has_file && profile->files[node->file].in_scope);
		if (is_inside[i])
			continue;
		metrics_add(&outside.sum, &node->self);
		if (has_file)
			seconds[node->file] += metrics_seconds(&node->self);
	}
	find_most(&outside, profile, seconds);
	free(is_inside);
	free(seconds);
	return outside;
}
