/* advice_site.c - what the rules ask about a statement. */
#include "profile/advice_site.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/source.h"

#define MAX_SEARCHED_BYTES ((size_t)512 << 10) /* of a source, for each of its lines */
#define MIN_SAMPLES 10u /* fewer show nothing */
#define LONG_FACTOR 5   /* no short operation takes as much longer than a loop's own step */

/* What a statement copies that does nothing else, at least; of lists of 300 items it was 11 to 43 GB
 * a second, of three 0.3 to 1.8.  Where no copies are seen: what it then has of native time. */
#define MOVED_BYTES_PER_S (3072 * MB)
#define MOVING_SHARE 0.9

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
		      const struct statement *statement, struct advice_stacks *stacks)
{
	*site = (struct advice_site){.profile = profile, .file = file, .names = names,
				     .statement = statement, .stacks = stacks};
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

bool advice_site_takes(const struct advice_site *site, double share)
{
	return site->self.samples >= MIN_SAMPLES &&
	       share_of(site, advice_site_seconds(site)) >= share;
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

/* Samples in the rest of the innermost loop around the site's line, its own header at least.
 * Not seconds: on a busy machine a single sample can stand for long. */
static bool count_rest_of_loop(const struct advice_site *site, uint64_t *rest)
{
	const struct profile_line *own = profile_find_line(site->file, site->line);
	const struct line_region *region = &own->region;
	if (!(region->region_start < site->statement->line && region->loop_start < own->line &&
	      own->line <= region->loop_end))
		return false;
	*rest = 0;
	for (uint32_t i = 0; i < site->file->line_count; i++) {
		const struct profile_line *line = &site->file->lines[i];
		if (line->line >= region->region_start && line->line <= region->region_end &&
		    (line->line < site->statement->line || line->line > site->statement->line_end))
			*rest += line->self.samples;
	}
	return true;
}

static bool outweighs_its_loop(const struct advice_site *site)
{
	uint64_t rest;
	return site->self.samples >= 2 * MIN_SAMPLES && count_rest_of_loop(site, &rest) &&
	       site->self.samples >= LONG_FACTOR * rest;
}

bool advice_site_is_long(const struct advice_site *site)
{
	return advice_site_is_native(site) || outweighs_its_loop(site);
}

bool advice_site_moves_much(const struct advice_site *site)
{
	const struct metrics *self = &site->self;
	double native_s = self->native_s + self->system_s, cpu_s = native_s + self->python_s;
	if (!advice_site_is_native(site))
		return false;
	if (self->copy_bytes > 0)
		return self->copy_bytes >= MOVED_BYTES_PER_S * cpu_s;
	return native_s >= MOVING_SHARE * cpu_s || outweighs_its_loop(site);
}

bool advice_is_much(double bytes, double whole_bytes)
{
	return bytes >= 100 * MB && bytes >= 0.2 * whole_bytes;
}

/* ---- the stacks ---- */

/* Whether a line has a comprehension in it. */
static bool has_comprehension(const struct profile_file *file, uint32_t line)
{
	size_t size;
	const char *text = source_file_line(file, line, &size);
	struct token_reader reader;
	struct token token;
	token_reader_init(&reader, text, size);
	do {
		token = token_next(&reader);
		if (token.depth > 0 && token_is(&token, "for"))
			return true;
	} while (token.kind != TOKEN_END);
	return false;
}

/* A frame of its own, up to Python 3.11 and as a generator. */
static bool is_comprehension(const struct stack_node *node)
{
	return node->function && (text_ends_with(node->function, "comp>") ||
				  text_ends_with(node->function, "<genexpr>"));
}

/* Whether the frame's line calls again and again: in a loop, or in a comprehension. */
static bool is_in_loop(const struct profile *profile, const struct stack_node *node)
{
	if (node->file >= profile->file_count)
		return false;
	const struct profile_file *file = &profile->files[node->file];
	const struct profile_line *known = profile_find_line(file, node->line);
	if (known && known->region.loop_start < node->line && node->line <= known->region.loop_end)
		return true;
	return file->in_scope && file->source_size <= MAX_SEARCHED_BYTES &&
	       has_comprehension(file, node->line);
}

static bool is_frame_of(const struct advice_site *site, const struct stack_node *node)
{
	return node->file < site->profile->file_count &&
	       &site->profile->files[node->file] == site->file &&
	       node->line >= site->statement->line && node->line <= site->statement->line_end;
}

/* One pass: what is above a node comes before it.  Each line is looked at once. */
static bool *find_loops(const struct profile *profile)
{
	bool *is_below = mem_zalloc(profile->stack_count + 1, sizeof(*is_below));
	struct map known;
	map_init(&known);
	for (uint32_t i = 1; i < profile->stack_count; i++) {
		const struct stack_node *node = &profile->stacks[i];
		uint32_t parent = node->parent < i ? node->parent : 0;
		bool is_new;
		if (!parent)
			continue;
		const struct stack_node *caller = &profile->stacks[parent];
		uint64_t *answer = map_put(&known, ((uint64_t)caller->file << 32 | caller->line) + 1, &is_new);
		if (is_new)
			*answer = is_in_loop(profile, caller);
		is_below[i] = is_below[parent] || *answer || is_comprehension(caller);
	}
	map_fini(&known);
	return is_below;
}

void advice_stacks_fini(struct advice_stacks *stacks)
{
	free(stacks->is_in_loop);
	stacks->is_in_loop = NULL;
}

bool advice_site_is_repeated(const struct advice_site *site)
{
	const struct profile *profile = site->profile;
	if (site->statement->is_in_loop)
		return true;
	if (!site->stacks->is_in_loop)
		site->stacks->is_in_loop = find_loops(profile);
	for (uint32_t i = 1; i < profile->stack_count; i++) {
		if (site->stacks->is_in_loop[i] && is_frame_of(site, &profile->stacks[i]))
			return true;
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
	buf_printf(text, "%.*f%% of the time (", percent < 9.95 ? 1 : 0, percent);
	buf_seconds(text, seconds);
	buf_char(text, ')');
}

void advice_put_cost(struct buf *text, const struct advice_site *site)
{
	advice_put_time(text, site->profile, advice_site_seconds(site));
	buf_text(text, " is spent here");
}

void advice_put_bytes(struct buf *text, double bytes)
{
	double mb = bytes / MB;
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
