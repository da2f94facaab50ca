/* cmd_export.c - `heatline export`: a profile for other tools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "profile/read.h"
#include "report/export/export.h"

struct export_settings {
	const char *format;
	const char *metric;
	const char *outfile;
};

#define FIELD(name) .offset = offsetof(struct export_settings, name)

static const struct option export_options[] = {
	{.name = "format", .letter = 'f', .kind = OPTION_CHOICE, .value = "FORMAT",
	 .choices = EXPORT_FORMAT_NAMES,
	 .help = "Which format: speedscope, pprof, collapsed, svg (a flame graph), gecko (Firefox "
		 "Profiler), chrome (Perfetto), pstats, csv or markdown.",
	 FIELD(format)},
	{.name = "metric", .letter = 'm', .kind = OPTION_CHOICE, .value = "METRIC",
	 .choices = EXPORT_METRIC_NAMES,
	 .help = "What the stacks are weighed by: time, cpu (time on a CPU), memory (allocated), "
		 "peak (live at the program's peak), kept (never given back), copied or "
		 "gpu (time on a GPU) (default: time).",
	 FIELD(metric)},
	{.name = "outfile", .letter = 'o', .kind = OPTION_FILE, .value = "FILE",
	 .help = "Write here; - is standard output (default: beside the profile, with the "
		 "format's suffix).",
	 FIELD(outfile)},
	OPTIONS_HELP,
	{0},
};

/* On a pipe or a file, but never into a terminal what it would obey. */
static int write_to_stdout(const struct export_format *format, const struct profile *profile,
			   enum export_metric metric, struct err *err)
{
	if (format->is_binary && isatty(STDOUT_FILENO))
		return err_set(err, ERR_USAGE,
			       "%s is binary, nothing for a terminal; name a file with -o",
			       format->name);
	export_write(format, profile, metric, stdout);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return err_set(err, ERR_IO, "cannot write to standard output");
}

static int write_to_file(const struct export_format *format, const struct profile *profile,
			 enum export_metric metric, const char *path, struct err *err)
{
	struct file_writer writer;
	int status = file_writer_open(&writer, path, err);

	if (status)
		return status;
	export_write(format, profile, metric, writer.stream);
	status = file_writer_commit(&writer, err);
	if (!status)
		fprintf(stderr, "heatline: wrote %s\n", path);
	return status;
}

static int export_to(const struct export_settings *settings, const struct export_format *format,
		     const char *profile_path, struct err *err)
{
	enum export_metric metric = EXPORT_TIME;
	struct profile *profile = profile_read(profile_path, err);
	int status;

	if (!profile)
		return -1;
	export_metric_find(settings->metric, &metric);
	status = export_check(format, profile, metric, err);
	if (!status && settings->outfile && strcmp(settings->outfile, "-") == 0) {
		status = write_to_stdout(format, profile, metric, err);
	} else if (!status) {
		char *beside = settings->outfile ? NULL : export_path_beside(profile_path, format);
		const char *path = beside ? beside : settings->outfile;

		status = export_check_path(path, profile_path, err);
		if (!status)
			status = write_to_file(format, profile, metric, path, err);
		free(beside);
	}
	profile_free(profile);
	return status;
}

static int export_run(int argc, char **argv)
{
	struct export_settings settings = {.metric = "time"};
	const struct export_format *format;
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_export, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	format = settings.format ? export_format_find(settings.format) : NULL;
	if (!format)
		status = err_set(&err, ERR_USAGE,
				 "say which format: "
				 "heatline export FILE --format " EXPORT_FORMAT_NAMES);
	else if (parsed.operand_count > 1)
		status = err_set(&err, ERR_USAGE,
				 "export takes one profile, but '%s' is a second one",
				 parsed.operands[1]);
	else
		status = export_to(&settings, format,
				   parsed.operand_count ? parsed.operands[0] : DEFAULT_PROFILE,
				   &err);
	options_result_fini(&parsed);
	return status ? command_error(&err) : 0;
}

const struct command command_export = {
	.name = "export",
	.usage = "[FILE] --format FORMAT [-o OUT]",
	.summary = "Write a profile in the format of another tool.",
	.details =
		"FILE is a profile that heatline or Scalene wrote (default: " DEFAULT_PROFILE ").\n"
		"\n"
		"speedscope and pprof hold every metric that was measured; of the others, those "
		"made of stacks hold the one that --metric names.  In chrome the stacks are "
		"merged and laid side by side: their lengths are true, their order is not that "
		"of the run.  docs/exports.md says how each is opened.",
	.examples = "heatline export -f speedscope\tthe last profile here, for speedscope.app\n"
		    "heatline export p.json -f svg -m memory\ta flame graph of what was allocated\n"
		    "heatline export p.json -f collapsed -o - | flamegraph.pl > p.svg\tthrough a "
		    "pipe\n",
	.options = export_options,
	.run = export_run,
};
