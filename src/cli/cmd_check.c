/* cmd_check.c - `heatline check`: fail a build on a regression. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "profile/check.h"
#include "profile/read.h"
#include "report/check_text.h"

#define CHECK_BROKEN 1 /* the exit status of a regression */

struct check_settings {
	const char *baseline;
	const char *max_slowdown;
	const char *max_memory_growth;
	double max_time_s;
	double max_peak_mb;
	const char *lines;
	bool is_json;
	const char *color;
	bool has_pager;
};

#define FIELD(name) .offset = offsetof(struct check_settings, name)

static const struct option check_options[] = {
	{.name = "baseline", .letter = 'b', .kind = OPTION_FILE, .value = "FILE",
	 .help = "The profile to compare with.", FIELD(baseline)},
	{.name = "max-slowdown", .kind = OPTION_TEXT, .value = "PERCENT",
	 .help = "How much longer the program may take than in the baseline: 5%. Only what is "
		 "beyond the noise of sampling counts.",
	 FIELD(max_slowdown)},
	{.name = "max-memory-growth", .kind = OPTION_TEXT, .value = "PERCENT",
	 .help = "How much higher the peak of memory may be, likewise.",
	 FIELD(max_memory_growth)},
	{.name = "max-time", .kind = OPTION_NUMBER, .value = "SECONDS", .low = 0, .high = 1e12,
	 .help = "How long the run may take.", FIELD(max_time_s)},
	{.name = "max-peak", .kind = OPTION_NUMBER, .value = "MB", .low = 0, .high = 1e12,
	 .help = "How high the peak of memory may be.", FIELD(max_peak_mb)},
	{.name = "line", .kind = OPTION_LIST, .value = "FILE:N",
	 .help = "Hold this line to the limits on growth, instead of the whole program; N is its "
		 "number in the checked profile. May be given again.",
	 FIELD(lines)},
	{.name = "json", .kind = OPTION_FLAG, .help = "Print JSON, for other programs.",
	 FIELD(is_json)},
	SHOW_OPTIONS,
	OPTIONS_HELP,
	{0},
};

/* "5%" and "5" are 0.05. */
static int parse_percent(const char *text, const char *name, double *share, struct err *err)
{
	char *end;
	double percent;

	if (!text)
		return 0;
	percent = strtod(text, &end);
	end += *end == '%';
	if (end == text || *end || !(percent >= 0) || percent > 1e6)
		return err_set(err, ERR_USAGE, "--%s takes a percentage such as 5%%, not '%s'",
			       name, text);
	*share = percent / 100;
	return 0;
}

/* "FILE:N,FILE:N" into places, which point into `words` (both the caller's to free). */
static int parse_places(const char *list, char **words, struct check_place **places,
			uint32_t *count, struct err *err)
{
	uint32_t room = 1;

	*words = mem_copy_text(list);
	for (const char *c = list; *c; c++)
		room += *c == ',';
	*places = mem_zalloc(room, sizeof(**places));
	for (char *word = *words, *next; word; word = next) {
		char *comma = strchr(word, ','), *colon, *end;
		unsigned long line = 0;

		next = comma ? comma + 1 : NULL;
		if (comma)
			*comma = '\0';
		colon = strrchr(word, ':');
		if (colon)
			line = strtoul(colon + 1, &end, 10);
		if (!colon || colon == word || *end || line == 0 || line > 100000000)
			return err_set(err, ERR_USAGE, "--line takes FILE:N, not '%s'", word);
		*colon = '\0';
		(*places)[(*count)++] = (struct check_place){word, (uint32_t)line};
	}
	return 0;
}

struct findings {
	const struct check_result *result;
	const struct profile_diff *diff; /* NULL without a baseline */
};

static void print_findings(FILE *out, const struct style *style, const void *context)
{
	const struct findings *findings = context;

	check_print(out, findings->result, findings->diff, style);
}

/* Returns the exit status. */
static int check(const struct profile *profile, const struct profile *baseline,
		 const struct check_limits *limits, const struct check_settings *settings)
{
	struct profile_diff diff = {0};
	struct check_result result = {0};
	struct findings findings = {&result, baseline ? &diff : NULL};
	struct err err;
	int status;

	if (baseline)
		profile_diff_init(&diff, baseline, profile);
	if (profile_check(profile, findings.diff, limits, &result, &err)) {
		status = command_error(&err);
	} else {
		if (settings->is_json)
			check_print_json(stdout, &result, findings.diff);
		else
			show_report(settings->color, settings->has_pager, print_findings,
				    &findings);
		status = result.broken ? CHECK_BROKEN : 0;
	}
	check_result_fini(&result);
	profile_diff_fini(&diff);
	return status;
}

static int read_and_check(const struct options_result *parsed, const struct check_limits *limits,
			  const struct check_settings *settings)
{
	struct profile *profile = NULL, *baseline = NULL;
	struct err err;
	int status;

	if (parsed->operand_count > 1) {
		err_set(&err, ERR_USAGE,
			"check takes one profile, but '%s' is a second one; the one to compare "
			"with is --baseline FILE",
			parsed->operands[1]);
		return command_error(&err);
	}
	profile = profile_read(parsed->operand_count ? parsed->operands[0] : DEFAULT_PROFILE, &err);
	if (profile && settings->baseline)
		baseline = profile_read(settings->baseline, &err);
	if (!profile || (settings->baseline && !baseline))
		status = command_error(&err);
	else
		status = check(profile, baseline, limits, settings);
	profile_free(profile);
	profile_free(baseline);
	return status;
}

static int check_run(int argc, char **argv)
{
	struct check_settings settings = {.max_time_s = CHECK_NO_LIMIT,
					  .max_peak_mb = CHECK_NO_LIMIT, .color = "auto"};
	struct check_limits limits = CHECK_LIMITS_NONE;
	struct check_place *places = NULL;
	char *words = NULL;
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_check, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	limits.max_time_s = settings.max_time_s;
	if (settings.max_peak_mb >= 0)
		limits.max_peak_bytes = settings.max_peak_mb * MB;
	status = parse_percent(settings.max_slowdown, "max-slowdown", &limits.max_slowdown, &err);
	if (!status)
		status = parse_percent(settings.max_memory_growth, "max-memory-growth",
				       &limits.max_memory_growth, &err);
	if (!status && settings.lines)
		status = parse_places(settings.lines, &words, &places, &limits.place_count, &err);
	limits.places = places;
	status = status ? command_error(&err) : read_and_check(&parsed, &limits, &settings);
	free(places);
	free(words);
	options_result_fini(&parsed);
	return status;
}

const struct command command_check = {
	.name = "check",
	.usage = "[FILE] --baseline FILE --max-slowdown 5%",
	.summary = "Fail (exit status 1) when a profile breaks limits: a regression.",
	.details =
		"FILE is the profile to check (default: " DEFAULT_PROFILE ").  The limits on "
		"growth compare it with the baseline; only changes beyond the noise of sampling "
		"break them, and the lines behind a broken one are named.  The time compared is "
		"the program's total: the main thread's wall time plus the CPU time of the other "
		"threads.\n"
		"\n"
		"The exit status is 0 when all limits are kept, 1 when one is broken, and 2 for "
		"wrong usage or input.",
	.examples = "heatline check new.json -b old.json --max-slowdown 5%\tin a build\n"
		    "heatline check new.json --max-time 60 --max-peak 512\twithout a baseline\n",
	.options = check_options,
	.run = check_run,
};
