/* cmd_query.c - `heatline query`: short answers about a profile, as text or JSON. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "profile/read.h"
#include "report/query.h"
#include "report/glyph.h"

struct query_settings {
	const char *at;
	const char *by;
	const char *metric;
	const char *view;
	long top;
	double min_percent;
	bool is_json;
};

#define FIELD(name) .offset = offsetof(struct query_settings, name)
#define WORDS "summary|hot-lines|source|callers|memory|advice|compare"

static const struct option query_options[] = {
	{.name = "json", .kind = OPTION_FLAG, .help = "Print JSON, for other programs.", FIELD(is_json)},
	{.name = "at", .kind = OPTION_TEXT, .value = "PLACE",
	 .help = "Where, for source and callers: FILE, FILE:LINE, FILE:FROM-TO or a function's name.",
	 FIELD(at)},
	{.name = "by", .kind = OPTION_CHOICE, .value = "WHAT", .choices = QUERY_BY,
	 .help = "What hot-lines lists: line, function or file (default: line).", FIELD(by)},
	{.name = "metric", .letter = 'm', .kind = OPTION_CHOICE, .value = "METRIC",
	 .choices = QUERY_METRICS,
	 .help = "What hot-lines ranks by: time, inclusive, python, native, wait, gpu, memory, peak or copied "
		 "(default: time).",
	 FIELD(metric)},
	{.name = "view", .kind = OPTION_CHOICE, .value = "VIEW", .choices = QUERY_VIEWS,
	 .help = "What memory shows: peak, leaks, churn or copies (default: peak).", FIELD(view)},
	{.name = "top", .letter = 'n', .kind = OPTION_INTEGER, .value = "COUNT", .low = 1,
	 .high = QUERY_MAX_TOP, .help = "At most so many rows (default: 20).", FIELD(top)},
	{.name = "min-percent", .kind = OPTION_NUMBER, .value = "PERCENT", .low = 0, .high = 100,
	 .help = "Leave out rows of hot-lines below this share (default: 0).", FIELD(min_percent)},
	OPTIONS_HELP,
	{0},
};

/* Line by line, made safe for a terminal. */
static void print_text(const struct query_answer *answer)
{
	struct style style;

	style_init(&style, STDOUT_FILENO, STYLE_COLOR_NEVER);
	for (const char *at = answer->text.data; *at;) {
		size_t size = strcspn(at, "\n");

		glyph_put(stdout, &style, at, size, GLYPH_ANY_WIDTH);
		putchar('\n');
		at += size + (at[size] == '\n');
	}
}

static int give(const struct query_kind *kind, const struct query_settings *settings,
		const struct profile *profile, const struct profile *after, struct err *err)
{
	struct question question = {
		.at = settings->at,
		.by = settings->by,
		.metric = settings->metric,
		.view = settings->view,
		.top = (uint32_t)settings->top,
		.min_percent = settings->min_percent,
	};
	struct query_answer answer;
	int status;

	query_init(&answer);
	status = query_give(kind, &answer, profile, after, &question, err);
	if (!status && settings->is_json) {
		json_dumpf(answer.json, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
		putchar('\n');
	} else if (!status) {
		print_text(&answer);
	}
	query_fini(&answer);
	return status;
}

/* The words after the kind of question are profiles. */
static int answer_about(const struct query_kind *kind, const struct query_settings *settings,
			char **paths, int count, struct err *err)
{
	struct profile *profile = NULL, *after = NULL;
	int status = -1;

	if (kind->has_two && count != 2)
		return err_set(err, ERR_USAGE,
			       "compare takes two profiles: heatline query compare BEFORE AFTER");
	if (!kind->has_two && count > 1)
		return err_set(err, ERR_USAGE, "%s takes one profile, but '%s' is a second one",
			       kind->name, paths[1]);
	if ((kind->takes & QUERY_NEEDS_AT) && !settings->at)
		return err_set(err, ERR_USAGE,
			       "say where: --at FILE, FILE:LINE, FILE:FROM-TO or a function's name");
	profile = profile_read(count ? paths[0] : DEFAULT_PROFILE, err);
	if (profile && kind->has_two)
		after = profile_read(paths[1], err);
	if (profile && (after || !kind->has_two))
		status = give(kind, settings, profile, after, err);
	profile_free(profile);
	profile_free(after);
	return status;
}

static int query_run(int argc, char **argv)
{
	static const char *const words[] = {"summary", "hot-lines", "source", "callers",
					    "memory",  "advice",    "compare", NULL};
	struct query_settings settings = {.top = 0};
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_query, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	const char *word = parsed.operand_count ? parsed.operands[0] : NULL;
	const struct query_kind *kind = word ? query_kind_find(word) : NULL;
	const char *nearest = word && !kind ? text_nearest(word, words) : NULL;

	if (kind)
		status = answer_about(kind, &settings, parsed.operands + 1, parsed.operand_count - 1,
				      &err);
	else if (!word)
		status = err_set(&err, ERR_USAGE, "say what to ask: heatline query " WORDS);
	else if (nearest)
		status = err_set(&err, ERR_USAGE, "there is no question '%s'; did you mean '%s'?", word,
				 nearest);
	else
		status = err_set(&err, ERR_USAGE, "there is no question '%s', only " WORDS, word);
	options_result_fini(&parsed);
	return status ? command_error(&err) : 0;
}

const struct command command_query = {
	.name = "query",
	.usage = "QUESTION [FILE] [options]",
	.summary = "Ask one short question about a profile; --json for programs.",
	.details =
		"QUESTION is one of summary, hot-lines, source, callers, memory, advice and compare (which "
		"takes two profiles). FILE is a profile that heatline or Scalene wrote (default: " DEFAULT_PROFILE "). Answers "
		"are short, the same that 'heatline mcp' gives, and say what they leave out and how to "
		"get it. A file is named by any end of its path that only it has.",
	.examples = "heatline query summary\twhere the time and memory went\n"
		    "heatline query hot-lines --by function --top 5\tthe five hottest functions\n"
		    "heatline query source --at app.py:120\ta line and what is around it, with figures\n"
		    "heatline query callers --at parse --json\twho called parse, and what it called\n"
		    "heatline query compare before.json after.json\twhat got faster or slower\n",
	.operands = WORDS,
	.options = query_options,
	.run = query_run,
};
