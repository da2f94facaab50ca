/* cmd_diff.c - `heatline diff`: two profiles compared. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/show.h"
#include "profile/diff.h"
#include "profile/read.h"
#include "report/diff_text.h"

struct diff_settings {
	bool is_json;
	const char *color;
	bool has_pager;
};

#define FIELD(name) .offset = offsetof(struct diff_settings, name)

static const struct option diff_options[] = {
	{.name = "json", .kind = OPTION_FLAG,
	 .help = "Print JSON, with all lines and functions, for other programs.", FIELD(is_json)},
	SHOW_OPTIONS,
	OPTIONS_HELP,
	{0},
};

static void print_diff(FILE *out, const struct style *style, const void *diff)
{
	diff_print(out, diff, style);
}

static int compare(const struct profile *before, const struct profile *after,
		   const struct diff_settings *settings)
{
	struct profile_diff diff;
	int status = 0;

	profile_diff_init(&diff, before, after);
	if (settings->is_json)
		diff_print_json(stdout, &diff);
	else
		status = show_report(settings->color, settings->has_pager, print_diff, &diff);
	profile_diff_fini(&diff);
	return status;
}

static int diff_run(int argc, char **argv)
{
	struct diff_settings settings = {.color = "auto", .has_pager = true};
	struct profile *before = NULL, *after = NULL;
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_diff, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	if (parsed.operand_count != 2) {
		err_set(&err, ERR_USAGE, "diff compares two profiles: heatline diff BEFORE AFTER");
		status = command_error(&err);
	} else if (!(before = profile_read(parsed.operands[0], &err)) ||
		   !(after = profile_read(parsed.operands[1], &err))) {
		status = command_error(&err);
	} else {
		status = compare(before, after, &settings);
	}
	profile_free(before);
	profile_free(after);
	options_result_fini(&parsed);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.usage = "[options] BEFORE AFTER",
	.summary = "Compare two profiles: what got faster, slower, heavier.",
	.details =
		"Lines are matched by function and text, not by number: one that moved is the same "
		"line.  A change counts as real when the 95% intervals of both profiles do not "
		"overlap; what is within the noise of sampling is left out.  Longer runs, or "
		"several merged ones (heatline merge), show smaller changes.",
	.examples = "heatline diff before.json after.json\tthe verdict, and the lines behind it\n",
	.options = diff_options,
	.run = diff_run,
};
