/* output.c - from what has been collected to the file. */
#include "collect/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "collect/build.h"
#include "collect/collector.h"
#include "collect/process.h"
#include "collect/rescue.h"
#include "profile/model.h"
#include "profile/write.h"

#define CHECKPOINT_MAX_BYTES ((size_t)256 << 20)

static struct write_options how_to_write(const struct run_options *options)
{
	return (struct write_options){
		.is_reduced = options->is_reduced,
		.cpu_percent_threshold = options->cpu_percent_threshold,
		.malloc_threshold = options->malloc_threshold,
		.has_stacks = options->has_stacks,
	};
}

/* For what more comes of: where it fails nothing is lost. */
static int write_so_far(const struct run_options *options, const struct profile *profile,
			const char *path)
{
	struct write_options how = how_to_write(options);
	return profile_write(profile, &how, path, NULL);
}

/* Whether a line is reported.  The interpreter's own start has samples too, which are none of
 * a line. */
static bool has_lines(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		if (file->in_scope && (file->self.samples > 0 || file->self.gpu_s > 0 ||
				       file->self.alloc_bytes >= MB))
			return true;
	}
	return false;
}

/* A profile without a single line must not replace one that has some. */
static bool would_lose(const struct collector *collector, const struct profile *profile)
{
	return collector->control->had_outfile != 0 && !has_lines(profile);
}

static void tell_left(const struct collector *collector, const struct profile *profile,
		      struct err *err)
{
	const char *why = "the program ended before one of its lines could be sampled";
	if (collector->cpu_samples + collector->wait_samples == 0 &&
	    (collector->is_off || atomic_load(&collector->control->suspended_ns) != 0))
		why = "profiling was never switched on";
	else if (profile->outside_s > 0)
		why = "none of the time was spent in the files that are reported (--profile-all shows "
		      "where it went)";
	err_set(err, ERR_TARGET, "%s, so '%s' is left as it was", why, collector->options->outfile);
}

int output_in_between(struct collector *collector)
{
	int status = 0;
	if (collector->options->is_session)
		return -1; /* it has no file */
	processes_drain(collector);
	struct profile *profile = build_profile(collector, true);
	if (profile != NULL && !would_lose(collector, profile))
		status = write_so_far(collector->options, profile, collector->options->outfile);
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
		write_so_far(collector->options, profile, path);
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
			result->strangers != 0
				? "'%s' ran, but it has started no Python that could be profiled"
				: "'%s' ran, but it started no Python that could be profiled; give the "
				  "command that starts Python, or the script itself (of a program that "
				  "has Python inside: heatline attach PID)",
			collector->options->path);
	} else if (would_lose(collector, result->profile)) {
		result->has_nothing = true;
		tell_left(collector, result->profile, err);
	} else if (!collector->options->is_session) {
		struct write_options how = how_to_write(collector->options);
		result->is_written = rescue_write(result->profile, &how, collector->options->outfile,
						  &result->elsewhere, err) == 0;
	}
}
