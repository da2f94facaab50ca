/* export.c - the formats, and what they share. */
#include "report/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/export/formats.h"

const struct export_format export_formats[] = {
	{.name = "speedscope", .suffix = ".speedscope.json", .mime_type = "application/json",
	 .summary = "for speedscope.app; all metrics in one file", .takes_metric = true,
	 .write = export_speedscope},
	{.name = "pprof", .suffix = ".pb.gz", .mime_type = "application/octet-stream",
	 .summary = "for `go tool pprof`, Pyroscope and the like; all metrics in one file",
	 .is_binary = true, .takes_metric = true, .write = export_pprof},
	{.name = "collapsed", .suffix = ".collapsed.txt", .mime_type = "text/plain; charset=utf-8",
	 .summary = "a line a stack, for flamegraph.pl and inferno",
	 .takes_metric = true, .write = export_collapsed},
	{.name = "svg", .suffix = ".svg", .mime_type = "image/svg+xml",
	 .summary = "a flame graph for any browser, with search and zoom",
	 .takes_metric = true, .write = export_svg},
	{.name = "gecko", .suffix = ".gecko.json", .mime_type = "application/json",
	 .summary = "for the Firefox Profiler, profiler.firefox.com",
	 .takes_metric = true, .write = export_gecko},
	{.name = "chrome", .suffix = ".trace.json", .mime_type = "application/json",
	 .summary = "for Perfetto, ui.perfetto.dev, and chrome://tracing",
	 .takes_metric = true, .write = export_chrome},
	{.name = "pstats", .suffix = ".pstats", .mime_type = "application/octet-stream",
	 .summary = "for Python's pstats module, SnakeViz and gprof2dot", .is_binary = true,
	 .takes_metric = true, .is_time_only = true, .write = export_pstats},
	{.name = "csv", .suffix = ".csv", .mime_type = "text/csv; charset=utf-8",
	 .summary = "a row a line of source, for spreadsheets", .write = export_csv},
	{.name = "markdown", .suffix = ".md", .mime_type = "text/markdown; charset=utf-8",
	 .summary = "the hottest lines and functions, for a pull request", .takes_metric = true,
	 .write = export_markdown},
	{0},
};

static const char *const metric_names[EXPORT_METRIC_COUNT] = {"time", "cpu",  "memory",
							      "peak", "kept", "copied", "gpu"};

const struct export_format *export_format_find(const char *name)
{
	for (const struct export_format *format = export_formats; format->name; format++) {
		if (strcmp(format->name, name) == 0)
			return format;
	}
	return NULL;
}

bool export_metric_find(const char *name, enum export_metric *metric)
{
	for (int i = 0; i < EXPORT_METRIC_COUNT; i++) {
		if (strcmp(metric_names[i], name) == 0) {
			*metric = (enum export_metric)i;
			return true;
		}
	}
	return false;
}

const char *export_metric_name(enum export_metric metric)
{
	return metric_names[metric];
}

int export_check(const struct export_format *format, const struct profile *profile,
		 enum export_metric metric, struct err *err)
{
	bool is_memory = !export_is_time(metric), is_gpu = metric == EXPORT_GPU;
	if (metric != EXPORT_TIME && !format->takes_metric)
		return err_set(err, ERR_USAGE, "%s has all figures; leave --metric out",
			       format->name);
	if ((is_memory || is_gpu) && format->is_time_only)
		return err_set(err, ERR_USAGE, "%s knows no %s; its metrics are time and cpu",
			       format->name, is_gpu ? "GPU" : "memory");
	if (is_gpu && !profile->gpu.source)
		return err_set(err, ERR_USAGE, "this profile has no GPU figures");
	if (is_memory && !profile->has_memory)
		return err_set(err, ERR_USAGE,
			       "this profile has no memory figures: it was made with --cpu-only");
	return 0;
}

int export_check_path(const char *path, const char *read, struct err *err)
{
	char begin[1];

	if (file_is_same(path, read))
		return err_set(err, ERR_USAGE, "'%s' is the profile that is read, which would be "
					       "lost; name another file", path);
	/* Exports begin in many ways, but none is called so. */
	if (text_ends_with(path, ".py") && file_begin(path, begin, sizeof(begin)) > 0)
		return err_set(err, ERR_USAGE, "'%s' is there already and is not an export; name "
					       "another file, or remove it", path);
	return 0;
}

void export_write(const struct export_format *format, const struct profile *profile,
		  enum export_metric metric, FILE *out)
{
	format->write(out, profile, metric);
}

char *export_path_beside(const char *profile_path, const struct export_format *format)
{
	size_t size = strlen(profile_path), suffix_size = strlen(format->suffix);
	if (text_ends_with(profile_path, ".json"))
		size -= strlen(".json");
	char *path = mem_alloc(size + suffix_size + 1);
	memcpy(path, profile_path, size);
	memcpy(path + size, format->suffix, suffix_size + 1);
	return path;
}
