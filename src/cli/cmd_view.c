/* cmd_view.c - `heatline view`: show a profile.
 *
 * The report is made whole, in memory, before any of it is shown: only then
 * is it known whether it fits the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/commands.h"
#include "profile/read.h"
#include "report/pager.h"
#include "report/text.h"

struct view_settings {
	bool is_cli; /* accepted; there is no other way to show a profile yet */
	bool is_reduced;
	bool in_seconds;
	bool has_pager;
	const char *color;
};

#define FIELD(name) .offset = offsetof(struct view_settings, name)

static const struct option view_options[] = {
	{.name = "cli", .kind = OPTION_FLAG, .help = "Show the profile in the terminal.",
	 FIELD(is_cli)},
	{.name = "reduced", .letter = 'r', .kind = OPTION_FLAG,
	 .help = "Show only the lines that took time or memory, and some around them.", FIELD(is_reduced)},
	{.name = "seconds", .letter = 's', .kind = OPTION_FLAG,
	 .help = "Show seconds and bytes in the columns instead of percent.", FIELD(in_seconds)},
	{.name = "color", .alias = "colour", .kind = OPTION_CHOICE, .value = "WHEN",
	 .choices = "auto|always|never",
	 .help = "Use colours: auto, always or never (default: auto, which is on a terminal "
		 "unless NO_COLOR is set).",
	 FIELD(color)},
	{.name = "pager", .kind = OPTION_SWITCH,
	 .help = "Page what is taller than the terminal through $PAGER (default: yes).",
	 FIELD(has_pager)},
	OPTIONS_HELP,
	{0},
};

/* Makes the report in *text, which the caller frees. */
static int make_report(const struct profile *profile, const struct view_settings *settings,
		       const struct style *style, char **text, size_t *size, struct err *err)
{
	struct text_options options = {
		.is_reduced = settings->is_reduced,
		.in_seconds = settings->in_seconds,
	};
	FILE *stream = open_memstream(text, size);

	if (!stream)
		return err_set(err, ERR_SYSTEM, "there is no memory for the report");
	text_report_print(stream, profile, &options, style);
	if (fclose(stream) == 0)
		return 0;
	free(*text);
	return err_set(err, ERR_SYSTEM, "there is no memory for the report");
}

/* Shows the profile.  Returns the exit status. */
static int show(const struct profile *profile, const struct view_settings *settings)
{
	enum style_color color = STYLE_COLOR_AUTO;
	char *here = getcwd(NULL, 0);
	struct style style;
	struct err err;
	char *text = NULL;
	size_t size = 0;
	int status;

	style_parse_color(settings->color, &color);
	style_init(&style, STDOUT_FILENO, color);
	style.folder = here;
	status = make_report(profile, settings, &style, &text, &size, &err);
	if (!status) {
		const char *pager = settings->has_pager ? pager_choose(&style, text, size) : NULL;

		status = pager_show(pager, text, size, &err);
		free(text);
	}
	free(here);
	if (status)
		command_error(&err);
	return status ? 1 : 0;
}

/* The profile that the operands name, or NULL with the reason in err. */
static struct profile *read_profile(const struct options_result *parsed, struct err *err)
{
	if (parsed->operand_count > 1) {
		err_set(err, ERR_USAGE, "view shows one profile, but '%s' is a second one",
			parsed->operands[1]);
		return NULL;
	}
	if (parsed->operand_count == 1)
		return profile_read(parsed->operands[0], err);
	if (access(DEFAULT_PROFILE, F_OK) != 0) {
		err_set(err, ERR_NOT_FOUND,
			"there is no " DEFAULT_PROFILE " in this folder; make one with "
			"'heatline run prog.py', or name another: heatline view FILE");
		return NULL;
	}
	return profile_read(DEFAULT_PROFILE, err);
}

static int view_run(int argc, char **argv)
{
	struct view_settings settings = {.color = "auto", .has_pager = true};
	struct options_result parsed;
	struct profile *profile;
	struct err err;
	int status = command_read_options(&command_view, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	profile = read_profile(&parsed, &err);
	status = profile ? show(profile, &settings) : command_error(&err);
	profile_free(profile);
	options_result_fini(&parsed);
	return status;
}

const struct command command_view = {
	.name = "view",
	.usage = "[options] [FILE]",
	.summary = "Show a profile: the program's source, line by line, with its figures.",
	.details =
		"FILE is a profile that heatline or Scalene wrote (default: " DEFAULT_PROFILE ").\n"
		"\n"
		"For each file, the hottest first, the table has the share of the time that each "
		"line took in Python itself, in native code, in the system and in waiting; incl. "
		"is the share of all time during which the line was being executed, with "
		"everything that it called.  Lines from 5% on are red, from 20% on bold.  With "
		"colours, the hottest part of a line is underlined (Python 3.11 and later).\n"
		"\n"
		"Where memory was measured, each line has what it held at most and on average, "
		"how that went over the run, how much of it were Python objects, its share of "
		"all that was allocated, and what it copied, as far as the width allows.  Below "
		"the files stand what the peak was made of, likely leaks, temporary churn and "
		"copies.  A MB is 1,048,576 bytes.",
	.examples = "heatline view\tthe profile of the last run here\n"
		    "heatline view -r before.json\tonly the lines that matter\n"
		    "heatline view --color=always | less -R\tcolours through a pipe\n",
	.options = view_options,
	.run = view_run,
};
