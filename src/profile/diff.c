/* diff.c - two profiles compared. */
#include "profile/diff.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "profile/diff_match.h"
#include "profile/diff_noise.h"
#include "profile/source.h"

#define TELLING_BYTES 6u  /* a line with less text than this is like many others */
#define SAME_LINES 500u  /* before a line, among which those with its text are counted */

/* A line or function of one profile, with what it is matched by. */
struct item {
	const struct profile_file *file;
	const struct profile_line *line;         /* or NULL */
	const struct profile_function *function; /* of the line, or itself; may be NULL */
	const char *path;                        /* below the program's folder; borrowed */
	const char *text;                        /* trimmed source; borrowed; not terminated */
	size_t text_size;
	uint32_t offset; /* lines from the beginning of the line's function, or of the function's file */
	uint32_t nth;    /* of the lines with the same text there, where they are known */
};

struct items {
	VEC(struct item) list[DIFF_SIDES];
	uint32_t *matches[DIFF_SIDES]; /* owned */
};

static const char *path_below_program(const struct profile *profile, const char *path)
{
	const char *folder = profile->entrypoint_dir;
	size_t size = folder ? strlen(folder) : 0;
	bool is_below = size > 0 && strncmp(path, folder, size) == 0 && path[size] == '/';
	return is_below ? path + size + 1 : path;
}

static void trim(const char **text, size_t *size)
{
	while (*size && strchr(" \t\f\r\n", (*text)[0])) {
		++*text;
		--*size;
	}
	while (*size && strchr(" \t\f\r\n", (*text)[*size - 1]))
		--*size;
}

/* How many of the lines from first on, of the last SAME_LINES before a line, have this text. */
static uint32_t count_same(const struct source_lines *source, uint32_t first, uint32_t before,
			   const char *text, size_t size)
{
	uint32_t count = 0;
	if (before > SAME_LINES && first < before - SAME_LINES)
		first = before - SAME_LINES;
	for (uint32_t number = first; number < before && number <= source->count; number++) {
		size_t other_size;
		const char *other = source_line(source, number, &other_size);
		trim(&other, &other_size);
		count += other_size == size && memcmp(other, text, size) == 0;
	}
	return count;
}

static void find_place(struct item *item, const struct source_lines *source, uint32_t first,
		       uint32_t number)
{
	item->offset = number - first;
	item->nth = count_same(source, first, number, item->text, item->text_size);
}

static void collect_lines(struct items *items, int side, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		struct source_lines source;
		source_lines_init(&source, file->source ? file->source : "", file->source_size);
		for (uint32_t j = 0; j < file->line_count; j++) {
			const struct profile_line *line = &file->lines[j];
			struct item item = {.file = file, .line = line,
					    .function = profile_find_function(file, line),
					    .path = path_below_program(profile, file->path)};
			item.text = source_line(&source, line->line, &item.text_size);
			if (line->text) {
				item.text = line->text;
				item.text_size = strlen(line->text);
			}
			trim(&item.text, &item.text_size);
			find_place(&item, &source, line->region.function_start, line->line);
			vec_push(&items->list[side], item);
		}
		source_lines_fini(&source);
	}
}

static void collect_functions(struct items *items, int side, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		struct source_lines source;
		source_lines_init(&source, file->source ? file->source : "", file->source_size);
		for (uint32_t j = 0; j < file->function_count; j++) {
			const struct profile_function *function = &file->functions[j];
			struct item item = {.file = file, .function = function,
					    .path = path_below_program(profile, file->path)};
			item.text = source_line(&source, function->first_line, &item.text_size);
			trim(&item.text, &item.text_size);
			find_place(&item, &source, 0, function->first_line);
			vec_push(&items->list[side], item);
		}
		source_lines_fini(&source);
	}
}

static void put_part(struct buf *key, const char *text, size_t size)
{
	buf_append(key, text, size);
	buf_char(key, '\0');
}

static const char *function_name(const struct item *item)
{
	return item->function ? item->function->name : "";
}

/* One of several lines with the same text in a function may have figures in one profile alone,
 * by chance: whatever was not edited is matched by its place before any other. */
static void put_place(struct buf *key, const struct item *item)
{
	put_part(key, item->text, item->text_size);
	buf_printf(key, "%u %u", item->offset, item->nth);
}

enum { LINE_UNCHANGED, LINE_SAME, LINE_OTHER_FUNCTION, LINE_OTHER_FILE, LINE_EDITED, LINE_PASSES };

/* Appends only the letters: another number or another sign is an edited line. */
static void put_letters(struct buf *key, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		if (isalpha(c) || c == '_' || c >= 0x80)
			buf_char(key, (char)c);
	}
}

static bool line_key(const void *context, int side, uint32_t index, int pass, struct buf *key)
{
	const struct items *items = context;
	const struct item *item = &items->list[side].items[index];
	if (pass > LINE_SAME && item->text_size < TELLING_BYTES)
		return false;
	if (pass != LINE_OTHER_FILE)
		put_part(key, item->path, strlen(item->path));
	if (pass != LINE_OTHER_FUNCTION)
		put_part(key, function_name(item), strlen(function_name(item)));
	if (pass == LINE_UNCHANGED) {
		put_place(key, item);
		return true;
	}
	if (pass == LINE_EDITED) {
		size_t before = key->size;
		put_letters(key, item->text, item->text_size);
		return key->size - before >= TELLING_BYTES;
	}
	put_part(key, item->text, item->text_size);
	if (item->text_size == 0) /* the source is not known: the number must do */
		buf_printf(key, "%u", item->line->line);
	return true;
}

enum { FUNCTION_UNCHANGED, FUNCTION_SAME, FUNCTION_OTHER_FILE, FUNCTION_PASSES };

static bool function_key(const void *context, int side, uint32_t index, int pass, struct buf *key)
{
	const struct items *items = context;
	const struct item *item = &items->list[side].items[index];
	/* Every file has a "<module>", and lambdas have no name of their own. */
	if (pass == FUNCTION_OTHER_FILE && strchr(function_name(item), '<'))
		return false;
	if (pass != FUNCTION_OTHER_FILE)
		put_part(key, item->path, strlen(item->path));
	put_part(key, function_name(item), strlen(function_name(item)));
	if (pass == FUNCTION_UNCHANGED)
		put_place(key, item);
	return true;
}

static void match(struct items *items, int passes, diff_key *key)
{
	uint32_t count[] = {items->list[DIFF_BEFORE].count, items->list[DIFF_AFTER].count};
	diff_match(count, passes, key, items, items->matches);
}

static void items_fini(struct items *items)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		vec_free(&items->list[side]);
		free(items->matches[side]);
	}
}

/* Calls pair for each pair, and for each item that has no match with NULL for it. */
static void each_pair(const struct items *items, struct profile_diff *diff,
		      void (*pair)(struct profile_diff *diff, const struct item *const side[2]))
{
	for (uint32_t i = 0; i < items->list[DIFF_AFTER].count; i++) {
		uint32_t other = items->matches[DIFF_AFTER][i];
		const struct item *sides[] = {
			other == DIFF_NO_MATCH ? NULL : &items->list[DIFF_BEFORE].items[other],
			&items->list[DIFF_AFTER].items[i]};
		pair(diff, sides);
	}
	for (uint32_t i = 0; i < items->list[DIFF_BEFORE].count; i++) {
		const struct item *sides[] = {&items->list[DIFF_BEFORE].items[i], NULL};
		if (items->matches[DIFF_BEFORE][i] == DIFF_NO_MATCH)
			pair(diff, sides);
	}
}

/* ---- figures ---- */

static double variance_of(const struct profile *profile, double bytes, const struct metrics *self,
			  const struct memory *memory)
{
	double mean = memory->alloc_count > 0 ? self->alloc_bytes / memory->alloc_count : 0;
	return diff_bytes_variance(profile, bytes, mean);
}

static void add_line(struct profile_diff *diff, const struct item *const side[DIFF_SIDES])
{
	static const struct profile_line nothing;
	const struct profile_line *line[DIFF_SIDES];
	double peak_variance = 0, alloc_variance = 0, copy_variance = 0;
	struct diff_line *added = &diff->lines[diff->line_count++];
	*added = (struct diff_line){.function = ""};
	for (int i = 0; i < DIFF_SIDES; i++) {
		line[i] = side[i] ? side[i]->line : &nothing;
		added->file[i] = side[i] ? side[i]->file : NULL;
		added->line[i] = side[i] ? side[i]->line : NULL;
		if (side[i] && function_name(side[i])[0])
			added->function = function_name(side[i]);
		const struct metrics *self = &line[i]->self;
		const struct memory *memory = &line[i]->memory;
		const struct profile *profile = diff->profile[i];
		peak_variance += variance_of(profile, memory->peak_bytes, self, memory);
		alloc_variance += variance_of(profile, self->alloc_bytes, self, memory);
		copy_variance += diff_copy_variance(profile, self->copy_bytes);
	}
	added->time_s = diff_share(diff->profile, diff_time_of(&line[0]->self),
				   diff_time_of(&line[1]->self));
	if (diff->has_gpu)
		added->gpu_s = diff_gpu(line[0]->self.gpu_s, line[1]->self.gpu_s);
	if (!diff->has_memory)
		return;
	added->peak_bytes = diff_bytes(line[0]->memory.peak_bytes, line[1]->memory.peak_bytes,
				       peak_variance);
	added->alloc_bytes =
		diff_bytes(line[0]->self.alloc_bytes, line[1]->self.alloc_bytes, alloc_variance);
	added->copy_bytes =
		diff_bytes(line[0]->self.copy_bytes, line[1]->self.copy_bytes, copy_variance);
}

static void add_function(struct profile_diff *diff, const struct item *const side[DIFF_SIDES])
{
	static const struct profile_function nothing;
	const struct profile_function *function[DIFF_SIDES];
	double variance = 0;
	struct diff_function *added = &diff->functions[diff->function_count++];
	*added = (struct diff_function){0};
	for (int i = 0; i < DIFF_SIDES; i++) {
		function[i] = side[i] ? side[i]->function : &nothing;
		added->file[i] = side[i] ? side[i]->file : NULL;
		added->function[i] = side[i] ? side[i]->function : NULL;
		variance += variance_of(diff->profile[i], function[i]->self.alloc_bytes,
					&function[i]->self, &function[i]->memory);
	}
	added->time_s = diff_share(diff->profile, diff_time_of(&function[0]->self),
				   diff_time_of(&function[1]->self));
	added->inclusive_s =
		diff_share(diff->profile, diff_time_any(diff->profile[0], function[0]->inclusive_s),
			   diff_time_any(diff->profile[1], function[1]->inclusive_s));
	if (diff->has_memory)
		added->alloc_bytes = diff_bytes(function[0]->self.alloc_bytes,
						function[1]->self.alloc_bytes, variance);
}

/* The peak is known as well as its parts are. */
static double peak_variance(const struct profile *profile)
{
	double variance = 0;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		for (uint32_t j = 0; j < file->line_count; j++) {
			const struct profile_line *line = &file->lines[j];
			variance += variance_of(profile, line->memory.at_peak_bytes, &line->self,
						&line->memory);
		}
	}
	return variance;
}

static double whole_variance(const struct profile *profile)
{
	return variance_of(profile, profile->sum.alloc_bytes, &profile->sum, &profile->memory);
}

typedef struct diff_value compare_times(const struct profile *const profile[DIFF_SIDES],
					struct diff_time before, struct diff_time after);

static struct diff_value compare_any(const struct profile_diff *diff, compare_times *compare,
				     double before_s, double after_s)
{
	return compare(diff->profile, diff_time_any(diff->profile[DIFF_BEFORE], before_s),
		       diff_time_any(diff->profile[DIFF_AFTER], after_s));
}

static struct diff_value compare_on_cpu(const struct profile_diff *diff, double before_s,
					double after_s)
{
	return diff_share(diff->profile, diff_time_on_cpu(diff->profile[DIFF_BEFORE], before_s),
			  diff_time_on_cpu(diff->profile[DIFF_AFTER], after_s));
}

static bool has_gpu(const struct profile *profile)
{
	return text_equal(profile->gpu.source, "cupti");
}

static void compare_wholes(struct profile_diff *diff)
{
	const struct profile *before = diff->profile[DIFF_BEFORE];
	const struct profile *after = diff->profile[DIFF_AFTER];
	diff->total_s = compare_any(diff, diff_whole, before->total_s, after->total_s);
	diff->elapsed_s = compare_any(diff, diff_whole, before->elapsed_s, after->elapsed_s);
	diff->cpu_s = diff_whole(diff->profile,
				 (struct diff_time){before->sum.cpu_s, before->sum.cpu_s},
				 (struct diff_time){after->sum.cpu_s, after->sum.cpu_s});
	diff->python_s = compare_on_cpu(diff, before->sum.python_s, after->sum.python_s);
	diff->native_s = compare_on_cpu(diff, before->sum.native_s, after->sum.native_s);
	diff->system_s = compare_on_cpu(diff, before->sum.system_s, after->sum.system_s);
	diff->wait_s = diff_share(diff->profile,
				  (struct diff_time){before->sum.wait_s, before->sum.wait_s},
				  (struct diff_time){after->sum.wait_s, after->sum.wait_s});
	diff->has_gpu = has_gpu(before) && has_gpu(after);
	if (diff->has_gpu)
		diff->gpu_s = diff_gpu(before->sum.gpu_s, after->sum.gpu_s);
	diff->has_memory = before->has_memory && after->has_memory;
	if (!diff->has_memory)
		return;
	diff->peak_bytes = diff_bytes(before->memory.peak_bytes, after->memory.peak_bytes,
				      peak_variance(before) + peak_variance(after));
	diff->alloc_bytes = diff_bytes(before->sum.alloc_bytes, after->sum.alloc_bytes,
				       whole_variance(before) + whole_variance(after));
	diff->copy_bytes = diff_bytes(before->sum.copy_bytes, after->sum.copy_bytes,
				      diff_copy_variance(before, before->sum.copy_bytes) +
					      diff_copy_variance(after, after->sum.copy_bytes));
}

static int compare_changes(const struct diff_value *a, const struct diff_value *b)
{
	double left = fabs(diff_change(a)), right = fabs(diff_change(b));
	return (left < right) - (left > right);
}

static int compare_lines(const void *a, const void *b)
{
	const struct diff_line *left = a, *right = b;
	int order = compare_changes(&left->time_s, &right->time_s);
	if (!order)
		order = strcmp(diff_line_file(left)->path, diff_line_file(right)->path);
	if (!order)
		order = (diff_line_number(left) > diff_line_number(right)) -
			(diff_line_number(left) < diff_line_number(right));
	return order;
}

static int compare_functions(const void *a, const void *b)
{
	const struct diff_function *left = a, *right = b;
	int order = compare_changes(&left->inclusive_s, &right->inclusive_s);
	if (order)
		return order;
	const struct profile_function *first =
		left->function[left->function[DIFF_AFTER] ? DIFF_AFTER : DIFF_BEFORE];
	const struct profile_function *second =
		right->function[right->function[DIFF_AFTER] ? DIFF_AFTER : DIFF_BEFORE];
	return strcmp(first->name, second->name);
}

static void count_changes(struct profile_diff *diff)
{
	for (uint32_t i = 0; i < diff->line_count; i++) {
		const struct diff_line *line = &diff->lines[i];
		double time_s = diff_change(&line->time_s), bytes = diff_change(&line->peak_bytes);
		diff->slower += line->time_s.is_real && time_s > 0;
		diff->faster += line->time_s.is_real && time_s < 0;
		diff->heavier += line->peak_bytes.is_real && bytes > 0;
		diff->lighter += line->peak_bytes.is_real && bytes < 0;
	}
}

void profile_diff_init(struct profile_diff *diff, const struct profile *before,
		       const struct profile *after)
{
	struct items lines = {0}, functions = {0};
	*diff = (struct profile_diff){.profile = {before, after}};
	compare_wholes(diff);
	for (int side = 0; side < DIFF_SIDES; side++) {
		collect_lines(&lines, side, diff->profile[side]);
		collect_functions(&functions, side, diff->profile[side]);
	}
	diff->lines = mem_zalloc(lines.list[0].count + lines.list[1].count, sizeof(*diff->lines));
	diff->functions = mem_zalloc(functions.list[0].count + functions.list[1].count,
				     sizeof(*diff->functions));
	match(&lines, LINE_PASSES, line_key);
	match(&functions, FUNCTION_PASSES, function_key);
	each_pair(&lines, diff, add_line);
	each_pair(&functions, diff, add_function);
	items_fini(&lines);
	items_fini(&functions);
	qsort(diff->lines, diff->line_count, sizeof(*diff->lines), compare_lines);
	qsort(diff->functions, diff->function_count, sizeof(*diff->functions), compare_functions);
	count_changes(diff);
}

void profile_diff_fini(struct profile_diff *diff)
{
	free(diff->lines);
	free(diff->functions);
	*diff = (struct profile_diff){0};
}

const struct profile_file *diff_line_file(const struct diff_line *line)
{
	return line->file[DIFF_AFTER] ? line->file[DIFF_AFTER] : line->file[DIFF_BEFORE];
}

uint32_t diff_line_number(const struct diff_line *line)
{
	const struct profile_line *after = line->line[DIFF_AFTER];
	return after ? after->line : line->line[DIFF_BEFORE]->line;
}
