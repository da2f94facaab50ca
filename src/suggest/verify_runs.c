/* verify_runs.c - compile, test and profile in the copies. */
#include "suggest/verify_runs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/read.h"
#include "suggest/settings.h"

#define TEST_LIMIT_S 1800.0
#define COMPILE_LIMIT_S 60.0
#define MAX_OUTPUT_BYTES ((size_t)64 << 20)
#define MAX_DETAILS_BYTES 4000u

extern char **environ;

void runner_init(struct verify_runner *runner, const struct verify_plan *plan,
		 const struct verify_options *options)
{
	char self[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	*runner = (struct verify_runner){.plan = plan, .options = options};
	self[size > 0 ? size : 0] = '\0';
	runner->heatline = mem_copy_text(size > 0 ? self : "heatline");
}

void runner_fini(struct verify_runner *runner)
{
	for (int side = 0; side < WORKSPACE_SIDES; side++)
		child_free_words(&runner->environments[side]);
	workspace_fini(&runner->workspace);
	free(runner->heatline);
}

/* The user's environment, less the keys of providers, which a model's code has no business
 * with; the copy's modules are found before installed ones that lead
 * to the original, and sets have the same order in every run. */
static void make_environment(struct verify_runner *runner, int side)
{
	child_words *words = &runner->environments[side];
	const char *root = runner->workspace.sides[side], *own = getenv("PYTHONPATH");
	struct buf path;

	for (char **entry = environ; *entry; entry++) {
		if (!text_starts_with(*entry, "PYTHONPATH=") &&
		    !text_starts_with(*entry, "PYTHONHASHSEED=") && !settings_is_secret(*entry))
			child_add_word(words, *entry);
	}
	buf_init(&path, SIZE_MAX);
	buf_printf(&path, "PYTHONPATH=%s:%s/src%s%s", root, root, own && *own ? ":" : "",
		   own ? own : "");
	child_add_word(words, path.data);
	buf_fini(&path);
	child_add_word(words, "PYTHONHASHSEED=0");
	child_end_words(words);
}

void runner_prepare(struct verify_runner *runner)
{
	for (int side = 0; side < WORKSPACE_SIDES; side++)
		make_environment(runner, side);
}

static char *in_folder(const struct verify_runner *runner, const char *name)
{
	return path_join(runner->workspace.folder, name);
}

/* Where commands run: where the user is, as the copy has it, else at its top. */
static char *working_folder(const struct verify_runner *runner, int side)
{
	char *here = getcwd(NULL, 0);
	bool is_inside = here && path_is_inside(here, runner->workspace.root);
	char *folder = workspace_map(&runner->workspace, side,
				     is_inside ? here : runner->workspace.root);

	free(here);
	return folder;
}

/* Appends the project's own folder where a copy's stands; returns what was passed over. */
static size_t append_original(const struct verify_runner *runner, struct buf *details,
			      const char *at)
{
	for (int side = 0; side < WORKSPACE_SIDES; side++) {
		if (text_starts_with(at, runner->workspace.sides[side])) {
			buf_text(details, runner->workspace.root);
			return strlen(runner->workspace.sides[side]);
		}
	}
	return 0;
}

/* The end of a file, with the paths of the original. */
static void append_end(const struct verify_runner *runner, struct buf *details, const char *path)
{
	size_t size;
	char *text;

	if (file_read(path, MAX_OUTPUT_BYTES, &text, &size, NULL) != 0)
		return;
	const char *at = size > MAX_DETAILS_BYTES ? text + size - MAX_DETAILS_BYTES : text;
	while (*at) {
		size_t passed = *at == '/' ? append_original(runner, details, at) : 0;

		if (passed)
			at += passed;
		else
			buf_char(details, *at++);
	}
	free(text);
}

/* Runs the words in a copy; errors NULL: both outputs into one file. */
static int run_words(struct verify_runner *runner, int side, child_words *words,
		     const char *output, const char *errors, double limit_s,
		     struct child_result *result, struct err *err)
{
	char *folder = working_folder(runner, side);

	child_end_words(words);
	const struct child child = {
		.argv = words->items,
		.environment = runner->environments[side].items,
		.folder = folder,
		.output = output,
		.errors = errors ? errors : output,
		.limit_s = limit_s,
		.is_cancelled = runner->options->is_cancelled,
		.closure = runner->options->closure,
	};
	int status = child_run(&child, result, err);
	free(folder);
	return status;
}

static int run_check(struct verify_runner *runner, int side, child_words *words, double limit_s,
		     bool *is_good, struct buf *details, struct err *err)
{
	char *output = in_folder(runner, "output");
	struct child_result result;
	int status = run_words(runner, side, words, output, NULL, limit_s, &result, err);

	*is_good = !status && !result.is_late && result.status == 0;
	if (!status && !*is_good)
		append_end(runner, details, output);
	free(output);
	return status;
}

int runner_compile(struct verify_runner *runner, bool *is_good, struct buf *details,
		   struct err *err)
{
	child_words words = VEC_EMPTY;
	char *file = workspace_map(&runner->workspace, WORKSPACE_AFTER, runner->plan->file);

	child_add_word(&words, runner->plan->python ? runner->plan->python : "python3");
	child_add_word(&words, "-m");
	child_add_word(&words, "py_compile");
	child_add_word(&words, file);
	int status = run_check(runner, WORKSPACE_AFTER, &words, COMPILE_LIMIT_S, is_good, details,
			       err);
	child_free_words(&words);
	free(file);
	return status;
}

int runner_test(struct verify_runner *runner, int side, bool *is_good, struct buf *details,
		struct err *err)
{
	child_words words = VEC_EMPTY, mapped = VEC_EMPTY;
	int status = child_split(runner->options->test, &words, err);

	for (uint32_t i = 0; i < words.count; i++)
		vec_push(&mapped, workspace_map(&runner->workspace, side, words.items[i]));
	if (!status)
		status = run_check(runner, side, &mapped, TEST_LIMIT_S, is_good, details, err);
	child_free_words(&words);
	child_free_words(&mapped);
	return status;
}

/* --- profiling --- */

static void add_mapped(const struct verify_runner *runner, int side, child_words *words,
		       const char *word)
{
	vec_push(words, workspace_map(&runner->workspace, side, word));
}

static void add_run_words(const struct verify_runner *runner, int side, const char *profile,
			  child_words *words)
{
	const struct verify_plan *plan = runner->plan;
	const char *const options[] = {runner->heatline, "run", "--quiet", "--cpu-only",
				       "--program-path", runner->workspace.sides[side],
				       "-o", profile};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		child_add_word(words, options[i]);
	if (plan->python) {
		child_add_word(words, "--python");
		child_add_word(words, plan->python);
	}
	if (plan->is_module)
		child_add_word(words, "-m");
	add_mapped(runner, side, words, plan->program);
	for (uint32_t i = 0; i < plan->args.count; i++)
		add_mapped(runner, side, words, plan->args.items[i]);
}

/* The time of the lines that the change is about. */
static double changed_seconds(const struct verify_runner *runner, int side,
			      const struct profile *profile, const struct patch *patch)
{
	char *path = workspace_map(&runner->workspace, side, runner->plan->file);
	const struct profile_file *file = profile_find_file(profile, path);
	double seconds = 0;

	for (uint32_t i = 0; file && i < file->line_count; i++) {
		uint32_t line = file->lines[i].line;

		for (uint32_t k = 0; k < patch->ranges.count; k++) {
			const struct patch_range *range = &patch->ranges.items[k];
			bool is_after = side == WORKSPACE_AFTER;
			uint32_t first = is_after ? range->after : range->before;
			uint32_t count = is_after ? range->after_count : range->before_count;

			if (line >= first && line < first + count)
				seconds += metrics_seconds(&file->lines[i].self);
		}
	}
	free(path);
	return seconds;
}

static int read_figures(const struct verify_runner *runner, int side, const struct patch *patch,
			const char *path, struct run_figures *figures, struct err *err)
{
	struct profile *profile = profile_read(path, err);

	if (!profile)
		return -ERR_FORMAT;
	figures->whole_s = profile->total_s;
	figures->here_s = changed_seconds(runner, side, profile, patch);
	profile_free(profile);
	return 0;
}

int runner_profile(struct verify_runner *runner, int side, const struct patch *patch,
		   double limit_s, struct run_figures *figures, struct buf *details,
		   struct err *err)
{
	char *output = in_folder(runner, "output"), *errors = in_folder(runner, "errors");
	char *path = in_folder(runner, "profile.json");
	child_words words = VEC_EMPTY;
	struct child_result result;

	*figures = (struct run_figures){0};
	unlink(path);
	add_run_words(runner, side, path, &words);
	int status = run_words(runner, side, &words, output, errors, limit_s, &result, err);
	if (!status) {
		figures->status = result.status;
		figures->is_late = result.is_late;
		figures->seconds = result.seconds;
		if (file_read(output, MAX_OUTPUT_BYTES, &figures->output, &figures->output_size,
			      NULL) != 0)
			figures->output = NULL;
		if (result.is_late || result.status)
			append_end(runner, details, errors);
		else
			status = read_figures(runner, side, patch, path, figures, err);
	}
	child_free_words(&words);
	free(output);
	free(errors);
	free(path);
	return status;
}
