/* cmd_suggest.c - `heatline suggest`: ask a model about a hot place, and check its answer. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/suggest_place.h"
#include "profile/read.h"
#include "suggest/answer.h"
#include "suggest/ask.h"
#include "suggest/verify.h"

#define MAX_TOP 20

struct suggest_settings {
	const char *line; /* NULL: the hottest */
	long top;
	const char *scope;
	bool is_prompt_only;
	const char *provider, *model; /* NULL: not said */
	bool lists_models;
	const char *test; /* NULL: nothing is verified */
	long runs;
	bool is_applied;
};

#define FIELD(name) .offset = offsetof(struct suggest_settings, name)

static const struct option suggest_options[] = {
	{.name = "line", .letter = 'l', .kind = OPTION_TEXT, .value = "FILE:LINE",
	 .help = "Ask about this line. Default: the hottest one.", FIELD(line)},
	{.name = "top", .kind = OPTION_INTEGER, .value = "N", .low = 1, .high = MAX_TOP,
	 .help = "Ask about the N hottest lines, one after the other (default: 1).", FIELD(top)},
	{.name = "scope", .kind = OPTION_CHOICE, .value = "WHAT", .choices = "line|loop|function",
	 .help = "What around the line may be changed: line, loop or function (default: function).",
	 FIELD(scope)},
	{.name = "prompt-only", .letter = 'p', .kind = OPTION_FLAG,
	 .help = "Print what would be sent, and send nothing.", FIELD(is_prompt_only)},
	{.name = "provider", .kind = OPTION_CHOICE, .value = "NAME",
	 .choices = "anthropic|compatible|openai|azure|bedrock|gemini|ollama",
	 .help = "Whom to ask: anthropic, compatible (a server that speaks OpenAI's protocol), "
		 "openai, azure, bedrock, gemini or ollama. Default: the first that has its key.",
	 FIELD(provider)},
	{.name = "model", .letter = 'm', .kind = OPTION_TEXT, .value = "NAME",
	 .help = "Which of the provider's models. Default: $HEATLINE_AI_MODEL.", FIELD(model)},
	{.name = "list-models", .kind = OPTION_FLAG, .help = "Print the provider's models.",
	 FIELD(lists_models)},
	{.name = "verify", .kind = OPTION_TEXT, .value = "CMD",
	 .help = "Try the change in a copy of the project: compile it, run this test command (may be "
		 "'' for none), compare what the program prints, and measure both versions.",
	 FIELD(test)},
	{.name = "runs", .kind = OPTION_INTEGER, .value = "N", .low = VERIFY_MIN_RUNS,
	 .high = VERIFY_MAX_RUNS, .help = "How often --verify measures each version (default: 5).",
	 FIELD(runs)},
	{.name = "apply", .kind = OPTION_FLAG,
	 .help = "Make the change in the file; with --verify only if it proved faster.",
	 FIELD(is_applied)},
	OPTIONS_HELP,
	{0},
};

/* --- cancelling --- */

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
	is_interrupted = 1;
}

static bool is_cancelled(void *closure)
{
	return is_interrupted;
}

static void hear_signals(void)
{
	struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* --- one place --- */

struct suggestion {
	const struct suggest_settings *settings;
	const struct profile *profile;
	struct settings keys;
	const struct provider *provider;
	const char *model;
};

static int fail(const struct err *err)
{
	command_error(err);
	return 1;
}

static void print_text(void *closure, const char *text, size_t size)
{
	command_put(stdout, text, size);
	fflush(stdout);
}

static void print_progress(void *closure, const char *text, unsigned step, unsigned steps)
{
	fprintf(stderr, "heatline: [%u/%u] %s\n", step, steps, text);
}

/* *is_good: nothing speaks against the change. */
static int verify(const struct suggestion *suggestion, const struct prompt_place *place,
		  const char *diff, bool *is_good)
{
	const struct verify_options options = {
		.diff = diff,
		.test = suggestion->settings->test,
		.runs = (unsigned)suggestion->settings->runs,
		.on_progress = print_progress,
		.is_cancelled = is_cancelled,
	};
	struct verify_verdict verdict = {0};
	struct verify_plan plan;
	struct err err;

	int status = verify_plan_init(&plan, suggestion->profile, place->file, &err);
	if (!status)
		status = verify_run(&plan, &options, &verdict, &err);
	if (!status) {
		*is_good = verdict.outcome == VERIFY_FASTER;
		printf("\nVERIFIED: %s\n", verdict.sentence.data);
		command_put(stdout, verdict.details.data, verdict.details.size);
		if (verdict.details.size)
			printf("\n");
		fflush(stdout);
	}
	verify_verdict_fini(&verdict);
	verify_plan_fini(&plan);
	return status ? fail(&err) : 0;
}

static int apply(const struct suggestion *suggestion, const struct prompt_place *place,
		 const char *diff)
{
	const char *path = suggestion->profile->files[place->file].path;
	struct err err;

	if (verify_accept(path, diff, &err) != 0)
		return fail(&err);
	fprintf(stderr, "heatline: the change is made in ");
	command_put(stderr, path, strlen(path));
	fprintf(stderr, "\n");
	return 0;
}

/* What is done with an answer. */
static int use_answer(const struct suggestion *suggestion, const struct prompt_place *place,
		      const struct ask_answer *text)
{
	bool is_good = true;
	struct answer answer;
	int status = 0;

	if (text->note)
		fprintf(stderr, "heatline: %s\n", text->note);
	answer_parse(&answer, text->text.data, text->text.size);
	bool is_wanted = suggestion->settings->test || suggestion->settings->is_applied;
	if (is_wanted && !*answer.diff) {
		fprintf(stderr, "heatline: the answer proposes no change\n");
		status = 1;
	} else if (suggestion->settings->test) {
		status = verify(suggestion, place, answer.diff, &is_good);
	}
	if (!status && suggestion->settings->is_applied && is_good)
		status = apply(suggestion, place, answer.diff);
	else if (!status && !is_good) {
		fprintf(stderr, "heatline: the change did not prove faster%s\n",
			suggestion->settings->is_applied ? " and is not made" : "");
		status = 1;
	}
	answer_fini(&answer);
	return status;
}

static int ask_about(const struct suggestion *suggestion, const struct prompt_place *place,
		     const struct prompt *prompt)
{
	const struct ask ask = {
		.settings = &suggestion->keys,
		.provider = suggestion->provider,
		.question = {suggestion->model, prompt->system, prompt->text},
		.on_text = print_text,
		.is_cancelled = is_cancelled,
	};
	const char *path = suggestion->profile->files[place->file].path;
	struct ask_answer answer;
	struct err err;

	fprintf(stderr, "heatline: asking %s (%s) about ", suggestion->provider->name,
		suggestion->model);
	command_put(stderr, path_basename(path), strlen(path_basename(path)));
	fprintf(stderr, ":%u, %zu bytes%s\n", place->line1, prompt->size + strlen(prompt->system),
		prompt->masked ? ", with secrets masked" : "");
	int status = ask_send(&ask, &answer, &err);
	if (answer.text.size && answer.text.data[answer.text.size - 1] != '\n')
		printf("\n");
	status = status ? fail(&err) : use_answer(suggestion, place, &answer);
	ask_answer_fini(&answer);
	return status;
}

static int suggest_at(const struct suggestion *suggestion, const struct prompt_place *place)
{
	struct prompt prompt;
	struct err err;

	if (prompt_build(&prompt, suggestion->profile, place, &err) != 0)
		return command_error(&err);
	int status = 0;
	if (suggestion->settings->is_prompt_only)
		printf("%s\n%s", prompt.system, prompt.text);
	else
		status = ask_about(suggestion, place, &prompt);
	prompt_fini(&prompt);
	return status;
}

/* --- whom to ask --- */

static int list_models(const struct suggestion *suggestion)
{
	struct ask_models models;
	struct err err;
	int status = ask_list_models(&suggestion->keys, suggestion->provider, is_cancelled, NULL,
				     &models, &err);

	for (uint32_t i = 0; i < models.names.count; i++) {
		command_put(stdout, models.names.items[i], strlen(models.names.items[i]));
		printf("\n");
	}
	ask_models_fini(&models);
	return status ? fail(&err) : 0;
}

static int choose_provider(struct suggestion *suggestion, struct err *err)
{
	const struct suggest_settings *settings = suggestion->settings;
	int status = settings_load(&suggestion->keys, err);

	if (status)
		return status;
	if (settings->provider)
		status = provider_find(settings->provider, &suggestion->provider, err);
	else
		suggestion->provider = provider_choose(&suggestion->keys);
	if (status)
		return status;
	if (!suggestion->provider)
		return err_set(err, ERR_USAGE,
			       "there is nobody to ask: set ANTHROPIC_API_KEY, OPENAI_API_KEY or the "
			       "like, start Ollama, or see only the prompt with --prompt-only");
	suggestion->model = settings->model ? settings->model
					    : settings_get(&suggestion->keys, "HEATLINE_AI_MODEL");
	if (!suggestion->model && !settings->lists_models)
		return err_set(err, ERR_USAGE,
			       "say which model with --model; those of %s: heatline suggest "
			       "--list-models --provider %s",
			       suggestion->provider->name, suggestion->provider->id);
	return 0;
}

static int suggest_all(struct suggestion *suggestion, const char *path)
{
	const struct suggest_settings *settings = suggestion->settings;
	struct prompt_place places[MAX_TOP] = {{0}};
	uint32_t count = 1;
	struct err err;
	int status = 0;

	struct profile *profile = profile_read(path, &err);
	if (!profile)
		return command_error(&err);
	suggestion->profile = profile;
	if (settings->line)
		status = suggest_place_find(profile, settings->line, &places[0], &err);
	else
		count = prompt_hottest(profile, places, (uint32_t)settings->top);
	if (!status && !count)
		status = err_set(&err, ERR_USAGE, "the profile has no line to ask about");
	if (status)
		status = command_error(&err);
	for (uint32_t i = 0; i < count && !status && !is_interrupted; i++) {
		for (int scope = 0; scope < PROMPT_SCOPES; scope++) {
			if (strcmp(settings->scope, prompt_scope_names[scope]) == 0)
				places[i].scope = (enum prompt_scope)scope;
		}
		status = suggest_at(suggestion, &places[i]);
	}
	profile_free(profile);
	return status;
}

static int suggest_run(int argc, char **argv)
{
	struct suggest_settings settings = {.top = 1, .scope = "function", .runs = VERIFY_RUNS};
	struct suggestion suggestion = {.settings = &settings};
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_suggest, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	hear_signals();
	status = settings.is_prompt_only ? 0 : choose_provider(&suggestion, &err);
	if (status)
		status = command_error(&err);
	else if (settings.lists_models)
		status = list_models(&suggestion);
	else
		status = suggest_all(&suggestion, parsed.operand_count ? parsed.operands[0]
								       : DEFAULT_PROFILE);
	settings_fini(&suggestion.keys);
	options_result_fini(&parsed);
	return status;
}

const struct command command_suggest = {
	.name = "suggest",
	.usage = "[options] [FILE]",
	.summary = "Ask a model how to make a hot line faster, and check its answer.",
	.details =
		"FILE is a profile (default: " DEFAULT_PROFILE ").  Sent are the code around the line, "
		"the file's imports and the figures, to the provider that you name, and only by this "
		"command; secrets in the code are masked.  --prompt-only shows exactly what.\n"
		"\n"
		"Keys come from the variables that the providers' own tools use (ANTHROPIC_API_KEY, "
		"OPENAI_API_KEY, OPENAI_BASE_URL, AZURE_OPENAI_API_KEY, AZURE_OPENAI_ENDPOINT, "
		"AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_REGION, "
		"GOOGLE_API_KEY, GEMINI_API_KEY, OLLAMA_HOST), or from lines NAME=value in "
		"~/.config/heatline/providers, which nobody else may be able to read.  A provider "
		"that is silent for $HEATLINE_AI_TIMEOUT seconds (default: 120) is given up.\n"
		"\n"
		"--verify runs the program of the profile again, with the arguments it had, in copies "
		"of its project.  Your files are not touched before --apply.",
	.examples = "heatline suggest --prompt-only\twhat would be sent about the hottest line\n"
		    "heatline suggest --model NAME\task about it\n"
		    "heatline suggest --line app.py:12 --model NAME --verify 'pytest -q' --apply\t"
		    "make the change if the tests pass and it is faster\n",
	.options = suggest_options,
	.run = suggest_run,
};
