/* output.c - from what has been collected to the file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/collector.h"
#include "profile/model.h"
#include "profile/write.h"

#define CHECKPOINT_MAX_BYTES ((size_t)256 << 20)

static int write_profile(const struct run_options *options, const struct profile *profile,
			 const char *path, struct err *err)
{
	struct write_options how = {
		.is_reduced = options->is_reduced,
		.cpu_percent_threshold = options->cpu_percent_threshold,
		.malloc_threshold = options->malloc_threshold,
		.has_stacks = options->has_stacks,
	};
	return profile_write(profile, &how, path, err);
}

/* A profile without a single sample must not replace one that has some. */
static bool would_lose(const struct collector *collector)
{
	return collector->cpu_samples == 0 && collector->wait_samples == 0 &&
	       collector->control->had_outfile != 0;
}

int output_in_between(struct collector *collector)
{
	int status = 0;
	if (collector->options->is_session)
		return -1; /* it has no file */
	processes_drain(collector);
	struct profile *profile = build_profile(collector, true);
	if (profile != NULL && !would_lose(collector))
		status = write_profile(collector->options, profile, collector->options->outfile, NULL);
	profile_free(profile);
	return status;
}

/* The profile so far, into a file of the run's folder. */
static void write_in_folder(struct collector *collector, const char *name)
{
	char *path = path_join(collector->folder, name);
	processes_drain(collector);
	struct profile *profile = build_profile(collector, true);
	if (profile != NULL)
		write_profile(collector->options, profile, path, NULL);
	profile_free(profile);
	free(path);
}

void output_show(struct collector *collector)
{
	write_in_folder(collector, CONTROL_SHOW_FILE);
}

void output_checkpoint(struct collector *collector)
{
	write_in_folder(collector, CHECKPOINT_FILE);
}

/* "name.json" becomes "name-before.json". */
static char *name_before(const char *outfile)
{
	size_t size = strlen(outfile);
	size_t stem = text_ends_with(outfile, ".json") ? size - strlen(".json") : size;
	char *name = mem_alloc(size + sizeof("-before"));
	memcpy(name, outfile, stem);
	memcpy(name + stem, "-before", strlen("-before"));
	memcpy(name + stem + strlen("-before"), outfile + stem, size - stem + 1);
	return name;
}

void output_keep_checkpoint(struct collector *collector)
{
	char *path = path_join(collector->folder, CHECKPOINT_FILE);
	char *name = name_before(collector->control->outfile);
	char *text;
	size_t size;
	if (file_read(path, CHECKPOINT_MAX_BYTES, &text, &size, NULL) == 0) {
		if (file_write(name, text, size, NULL) == 0) {
			collector->before = name;
			name = NULL;
		}
		free(text);
	}
	free(name);
	free(path);
}

void output_finish(struct collector *collector, bool is_partial, struct run_result *result,
		   struct err *err)
{
	result->profile = build_profile(collector, is_partial);
	if (result->profile == NULL && collector->processes.count > 0) {
		const struct process *first = collector->processes.items[0];
		err_set(err, ERR_UNSUPPORTED,
			"the program ran, but its Python %s was not profiled: %s; try another with "
			"--python",
			first->python_text, first->note);
	} else if (result->profile == NULL &&
		   atomic_load(&collector->control->rings_refused) > 0) {
		err_set(err, ERR_TARGET,
			"the program ran, but could make no file in '%s' to report to heatline: %s",
			collector->folder, strerror(atomic_load(&collector->control->refused_error)));
	} else if (result->profile == NULL) {
		err_set(err, ERR_TARGET,
			"the program ran, but it started no Python that could be profiled; give the "
			"command that starts Python, or the script itself");
	} else if (would_lose(collector)) {
		err_set(err, ERR_TARGET,
			collector->is_off || atomic_load(&collector->control->suspended_ns) != 0
				? "profiling was never switched on; '%s' is left as it was"
				: "the program ran too short for a single sample; '%s' is left as it was",
			collector->options->outfile);
	} else if (!collector->options->is_session) {
		result->is_written = write_profile(collector->options, result->profile,
						   collector->options->outfile, err) == 0;
	}
}
