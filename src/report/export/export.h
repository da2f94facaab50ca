/* export.h - a profile in the formats of other tools.
 *
 * One table lists the formats; the command line, its help and the web server
 * all read it.  Each format is one file in this folder, and streams: what it
 * holds in memory is bounded by the number of stack nodes, not by its output.
 * Names and source lines come from the profiled program and are escaped as the
 * format asks; no format can be made to say something else by a hostile name. */
#ifndef HEATLINE_REPORT_EXPORT_EXPORT_H
#define HEATLINE_REPORT_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "profile/model.h"

/* What the stacks of an export are weighed by. */
enum export_metric {
	EXPORT_TIME,   /* microseconds, waiting included */
	EXPORT_CPU,    /* microseconds on a CPU */
	EXPORT_MEMORY, /* bytes allocated */
	EXPORT_PEAK,   /* bytes live when the whole program was at its peak */
	EXPORT_KEPT,   /* bytes never given back */
	EXPORT_COPIED, /* bytes copied */
	EXPORT_GPU,    /* microseconds on a GPU, of what was launched */
	EXPORT_METRIC_COUNT
};

#define EXPORT_METRIC_NAMES "time|cpu|memory|peak|kept|copied|gpu" /* in that order */

struct export_format {
	const char *name;
	const char *suffix;    /* of a file: ".speedscope.json" */
	const char *mime_type; /* for a download */
	const char *summary;   /* a sentence: what opens it */
	bool is_binary;        /* nothing for a terminal */
	bool takes_metric;     /* whether it makes a difference which one is asked for */
	bool is_time_only;     /* knows time and CPU time, not memory */
	void (*write)(FILE *out, const struct profile *profile, enum export_metric metric);
};

/* In the order of the help; ends with a NULL name. */
extern const struct export_format export_formats[];

/* The names as an option's choices: "speedscope|pprof|…"; static. */
#define EXPORT_FORMAT_NAMES "speedscope|pprof|collapsed|svg|gecko|chrome|pstats|csv|markdown"

/* NULL when there is none of this name. */
const struct export_format *export_format_find(const char *name);

/* The metric of this name; false when there is none. */
bool export_metric_find(const char *name, enum export_metric *metric);
const char *export_metric_name(enum export_metric metric);

/* Else it is bytes. */
static inline bool export_is_time(enum export_metric metric)
{
	return metric == EXPORT_TIME || metric == EXPORT_CPU || metric == EXPORT_GPU;
}

/* Whether this export of this profile would say anything: memory or a GPU was
 * measured where it is asked for, the format knows the metric.  Returns 0, or
 * negative with the sentence. */
int export_check(const struct export_format *format, const struct profile *profile,
		 enum export_metric metric, struct err *err);

/* Writes all of it; the caller looks at ferror.  Call export_check before. */
void export_write(const struct export_format *format, const struct profile *profile,
		  enum export_metric metric, FILE *out);

/* Whether path may be written to.  What is read is kept, and so are Python files: a mistyped
 * name must not cost the user a program.  read: the profile's path.  Returns 0, or
 * negative with the sentence. */
int export_check_path(const char *path, const char *read, struct err *err);

/* Where an export goes when nobody says: beside the profile, with the format's
 * suffix in place of ".json".  The caller frees. */
char *export_path_beside(const char *profile_path, const struct export_format *format);

#endif
