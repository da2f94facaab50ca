/* advice_site.c - what the rules ask about a statement. */
#include "profile/advice_site.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define MIN_SAMPLES 10u /* fewer show nothing */
#define LONG_FACTOR 5   /* no short operation takes as much longer than a loop's own step */

/* ---- figures ---- */

static void add_line(struct advice_site *site, const struct profile_line *line, double *most_s)
{
	double seconds = metrics_seconds(&line->self) + 1e-15 * line->self.alloc_bytes;
	metrics_add(&site->self, &line->self);
	gpu_figures_add(&site->gpu, &line->gpu);
	if (line->inclusive_s > site->inclusive_s)
		site->inclusive_s = line->inclusive_s;
	if (line->memory.leak_likelihood > site->leak_likelihood) {
		site->leak_likelihood = line->memory.leak_likelihood;
		site->leak_bytes_per_s = line->memory.leak_bytes_per_s;
	}
	if (seconds > *most_s) {
		*most_s = seconds;
		site->line = line->line;
	}
}

static const struct blocking_step *find_blocking(const struct advice_site *site)
{
	for (uint32_t i = 0; i < site->profile->blocking_count; i++) {
		const struct blocking_step *step = &site->profile->blocking[i];
		if (text_equal(step->file, site->file->path) &&
		    step->line >= site->statement->line && step->line <= site->statement->line_end)
			return step;
	}
	return NULL;
}

bool advice_site_init(struct advice_site *site, const struct profile *profile,
		      const struct profile_file *file, const struct names *names,
		      const struct statement *statement)
{
	*site = (struct advice_site){.profile = profile, .file = file, .names = names,
				     .statement = statement};
	uint32_t low = 0, high = file->line_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (file->lines[middle].line < statement->line)
			low = middle + 1;
		else
			high = middle;
	}
	double most_s = -1;
	for (; low < file->line_count && file->lines[low].line <= statement->line_end; low++)
		add_line(site, &file->lines[low], &most_s);
	site->blocking = find_blocking(site);
	return most_s >= 0;
}

double advice_site_seconds(const struct advice_site *site)
{
	return metrics_seconds(&site->self);
}

static double share_of(const struct advice_site *site, double seconds)
{
	return site->profile->total_s > 0 ? seconds / site->profile->total_s : 0;
}

double advice_site_share(const struct advice_site *site)
{
	return share_of(site, advice_site_seconds(site));
}

bool advice_site_takes(const struct advice_site *site, double share)
{
	return site->self.samples >= MIN_SAMPLES && advice_site_share(site) >= share;
}

bool advice_site_takes_inclusive(const struct advice_site *site, double share)
{
	double seconds = site->inclusive_s;
	double samples = site->profile->total_s > 0
				 ? (double)site->profile->sum.samples * seconds / site->profile->total_s
				 : 0;
	return samples >= MIN_SAMPLES && share_of(site, seconds) >= share;
}

bool advice_site_is_native(const struct advice_site *site)
{
	double native_s = site->self.native_s + site->self.system_s;
	return native_s >= site->self.python_s && native_s > 0;
}

/* The rest of the innermost loop around the site's line: its own header at least. */
static bool find_rest_of_loop(const struct advice_site *site, double *rest_s)
{
	const struct profile_line *own = profile_find_line(site->file, site->line);
	const struct line_region *region = &own->region;
	if (!(region->region_start < site->statement->line && region->loop_start < own->line &&
	      own->line <= region->loop_end))
		return false;
	*rest_s = 0;
	for (uint32_t i = 0; i < site->file->line_count; i++) {
		const struct profile_line *line = &site->file->lines[i];
		if (line->line >= region->region_start && line->line <= region->region_end &&
		    (line->line < site->statement->line || line->line > site->statement->line_end))
			*rest_s += metrics_seconds(&line->self);
	}
	return true;
}

bool advice_site_is_long(const struct advice_site *site)
{
	double rest_s;
	return advice_site_is_native(site) ||
	       (site->self.samples >= 2 * MIN_SAMPLES && find_rest_of_loop(site, &rest_s) &&
		advice_site_seconds(site) >= LONG_FACTOR * rest_s);
}

bool advice_is_much(double bytes, double whole_bytes)
{
	return bytes >= 100 * ADVICE_MB && bytes >= 0.2 * whole_bytes;
}

/* ---- the stacks ---- */

static bool is_in_loop(const struct profile_file *file, uint32_t line)
{
	const struct profile_line *known = profile_find_line(file, line);
	return known && known->region.loop_start < line && line <= known->region.loop_end;
}

static bool is_frame_of(const struct advice_site *site, const struct stack_node *node)
{
	return node->file < site->profile->file_count &&
	       &site->profile->files[node->file] == site->file &&
	       node->line >= site->statement->line && node->line <= site->statement->line_end;
}

bool advice_site_is_repeated(const struct advice_site *site)
{
	const struct profile *profile = site->profile;
	if (site->statement->is_in_loop)
		return true;
	for (uint32_t i = 1; i < profile->stack_count; i++) {
		if (!is_frame_of(site, &profile->stacks[i]))
			continue;
		uint32_t at = i;
		while (profile->stacks[at].parent < at && (at = profile->stacks[at].parent) != 0) {
			const struct stack_node *caller = &profile->stacks[at];
			if (caller->file < profile->file_count &&
			    is_in_loop(&profile->files[caller->file], caller->line))
				return true;
		}
	}
	return false;
}

/* re's compiler and the look-up in its cache, by the names that they have had. */
static bool is_compiling(const struct profile *profile, const struct stack_node *node)
{
	static const char *const compilers[] = {"/sre_compile.py", "/sre_parse.py",
						"/re/_compiler.py", "/re/_parser.py"};
	if (node->file >= profile->file_count || !node->function)
		return false;
	const char *path = profile->files[node->file].path;
	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		if (text_ends_with(path, compilers[i]))
			return true;
	}
	return strcmp(node->function, "_compile") == 0 &&
	       (text_ends_with(path, "/re.py") || text_ends_with(path, "/re/__init__.py"));
}

double advice_site_compiling_s(const struct advice_site *site)
{
	enum { OUTSIDE, BELOW, COMPILING };
	const struct profile *profile = site->profile;
	uint8_t *states = mem_zalloc(profile->stack_count + 1, sizeof(*states));
	double seconds = 0;
	for (uint32_t i = 1; i < profile->stack_count; i++) {
		const struct stack_node *node = &profile->stacks[i];
		bool is_own = node->file < profile->file_count && profile->files[node->file].in_scope;
		states[i] = node->parent < i && !is_own ? states[node->parent] : OUTSIDE;
		if (is_frame_of(site, node))
			states[i] = BELOW;
		else if (states[i] == BELOW && is_compiling(profile, node))
			states[i] = COMPILING;
		if (states[i] == COMPILING)
			seconds += metrics_seconds(&node->self);
	}
	free(states);
	return seconds;
}

/* ---- words ---- */

void advice_put_time(struct buf *text, const struct profile *profile, double seconds)
{
	double percent = profile_percent(profile, seconds);
	buf_printf(text, "%.*f%% of the time (%.3g s)", percent < 9.95 ? 1 : 0, percent, seconds);
}

void advice_put_cost(struct buf *text, const struct advice_site *site)
{
	advice_put_time(text, site->profile, advice_site_seconds(site));
	buf_text(text, " is spent here");
}

void advice_put_bytes(struct buf *text, double bytes)
{
	double mb = bytes / ADVICE_MB;
	if (mb >= 10 * 1024)
		buf_printf(text, "%.0f GB", mb / 1024);
	else if (mb >= 1024)
		buf_printf(text, "%.1f GB", mb / 1024);
	else
		buf_printf(text, "%.*f MB", mb < 10 ? 1 : 0, mb);
}

/* ---- calls ---- */

uint32_t advice_find_call(const struct advice_site *site, uint32_t index,
			  const char *const *origins)
{
	const struct statement *statement = site->statement;
	char path[STATEMENT_PATH_BYTES], origin[STATEMENT_PATH_BYTES];
	for (uint32_t i = index; i < statement->count; i++) {
		uint32_t after = statement_path(statement, i, path);
		if (after == i || !statement_has(statement, after, "("))
			continue;
		names_origin(site->names, statement, path, origin);
		for (uint32_t k = 0; origin[0] && origins[k]; k++) {
			if (strcmp(origin, origins[k]) == 0)
				return after;
		}
	}
	return statement->count;
}

uint32_t advice_find_method(const struct advice_site *site, uint32_t index, const char *name)
{
	const struct statement *statement = site->statement;
	for (uint32_t i = index; i + 1 < statement->count; i++) {
		if (i > 0 && statement_has(statement, i, name) && statement_has(statement, i - 1, ".") &&
		    statement_has(statement, i + 1, "("))
			return i + 1;
	}
	return statement->count;
}

bool advice_method_owner(const struct advice_site *site, uint32_t open,
			 char path[STATEMENT_PATH_BYTES])
{
	const struct statement *statement = site->statement;
	uint32_t start = open - 1; /* the method's name */
	while (start >= 2 && statement_has(statement, start - 1, ".") &&
	       statement->tokens[start - 2].kind == TOKEN_WORD)
		start -= 2;
	if (statement_path(statement, start, path) != open)
		return false;
	char *dot = strrchr(path, '.');
	if (!dot)
		return false;
	*dot = '\0';
	return true;
}
