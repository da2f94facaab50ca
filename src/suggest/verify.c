/* verify.c - the steps of a verification, and its verdict. */
#include "suggest/verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "suggest/verify_runs.h"

#define MAX_FILE_BYTES ((size_t)8 << 20)
#define BEFORE_LIMIT_S 1800.0
#define LEAST_S 0.01 /* of a run: what took less was not met by enough samples */

/* --- what to run --- */

static char *first_word(const char *command)
{
	return mem_copy_bytes(command, strcspn(command, " "));
}

/* The interpreter of the first process that was Python. */
static char *find_python(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		char *word = process->python && process->command ? first_word(process->command) : NULL;

		if (word && *word == '/' && access(word, X_OK) == 0)
			return word;
		free(word);
	}
	return NULL;
}

static bool is_run_as_module(const struct profile *profile)
{
	const char *command = profile->process_count ? profile->processes[0].command : NULL;
	struct buf words;

	buf_init(&words, SIZE_MAX);
	buf_printf(&words, " -m %s", profile->program);
	const char *found = command ? strstr(command, words.data) : NULL;
	bool is_module = found && (!found[words.size] || found[words.size] == ' ');
	buf_fini(&words);
	return is_module;
}

static int check_program(const struct profile *profile, const char *file, struct err *err)
{
	const char *program = profile->program;

	if (*file != '/' || access(file, R_OK) != 0)
		return err_set(err, ERR_NOT_FOUND, "there is no file '%s' on this machine", file);
	if (!program || !*program || *program == '-' || *program == '<')
		return err_set(err, ERR_USAGE, "the profile does not say how its program can be run "
					       "again; run it from a file");
	if (*program == '/' && access(program, R_OK) != 0)
		return err_set(err, ERR_NOT_FOUND, "there is no program '%s' any more", program);
	return 0;
}

int verify_plan_init(struct verify_plan *plan, const struct profile *profile, uint32_t file,
		     struct err *err)
{
	*plan = (struct verify_plan){0};
	if (file >= profile->file_count)
		return err_set(err, ERR_NOT_FOUND, "the profile has no such file");
	const char *path = profile->files[file].path;
	int status = check_program(profile, path, err);
	if (status)
		return status;
	plan->file = mem_copy_text(path);
	plan->root = workspace_find_root(path, profile->entrypoint_dir);
	plan->program = mem_copy_text(profile->program);
	plan->is_module = is_run_as_module(profile);
	plan->python = find_python(profile);
	for (uint32_t i = 0; i < profile->arg_count; i++)
		child_add_word(&plan->args, profile->args[i]);
	return 0;
}

void verify_plan_fini(struct verify_plan *plan)
{
	free(plan->file);
	free(plan->root);
	free(plan->program);
	free(plan->python);
	child_free_words(&plan->args);
	*plan = (struct verify_plan){0};
}

/* --- noise --- */

struct verify_ratio verify_average(const double *before, const double *after, unsigned count)
{
	/* Student's t, 97.5 %, by degrees of freedom from 1. */
	static const double students[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
					  2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
					  2.131,  2.120, 2.110, 2.101, 2.093};
	double sum = 0, squares = 0;
	bool is_least = false;

	if (count < VERIFY_MIN_RUNS || count > VERIFY_MAX_RUNS)
		return (struct verify_ratio){0};
	for (unsigned i = 0; i < count; i++) {
		if (before[i] < LEAST_S)
			return (struct verify_ratio){0};
		/* What became too short to be measured took at most that. */
		double ratio = log(before[i] / fmax(after[i], LEAST_S));

		is_least |= after[i] < LEAST_S;
		sum += ratio;
		squares += ratio * ratio;
	}
	double mean = sum / count;
	double variance = fmax(0, squares - sum * mean) / (count - 1);
	double width = students[count - 2] * sqrt(variance / count);
	return (struct verify_ratio){exp(mean), exp(mean - width), exp(mean + width), true, is_least};
}

/* --- the steps --- */

struct verification {
	struct verify_runner runner;
	const struct verify_options *options;
	struct verify_verdict *verdict;
	struct patch patch;
	unsigned step, steps;
	double before_s;  /* longest run of the original */
	char *output;     /* owned; of the original's first run */
	size_t output_size;
	int status;       /* exit status of the original */
};

static void tell(struct verification *v, const char *text)
{
	v->step++;
	if (v->options->on_progress)
		v->options->on_progress(v->options->closure, text, v->step, v->steps);
}

static void conclude(struct verification *v, enum verify_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void conclude(struct verification *v, enum verify_outcome outcome, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	v->verdict->outcome = outcome;
	buf_text(&v->verdict->sentence, text);
}

static int make_copies(struct verification *v, struct err *err)
{
	const struct verify_plan *plan = v->runner.plan;
	char *text;
	size_t size;
	int status = file_read(plan->file, MAX_FILE_BYTES, &text, &size, err);

	if (status)
		return status;
	status = patch_apply(&v->patch, plan->file, text, size, v->options->diff, err);
	free(text);
	if (!status)
		status = workspace_make(&v->runner.workspace, plan->root, v->options->is_cancelled,
					v->options->closure, err);
	if (status)
		return status;
	char *copy = workspace_map(&v->runner.workspace, WORKSPACE_AFTER, plan->file);
	status = file_write(copy, v->patch.text.data, v->patch.text.size, err);
	free(copy);
	runner_prepare(&v->runner);
	return status;
}

/* *is_over: the verdict is known. */
static int check_syntax(struct verification *v, bool *is_over, struct err *err)
{
	bool is_good;
	int status = runner_compile(&v->runner, &is_good, &v->verdict->details, err);

	if (!status && !is_good) {
		conclude(v, VERIFY_NOT_COMPILED, "the change does not compile");
		*is_over = true;
	}
	return status;
}

static int check_tests(struct verification *v, bool *is_over, struct err *err)
{
	struct buf ignored;
	bool is_good, was_good;

	if (!v->verdict->has_test)
		return 0;
	tell(v, "running the test command");
	int status = runner_test(&v->runner, WORKSPACE_AFTER, &is_good, &v->verdict->details, err);
	if (status || is_good)
		return status;
	*is_over = true;
	buf_init(&ignored, 8192);
	status = runner_test(&v->runner, WORKSPACE_BEFORE, &was_good, &ignored, err);
	buf_fini(&ignored);
	if (!status)
		conclude(v, VERIFY_TEST_FAILS, "the test command fails with the change%s",
			 was_good ? "" : ", and without it too");
	return status;
}

/* The first run of each: does the program still do what it did? */
static int check_output(struct verification *v, bool *is_over, struct err *err)
{
	struct run_figures before, after = {0}, again = {0};
	struct buf *details = &v->verdict->details;

	tell(v, "running the program as it is");
	int status = runner_profile(&v->runner, WORKSPACE_BEFORE, &v->patch, BEFORE_LIMIT_S, &before,
				    details, err);
	if (!status && (before.is_late || before.status != 0))
		status = err_set(err, ERR_TARGET, "the program fails as it is (exit status %d): "
						  "there is nothing to compare with", before.status);
	v->output = before.output;
	v->output_size = before.output_size;
	v->status = before.status;
	v->before_s = before.seconds;
	if (status)
		return status;
	tell(v, "running the changed program");
	status = runner_profile(&v->runner, WORKSPACE_AFTER, &v->patch, 10 + 4 * v->before_s, &after,
				details, err);
	bool is_same = v->output && after.output && after.output_size == v->output_size &&
		       memcmp(after.output, v->output, v->output_size) == 0;
	if (!status && (after.is_late || after.status != before.status)) {
		*is_over = true;
		if (after.is_late)
			conclude(v, VERIFY_FAILS, "with the change the program takes more than four "
						  "times as long");
		else
			conclude(v, VERIFY_FAILS, "with the change the program ends with exit status "
						  "%d, not %d", after.status, before.status);
	} else if (!status && !is_same) {
		/* Whose fault is it?  A program that prints the time never prints the same. */
		status = runner_profile(&v->runner, WORKSPACE_BEFORE, &v->patch, BEFORE_LIMIT_S,
					&again, details, err);
		bool is_steady = v->output && again.output && again.output_size == v->output_size &&
				 memcmp(again.output, v->output, v->output_size) == 0;
		if (!status && is_steady) {
			*is_over = true;
			conclude(v, VERIFY_OTHER_OUTPUT, "with the change the program prints "
							 "something else");
		}
	} else {
		v->verdict->is_output_known = true;
	}
	free(after.output);
	free(again.output);
	return status;
}

/* Both in turns; who begins changes as well. */
static int measure(struct verification *v, struct err *err)
{
	double here[WORKSPACE_SIDES][VERIFY_MAX_RUNS], whole[WORKSPACE_SIDES][VERIFY_MAX_RUNS];
	unsigned runs = v->verdict->runs;
	char text[80];

	for (unsigned i = 0; i < 2 * runs; i++) {
		int side = (int)((i + i / 2) % 2);
		struct run_figures figures;

		snprintf(text, sizeof(text), "measuring, run %u of %u", i + 1, 2 * runs);
		tell(v, text);
		int status = runner_profile(&v->runner, side, &v->patch, 20 + 8 * v->before_s, &figures,
					    &v->verdict->details, err);
		free(figures.output);
		if (status)
			return status;
		if (figures.is_late || figures.status != v->status)
			return err_set(err, ERR_TARGET, "the program does not end the same way in "
							"every run: nothing can be measured");
		here[side][i / 2] = figures.here_s;
		whole[side][i / 2] = figures.whole_s;
	}
	v->verdict->here = verify_average(here[WORKSPACE_BEFORE], here[WORKSPACE_AFTER], runs);
	v->verdict->whole = verify_average(whole[WORKSPACE_BEFORE], whole[WORKSPACE_AFTER], runs);
	return 0;
}

/* --- the verdict in words --- */

static void append_ratio(struct buf *out, const struct verify_ratio *ratio)
{
	bool is_slower = ratio->ratio < 1;
	double mean = is_slower ? 1 / ratio->ratio : ratio->ratio;
	double low = is_slower ? 1 / ratio->high : ratio->low;
	double high = is_slower ? 1 / ratio->low : ratio->high;

	if (ratio->is_least)
		buf_printf(out, "more than %.0f× faster", low);
	else
		buf_printf(out, "%.*f× %s (%.*f to %.*f)", mean < 10, mean,
			   is_slower ? "slower" : "faster", low < 10, low, high < 10, high);
}

static bool is_clear(const struct verify_ratio *ratio)
{
	return ratio->is_known && (ratio->low > 1 || ratio->high < 1);
}

static void append_speed(struct buf *out, const struct verify_ratio *ratio, const char *where)
{
	if (!ratio->is_known)
		buf_printf(out, "too little time %s to measure", where);
	else if (is_clear(ratio)) {
		append_ratio(out, ratio);
		buf_printf(out, " %s", where);
	} else {
		buf_printf(out, "no clear difference %s (%.2g× to %.2g×)", where, ratio->low,
			   ratio->high);
	}
}

static void judge_speed(struct verification *v)
{
	struct verify_verdict *verdict = v->verdict;
	const struct verify_ratio *here = &verdict->here, *whole = &verdict->whole;
	bool is_slower = (is_clear(whole) && whole->ratio < 1) || (is_clear(here) && here->ratio < 1);
	bool is_faster = is_clear(here) || is_clear(whole);

	verdict->outcome = is_slower ? VERIFY_SLOWER : is_faster ? VERIFY_FASTER : VERIFY_UNCLEAR;
	append_speed(&verdict->sentence, here, "at the changed lines");
	buf_text(&verdict->sentence, ", ");
	append_speed(&verdict->sentence, whole, "in all");
	buf_text(&verdict->sentence, verdict->is_output_known
					     ? "; same output"
					     : "; what it prints differs from run to run anyway");
	if (verdict->has_test)
		buf_text(&verdict->sentence, "; the test command succeeds");
}

int verify_run(const struct verify_plan *plan, const struct verify_options *options,
	       struct verify_verdict *verdict, struct err *err)
{
	struct verification v = {.options = options, .verdict = verdict};
	bool is_over = false;

	*verdict = (struct verify_verdict){.runs = options->runs,
					   .has_test = options->test && *options->test};
	buf_init(&verdict->sentence, 1024);
	buf_init(&verdict->details, 8192);
	v.steps = 4 + verdict->has_test + 2 * options->runs;
	runner_init(&v.runner, plan, options);
	tell(&v, "copying the project");
	int status = make_copies(&v, err);
	if (!status) {
		tell(&v, "compiling the change");
		status = check_syntax(&v, &is_over, err);
	}
	if (!status && !is_over)
		status = check_tests(&v, &is_over, err);
	if (!status && !is_over)
		status = check_output(&v, &is_over, err);
	if (!status && !is_over) {
		status = measure(&v, err);
		if (!status)
			judge_speed(&v);
	}
	free(v.output);
	patch_fini(&v.patch);
	runner_fini(&v.runner);
	return status;
}

void verify_verdict_fini(struct verify_verdict *verdict)
{
	buf_fini(&verdict->sentence);
	buf_fini(&verdict->details);
}

static void put_ratio(struct json_out *out, const char *key, const struct verify_ratio *ratio)
{
	if (!ratio->is_known) {
		json_put_null(out, key);
		return;
	}
	json_begin_object(out, key);
	json_put_number(out, "ratio", ratio->ratio, 4);
	json_put_number(out, "low", ratio->low, 4);
	json_put_number(out, "high", ratio->high, 4);
	json_end_object(out);
}

void verify_write_json(const struct verify_verdict *verdict, FILE *stream)
{
	static const char *const words[] = {
#define X(name, word) word,
		VERIFY_LIST(X)
#undef X
	};
	struct json_out out;

	json_out_init(&out, stream);
	json_begin_object(&out, NULL);
	json_put_text(&out, "outcome", words[verdict->outcome]);
	json_put_bytes(&out, "sentence", verdict->sentence.data, verdict->sentence.size);
	put_ratio(&out, "here", &verdict->here);
	put_ratio(&out, "whole", &verdict->whole);
	json_put_unsigned(&out, "runs", verdict->runs);
	json_put_bytes(&out, "details", verdict->details.data, verdict->details.size);
	json_end_object(&out);
}

int verify_accept(const char *path, const char *diff, struct err *err)
{
	struct patch patch;
	char *text;
	size_t size;
	int status = file_read(path, MAX_FILE_BYTES, &text, &size, err);

	if (status)
		return status;
	status = patch_apply(&patch, path, text, size, diff, err);
	if (!status)
		status = file_write(path, patch.text.data, patch.text.size, err);
	patch_fini(&patch);
	free(text);
	return status;
}
