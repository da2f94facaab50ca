/* show.h - show what was measured, as text: a report with colours, through the
 * pager; the summary of what has just been measured. */
#ifndef HEATLINE_CLI_SHOW_H
#define HEATLINE_CLI_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/model.h"
#include "report/style.h"

/* Writes the report; context is the caller's. */
typedef void show_print(FILE *out, const struct style *style, const void *context);

/* Makes the report whole, in memory, and shows it on standard output: only then is it
 * known whether it fits the terminal.  color is "auto", "always" or "never".
 * Returns the exit status: 0, or 1 after a sentence. */
int show_report(const char *color, bool has_pager, show_print *print, const void *context);

/* Prints the summary on standard error, beside the program's own output.  path:
 * where the profile is, as the user would type it; NULL when it is in no file.
 * is_explained: why there is no line in it was said already. */
void show_summary(const struct profile *profile, const char *path, bool is_explained);

/* The options that go with a report, for fields `color` and `has_pager`. */
#define SHOW_OPTIONS                                                                          \
	{.name = "color", .alias = "colour", .kind = OPTION_CHOICE, .value = "WHEN",          \
	 .choices = "auto|always|never",                                                      \
	 .help = "Use colours: auto, always or never (default: auto, which is on a terminal " \
		 "unless NO_COLOR is set).",                                                  \
	 FIELD(color)},                                                                       \
	{.name = "pager", .kind = OPTION_SWITCH,                                              \
	 .help = "Page what is taller than the terminal through $PAGER (default: yes).",      \
	 FIELD(has_pager)}

#endif
