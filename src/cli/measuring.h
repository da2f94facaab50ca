/* measuring.h - options that are the same for all commands that measure.
 *
 * Rows for the table of options.h, as run, attach, top and session have them.  They
 * store into fields of the command's settings, by the file's own FIELD, so that
 * a rule added here is there for all of them:
 *
 *	struct attach_settings { const char *outfile; struct run_scope scope; ... };
 *	#define FIELD(name) .offset = offsetof(struct attach_settings, name)
 *	static const struct option attach_options[] = {
 *		MEASURING_OUTFILE,
 *		MEASURING_SCOPE,
 *		MEASURING_SCOPE_ADVANCED(", else the process's current one"),
 *		...
 *
 * scope.program_path is what the user typed; see places_absolute. */
#ifndef HEATLINE_CLI_MEASURING_H
#define HEATLINE_CLI_MEASURING_H

#include "cli/options.h"
#include "collect/run.h"
#include "profile/read.h"

/* `outfile`, whose default is DEFAULT_PROFILE. */
#define MEASURING_OUTFILE                                                                          \
	{.name = "outfile", .letter = 'o', .alias = "output", .kind = OPTION_FILE, .value = "FILE", \
	 .help = "Where the profile goes. Default: " DEFAULT_PROFILE ".", FIELD(outfile)}

/* `is_quiet`. */
#define MEASURING_QUIET                                                                            \
	{.name = "quiet", .letter = 'q', .kind = OPTION_FLAG,                                      \
	 .help = "Print no summary at the end.", FIELD(is_quiet)}

/* `scope`, a struct run_scope: what people use of it, and the rest.  otherwise
 * ends the sentence on the folder: what is reported of a program that is no script. */
#define MEASURING_SCOPE                                                                            \
	{.name = "profile-all", .kind = OPTION_FLAG,                                               \
	 .help = "Report every file, not just those in the program's folder.",                     \
	 FIELD(scope.is_all)},                                                                     \
	{.name = "profile-only", .kind = OPTION_LIST, .value = "WORDS",                            \
	 .help = "Report only files whose path has one of these words in it; commas between them.", \
	 FIELD(scope.only)},                                                                       \
	{.name = "profile-exclude", .kind = OPTION_LIST, .value = "WORDS",                         \
	 .help = "Do not report files whose path has one of these words in it.",                   \
	 FIELD(scope.exclude)}
#define MEASURING_SCOPE_ADVANCED(otherwise)                                                        \
	{.name = "program-path", .kind = OPTION_FOLDER, .value = "FOLDER", .flags = OPTION_ADVANCED, \
	 .help = "The folder whose files are reported, beside the script. Default: the script's" otherwise ".",  \
	 FIELD(scope.program_path)},                                                               \
	{.name = "profile-system-libraries", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,        \
	 .help = "Report the standard library and installed packages too.",                        \
	 FIELD(scope.has_system_libraries)}

/* `cpu_percent_threshold`, whose default is 1.  besides: what else is measured that a file can
 * have a share of. */
#define MEASURING_THRESHOLD(besides)                                                               \
	{.name = "cpu-percent-threshold", .kind = OPTION_NUMBER, .value = "PERCENT", .low = 0,     \
	 .high = 100, .flags = OPTION_ADVANCED,                                                    \
	 .help = "Leave out files that have less than this share of the time, working or waiting"  \
		 besides ". Default: 1.",                                                          \
	 FIELD(cpu_percent_threshold)}

/* How an agent measures: `has_stacks` and `has_async`, true by default, and
 * `sampling_interval_s` and `memory_window_bytes`, 0 by default. */
#define MEASURING_STACKS                                                                           \
	{.name = "stacks", .kind = OPTION_SWITCH, .flags = OPTION_ADVANCED,                        \
	 .help = "Keep whole stacks in the profile, for flame graphs. Default: yes.",              \
	 FIELD(has_stacks)}
#define MEASURING_ASYNC                                                                            \
	{.name = "async", .kind = OPTION_SWITCH, .flags = OPTION_ADVANCED,                         \
	 .help = "Measure where tasks of event loops wait. Default: yes.", FIELD(has_async)}
#define MEASURING_RATE                                                                             \
	{.name = "cpu-sampling-rate", .kind = OPTION_NUMBER, .value = "SECONDS", .low = 0.0001,    \
	 .high = 10, .flags = OPTION_ADVANCED,                                                     \
	 .help = "Mean CPU time between two samples of a thread. Default: as short as costs next " \
		 "to nothing.",                                                                    \
	 FIELD(sampling_interval_s)}
#define MEASURING_WINDOW                                                                           \
	{.name = "allocation-sampling-window", .kind = OPTION_INTEGER, .value = "BYTES",           \
	 .low = 256, .high = 1 << 30, .flags = OPTION_ADVANCED,                                    \
	 .help = "Mean bytes allocated between two sampled allocations. Default: 8192, and more "  \
		 "while a program allocates fast.",                                                \
	 FIELD(memory_window_bytes)}

#endif
