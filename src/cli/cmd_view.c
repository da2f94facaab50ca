/* cmd_view.c - `heatline view`: show a profile, as a page or in the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/live.h"
#include "cli/page.h"
#include "cli/show.h"
#include "profile/read.h"
#include "profile/thread_view.h"
#include "report/text.h"

struct view_settings {
	bool is_cli;
	bool is_html;
	bool is_standalone; /* the same, by Scalene's name for it */
	const char *outfile; /* NULL: the profile's name with .html */
	bool is_live;
	long port;          /* PAGE_USUAL_PORT: none asked for */
	bool may_open;
	bool is_reduced;
	bool in_seconds;
	const char *thread; /* NULL: all of them */
	bool has_pager;
	const char *color;
};

#define FIELD(name) .offset = offsetof(struct view_settings, name)

static const struct option view_options[] = {
	{.name = "cli", .kind = OPTION_FLAG, .help = "Show the profile in the terminal.",
	 FIELD(is_cli)},
	{.name = "html", .kind = OPTION_FLAG,
	 .help = "Write the page with the profile in it to one file, which needs neither heatline "
		 "nor a network.",
	 FIELD(is_html)},
	{.name = "standalone", .kind = OPTION_FLAG, .help = "The same as --html.",
	 FIELD(is_standalone)},
	{.name = "outfile", .letter = 'o', .alias = "output", .kind = OPTION_FILE, .value = "FILE",
	 .help = "Where --html writes. Default: the profile's name with .html, in this folder.",
	 FIELD(outfile)},
	{.name = "live", .kind = OPTION_FLAG,
	 .help = "Show a running program, by the PID of any of its processes; the page follows it, "
		 "each second. One that heatline has not started is looked at from outside, as by "
		 "attach.",
	 FIELD(is_live)},
	{.name = "port", .kind = OPTION_INTEGER, .value = "PORT", .low = 0, .high = 65535,
	 .help = "Serve the page at this port; 0: at any free one. Default: 11235, or the next "
		 "that is free.",
	 FIELD(port)},
	{.name = "open", .kind = OPTION_SWITCH,
	 .help = "Open a browser, where there is a terminal and a display (default: yes).",
	 FIELD(may_open)},
	{.name = "reduced", .letter = 'r', .kind = OPTION_FLAG,
	 .help = "In the terminal: only the lines that took time or memory, and some around them. "
		 "With --html: only they are in the file.",
	 FIELD(is_reduced)},
	{.name = "seconds", .letter = 's', .kind = OPTION_FLAG,
	 .help = "In the terminal: seconds and bytes in the columns instead of percent.",
	 FIELD(in_seconds)},
	{.name = "thread", .kind = OPTION_TEXT, .value = "NAME",
	 .help = "In the terminal: the time of the threads of this name only.",
	 FIELD(thread)},
	{.name = "color", .alias = "colour", .kind = OPTION_CHOICE, .value = "WHEN",
	 .choices = "auto|always|never",
	 .help = "In the terminal: use colours auto, always or never (default: auto, which is on a "
		 "terminal unless NO_COLOR is set).",
	 FIELD(color)},
	{.name = "pager", .kind = OPTION_SWITCH,
	 .help = "In the terminal: page what is taller than it through $PAGER (default: yes).",
	 FIELD(has_pager)},
	OPTIONS_HELP,
	{0},
};

/* What the terminal's report is made of. */
struct report {
	const struct profile *profile;
	const struct view_settings *settings;
};

static void print_report(FILE *out, const struct style *style, const void *context)
{
	const struct report *report = context;
	struct text_options options = {
		.is_reduced = report->settings->is_reduced,
		.in_seconds = report->settings->in_seconds,
	};

	text_report_print(out, report->profile, &options, style);
}

/* Shows the profile in the terminal.  Returns the exit status. */
static int show(const struct profile *profile, const struct view_settings *settings)
{
	struct report report = {profile, settings};

	return show_report(settings->color, settings->has_pager, print_report, &report);
}

/* The path of the profile to show, or NULL with the reason in err. */
static const char *choose_profile(const struct options_result *parsed, struct err *err)
{
	if (parsed->operand_count > 0)
		return parsed->operands[0];
	if (access(DEFAULT_PROFILE, F_OK) == 0)
		return DEFAULT_PROFILE;
	err_set(err, ERR_NOT_FOUND,
		"there is no " DEFAULT_PROFILE " in this folder; make one with "
		"'heatline run prog.py', or name another: heatline view FILE");
	return NULL;
}

static bool is_given(const struct options_result *parsed, const char *name)
{
	for (uint32_t row = 0; view_options[row].kind; row++) {
		if (strcmp(view_options[row].name, name) == 0)
			return parsed->given >> row & 1;
	}
	return false;
}

/* The option given that means something only in the terminal, or NULL. */
static const char *terminal_option(const struct options_result *parsed)
{
	static const char *const names[] = {"cli", "seconds", "thread", "color", "pager", NULL};

	for (const char *const *name = names; *name; name++) {
		if (is_given(parsed, *name))
			return *name;
	}
	return NULL;
}

static int show_in_terminal(const struct view_settings *settings, const char *path)
{
	struct err err;
	struct profile *profile = profile_read(path, &err);
	if (profile && settings->thread) {
		struct profile *all = profile;

		profile = thread_view_new(all, settings->thread, &err);
		profile_free(all);
	}
	int status = profile ? show(profile, settings) : command_error(&err);

	profile_free(profile);
	return status;
}

/* Shows a run that goes on. */
static int view_live(const struct view_settings *settings, const struct options_result *parsed)
{
	struct page_options page = {.port = settings->port, .may_open = settings->may_open};

	return live_view(&page, parsed->operand_count ? parsed->operands[0] : NULL);
}

static int view_page(const struct view_settings *settings, const struct options_result *parsed,
		     const char *path, bool is_file)
{
	struct page_options page = {
		.profile = path,
		.baseline = parsed->operand_count > 1 ? parsed->operands[1] : NULL,
		.port = settings->port,
		.may_open = settings->may_open,
		.is_reduced = settings->is_reduced,
	};
	return is_file ? page_write(&page, settings->outfile) : page_serve(&page);
}

/* How to show it; none of them: as a page in the browser. */
struct way {
	bool is_live, is_file, is_terminal;
};

static int check(const struct view_settings *settings, const struct options_result *parsed,
		 const struct way *way, struct err *err)
{
	const char *option = terminal_option(parsed);
	int most = way->is_terminal || way->is_live ? 1 : 2;

	if (way->is_live && (way->is_file || way->is_terminal))
		return err_set(err, ERR_USAGE,
			       "--live shows a program in the browser only: heatline view --live PID");
	if (way->is_file && option)
		return err_set(err, ERR_USAGE, "--%s is for the terminal, --html for a file", option);
	if (settings->outfile && !way->is_file)
		return err_set(err, ERR_USAGE, "--outfile is where --html writes; give that too");
	if (parsed->operand_count > most)
		return err_set(err, ERR_USAGE, "view shows %s, but '%s' is one more",
			       way->is_live       ? "one program"
			       : way->is_terminal ? "one profile in the terminal"
						  : "a profile and its baseline",
			       parsed->operands[most]);
	return 0;
}

/* Shows what is asked for, as it is asked for. */
static int view(const struct view_settings *settings, const struct options_result *parsed)
{
	struct way way = {.is_live = settings->is_live,
			  .is_file = settings->is_html || settings->is_standalone};
	struct err err;

	way.is_terminal = !way.is_file && (terminal_option(parsed) || settings->is_reduced);
	if (check(settings, parsed, &way, &err) != 0)
		return command_error(&err);
	if (way.is_live)
		return view_live(settings, parsed);
	const char *path = choose_profile(parsed, &err);
	if (!path)
		return command_error(&err);
	return way.is_terminal ? show_in_terminal(settings, path)
			       : view_page(settings, parsed, path, way.is_file);
}

static int view_run(int argc, char **argv)
{
	struct view_settings settings = {.color = "auto", .has_pager = true, .may_open = true,
					 .port = PAGE_USUAL_PORT};
	struct options_result parsed;
	int status = command_read_options(&command_view, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	status = view(&settings, &parsed);
	options_result_fini(&parsed);
	return status;
}

const struct command command_view = {
	.name = "view",
	.usage = "[options] [FILE [BASELINE] | --live PID]",
	.summary = "Show a profile: the program's source, line by line, with its figures.",
	.details =
		"FILE is a profile that heatline or Scalene wrote (default: " DEFAULT_PROFILE "), "
		"BASELINE one to compare it with.\n"
		"\n"
		"Without options the profile is a page in the browser, served from this machine to "
		"this machine only, until Ctrl-C. Its address holds a secret: who has it can read "
		"the profile and its source. A line is opened from the page by the editor in "
		"$HEATLINE_EDITOR, in which {file} and {line} may stand, or by that in $VISUAL or "
		"$EDITOR if it has a window of its own.\n"
		"\n"
		"With --cli, or an option for the terminal, the report comes to the terminal. "
		"For each file, the hottest first, its table has the share of the time that each "
		"line took in Python itself, in native code, in the system and in waiting; incl. "
		"is the share of all time during which the line was being executed, with "
		"everything that it called.  Lines from 5% on are red, from 20% on bold.  With "
		"colours, the hottest part of a line is underlined (Python 3.11 and later).  Where "
		"waiting for the GIL or garbage collection matters, it has a column; it is part of "
		"the others.  Where there are threads, a table has what each did, "
		"and a list where others than the main one waited.\n"
		"\n"
		"Where memory was measured, each line has what it held at most and on average, "
		"how that went over the run, how much of it were Python objects, its share of "
		"all that was allocated, and what it copied, as far as the width allows.  Below "
		"the files stand what the peak was made of, likely leaks, temporary churn and "
		"copies.  A MB is 1,048,576 bytes.",
	.examples = "heatline view\tthe profile of the last run here, in the browser\n"
		    "heatline view after.json before.json\tcompare two runs\n"
		    "heatline view --live 4711\ta program while it runs\n"
		    "heatline view --html -o page.html\ta page to keep or to send\n"
		    "heatline view -r before.json\tin the terminal, only the lines that matter\n"
		    "heatline view --thread MainThread\tin the terminal, what this thread did\n"
		    "heatline view --color=always | less -R\tcolours through a pipe\n",
	.options = view_options,
	.run = view_run,
};
