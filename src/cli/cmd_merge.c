/* cmd_merge.c - `heatline merge`: several profiles as one. */
#include <stdio.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/outfile.h"
#include "profile/merge.h"
#include "profile/read.h"
#include "profile/write.h"

#define DEFAULT_OUTFILE "heatline-merged.json"

struct merge_settings {
	const char *outfile;
};

static const struct option merge_options[] = {
	{.name = "outfile", .letter = 'o', .kind = OPTION_FILE, .value = "FILE",
	 .help = "Where the merged profile goes (default: " DEFAULT_OUTFILE ").",
	 .offset = offsetof(struct merge_settings, outfile)},
	OPTIONS_HELP,
	{0},
};

/* One after the other, so that only two are held at a time.  NULL with the reason. */
static struct profile *merge_all(char **paths, int count, struct err *err)
{
	struct profile *merged = profile_read(paths[0], err);

	for (int i = 1; i < count && merged; i++) {
		struct profile *next = profile_read(paths[i], err);

		if (next) {
			profile_merge(merged, next);
		} else {
			profile_free(merged);
			merged = NULL;
		}
		profile_free(next);
	}
	return merged;
}

static int merge_run(int argc, char **argv)
{
	struct merge_settings settings = {.outfile = DEFAULT_OUTFILE};
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	struct profile *merged = NULL;
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_merge, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	options.cpu_percent_threshold = 0; /* what the parts list, the whole lists too */
	if (parsed.operand_count < 1)
		status = err_set(&err, ERR_USAGE,
				 "merge takes one or more profiles: "
				 "heatline merge FILE FILE -o OUT");
	else
		status = file_check_writable(settings.outfile, &err);
	if (!status)
		status = outfile_check(settings.outfile, OUTFILE_PROFILE, NULL, &err);
	if (!status) {
		merged = merge_all(parsed.operands, parsed.operand_count, &err);
		status = merged ? profile_write(merged, &options, settings.outfile, &err) : -1;
	}
	if (!status)
		fprintf(stderr, "heatline: wrote %s\n", settings.outfile);
	profile_free(merged);
	options_result_fini(&parsed);
	return status ? command_error(&err) : 0;
}

const struct command command_merge = {
	.name = "merge",
	.usage = "FILE... [-o OUT]",
	.summary = "Combine profiles into one.",
	.details =
		"Seconds, samples, allocations and copies add up, as if the runs had come one "
		"after the other; the peak of memory is the highest of them.  Runs of the same program "
		"merged know its lines better; runs of different programs are fine too.  One file "
		"alone is written again, as this version writes it.",
	.examples = "heatline merge run1.json run2.json run3.json -o all.json\tthree runs as one\n",
	.options = merge_options,
	.run = merge_run,
};
