/* book.c - book stacks into lines, functions, files and the stack tree.
 *
 * Rule: a stack's seconds go to exactly one line (the innermost frame in
 * scope) or to outside_s, and once to the inclusive time of each line and
 * function in scope that stands on the stack, however often recursion put it
 * there (the mark says which stack has been counted already). */
#include "profile/book.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "profile/book_index.h"
#include "profile/scope.h"
#include "profile/stack_tree.h"

#define MAX_FILES 20000u          /* generated code can make names without end */

static const char overflow_path[] = "<more files>";

uint32_t profile_file_index(struct profile *profile, const char *path, bool in_scope)
{
	struct book *book = book_index(profile);
	uint32_t *known = map_bytes_get(&book->files, path, strlen(path));
	if (known)
		return *known;
	if (profile->file_count >= MAX_FILES && strcmp(path, overflow_path) != 0)
		return profile_file_index(profile, overflow_path, false);
	uint32_t index = profile->file_count;
	*map_bytes_put(&book->files, path, strlen(path), NULL) = index;
	vec_reserve(profile->files, profile->file_room, profile->file_count);
	profile->files[profile->file_count++] = (struct profile_file){
		.path = profile_intern(profile, path), .in_scope = in_scope};
	return index;
}

/* An instruction without a line is shown on its function's first. */
static uint32_t line_of(const struct book_frame *frame)
{
	uint32_t line = frame->line ? frame->line : frame->first_line;
	return line ? line : 1;
}

static bool is_in_scope(const struct profile *profile, const struct book_frame *frame)
{
	return profile_is_own(&profile->files[frame->file], frame->function, frame->first_line);
}

bool profile_is_own(const struct profile_file *file, const char *function, uint32_t first_line)
{
	if (!file->in_scope || !scope_function(file->path, function))
		return false;
	for (uint32_t i = 0; i < file->reported_count; i++) {
		if (first_line >= file->reported[i].first && first_line <= file->reported[i].last)
			return true;
	}
	return file->reported_count == 0;
}

/* The length of what stands before the last part of a name, if that is a
 * comprehension's; else the whole. */
static size_t without_comprehension(const char *name, size_t size)
{
	static const char *const parts[] = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t part = strlen(parts[i]);
		if (size >= part && memcmp(name + size - part, parts[i], part) == 0)
			return size - part;
	}
	return size;
}

bool profile_is_comprehension(const char *name)
{
	size_t size = strlen(name);
	return without_comprehension(name, size) < size;
}

/* The length of the name of the function that a comprehension is written in: "f" of
 * "f.<locals>.<genexpr>.<locals>.<listcomp>"; 0 where its name does not tell. */
static size_t writer_size(const char *name)
{
	static const char locals[] = ".<locals>.";
	const size_t locals_size = sizeof(locals) - 1;
	size_t size = strlen(name), rest;
	while ((rest = without_comprehension(name, size)) < size) {
		if (rest >= locals_size && memcmp(name + rest - locals_size, locals, locals_size) == 0)
			size = rest - locals_size;
		else
			size = rest > 0 && name[rest - 1] == '.' ? rest - 1 : rest;
	}
	return size;
}

bool profile_is_nearer_writer(const struct book_place *writer, const struct book_place *than,
			      const struct book_place *comprehension)
{
	uint32_t line = comprehension->first_line;
	if (writer->first_line > line || (writer->last_line && writer->last_line < line) ||
	    (than && than->first_line >= writer->first_line))
		return false;
	size_t size = writer_size(comprehension->function);
	if (size > 0)
		return strncmp(writer->function, comprehension->function, size) == 0 &&
		       writer->function[size] == '\0';
	if (comprehension->is_nested && strcmp(writer->function, "<module>") == 0)
		return false;
	return strchr(writer->function, '.') == NULL;
}

static struct book_place place_of(const struct book_frame *frame)
{
	return (struct book_place){frame->function, frame->first_line, frame->last_line,
				   frame->is_nested};
}

/* The frame whose function the time of frames[at] belongs to: a comprehension
 * counts as part of the function that it is written in.  Who runs a generator
 * expression may be another, so the frame below is not always that one. */
static uint32_t function_frame(const struct book_frame *frames, uint32_t at)
{
	if (!profile_is_comprehension(frames[at].function))
		return at;
	struct book_place own = place_of(&frames[at]), found;
	uint32_t owner = at;
	for (uint32_t outer = at; outer-- > 0;) {
		if (frames[outer].file != frames[at].file ||
		    profile_is_comprehension(frames[outer].function))
			continue;
		struct book_place place = place_of(&frames[outer]);
		if (profile_is_nearer_writer(&place, owner == at ? NULL : &found, &own)) {
			owner = outer;
			found = place;
		}
	}
	return owner;
}

static void book_column(struct profile_line *line, const struct book_frame *frame, double seconds)
{
	if (frame->column < 0 || frame->column_end < 0 || frame->line == 0 || !(seconds > 0))
		return;
	uint32_t coldest = 0;
	for (uint32_t i = 0; i < line->column_count; i++) {
		struct column_range *range = &line->columns[i];
		if (range->column == frame->column && range->column_end == frame->column_end &&
		    range->line_end == frame->line_end) {
			range->self_s += seconds;
			return;
		}
		if (range->self_s < line->columns[coldest].self_s)
			coldest = i;
	}
	uint32_t at = coldest;
	if (line->column_count < BOOK_COLUMNS_MAX) {
		vec_reserve(line->columns, line->column_room, line->column_count);
		at = line->column_count++;
	}
	line->columns[at] = (struct column_range){.line_end = frame->line_end,
						  .column = frame->column,
						  .column_end = frame->column_end,
						  .self_s = seconds};
}

static void book_self(struct profile *profile, const struct book_frame *frames, uint32_t at,
		      const struct metrics *metrics)
{
	const struct book_frame *frame = &frames[at];
	struct profile_line *line = book_line(profile, frame->file, line_of(frame));
	metrics_add(&line->self, metrics);
	book_column(line, frame, metrics_seconds(metrics));
	const struct book_frame *owner = &frames[function_frame(frames, at)];
	struct profile_function *function =
		book_function(profile, owner->file, owner->function, owner->first_line);
	metrics_add(&function->self, metrics);
}

/* A place on the stack that has been counted already.  Deep recursion has few
 * places and thousands of frames; this small table (not all collisions are
 * resolved, the marks do the rest) makes such a frame cost nanoseconds. */
struct book_seen {
	const char *function;
	uint32_t file, line, mark;
};

#define SEEN_SLOTS 64u

static bool was_seen(struct book *book, const struct book_frame *frame)
{
	uint64_t hash = (uint64_t)(uintptr_t)frame->function * 31 + frame->line * 7u + frame->file;
	struct book_seen *seen = &book->seen[(hash ^ hash >> 6) % SEEN_SLOTS];
	if (seen->mark == book->mark && seen->function == frame->function &&
	    seen->line == frame->line && seen->file == frame->file)
		return true;
	*seen = (struct book_seen){frame->function, frame->file, frame->line, book->mark};
	return false;
}

static void book_inclusive(struct profile *profile, const struct book_frame *frames, uint32_t count,
			   double seconds)
{
	struct book *book = book_index(profile);
	if (!book->seen)
		book->seen = mem_zalloc(SEEN_SLOTS, sizeof(*book->seen));
	uint32_t mark = ++book->mark;
	for (uint32_t i = 0; i < count; i++) {
		if (was_seen(book, &frames[i]) || !is_in_scope(profile, &frames[i]))
			continue;
		struct profile_line *line = book_line(profile, frames[i].file, line_of(&frames[i]));
		if (line->mark != mark)
			line->inclusive_s += seconds;
		line->mark = mark;
		const struct book_frame *owner = &frames[function_frame(frames, i)];
		struct profile_function *function =
			book_function(profile, owner->file, owner->function, owner->first_line);
		if (function->mark != mark)
			function->inclusive_s += seconds;
		function->mark = mark;
	}
}

/* How many frames, from the outermost on, are those of the stack before: one
 * stack often differs from the next only at its end. */
static uint32_t count_shared(const struct book *book, const struct book_frame *frames,
			     uint32_t count)
{
	uint32_t shared = 0;
	while (shared < count && shared < book->last_count) {
		const struct book_frame *a = &frames[shared], *b = &book->last[shared];
		if (a->file != b->file || a->function != b->function || a->line != b->line ||
		    a->first_line != b->first_line)
			break;
		shared++;
	}
	return shared;
}

static void book_tree(struct profile *profile, const struct book_frame *frames, uint32_t count,
		      const struct metrics *metrics)
{
	struct book *book = book_index(profile);
	if (stack_tree_make_room(profile, count))
		book->last_count = 0; /* the nodes have moved */
	if (count > book->last_room) {
		book->last_room = count;
		book->last = mem_resize(book->last, count, sizeof(*book->last));
		book->last_nodes = mem_resize(book->last_nodes, count, sizeof(*book->last_nodes));
	}
	uint32_t shared = count_shared(book, frames, count);
	uint32_t node = shared ? book->last_nodes[shared - 1] : 0;
	for (uint32_t i = shared; i < count; i++) {
		node = stack_tree_child(profile, node, frames[i].file, frames[i].function,
					frames[i].first_line, frames[i].line);
		book->last[i] = frames[i];
		book->last_nodes[i] = node;
	}
	book->last_count = count;
	metrics_add(&profile->stacks[node].self, metrics);
}

void profile_book(struct profile *profile, const struct book_frame *frames, uint32_t count,
		  const struct metrics *metrics, bool is_startup)
{
	double seconds = metrics_seconds(metrics);
	if (is_startup) {
		profile->startup_s += seconds;
		return;
	}
	/* Lines and functions have what they held at the peak in struct memory, and
	 * stacks do not tell what they waited for. */
	struct metrics self = *metrics, node = *metrics;
	self.at_peak_bytes = 0;
	memset(node.waits_s, 0, sizeof(node.waits_s));
	book_tree(profile, frames, count, &node);
	metrics_add(&profile->sum, &self);
	uint32_t inner = count;
	while (inner > 0 && !is_in_scope(profile, &frames[inner - 1]))
		inner--;
	if (inner == 0) {
		profile->outside_s += seconds;
		return;
	}
	book_self(profile, frames, inner - 1, &self);
	if (seconds > 0)
		book_inclusive(profile, frames, count, seconds);
}

void profile_book_gpu(struct profile *profile, const struct book_frame *frames, uint32_t count,
		      const struct gpu_figures *figures)
{
	gpu_figures_add(&profile->gpu.sum, figures);
	uint32_t inner = count;
	while (inner > 0 && !is_in_scope(profile, &frames[inner - 1]))
		inner--;
	if (inner == 0)
		return;
	const struct book_frame *frame = &frames[inner - 1];
	const struct book_frame *owner = &frames[function_frame(frames, inner - 1)];
	gpu_figures_add(&book_line(profile, frame->file, line_of(frame))->gpu, figures);
	gpu_figures_add(&book_function(profile, owner->file, owner->function, owner->first_line)->gpu,
			figures);
}

uint32_t profile_find_frame(struct profile *profile, uint32_t caller, const struct book_frame *frame)
{
	return stack_tree_find(profile, caller, frame->file, frame->function, frame->first_line,
			       frame->line);
}

struct profile_line *profile_memory_line(struct profile *profile, uint32_t file, uint32_t line)
{
	return book_line(profile, file, line ? line : 1);
}

struct profile_function *profile_memory_function(struct profile *profile, uint32_t file,
						 const char *function, uint32_t first_line)
{
	return book_function(profile, file, profile_intern(profile, function), first_line);
}

void profile_book_time(struct profile *profile, uint32_t file, uint32_t line_number, double time_s)
{
	if (!profile->files[file].in_scope || line_number == 0)
		return;
	struct profile_line *line = book_line(profile, file, line_number);
	if (line->sample_skip++ % line->sample_stride != 0)
		return;
	if (line->sample_times == LINE_TIMES_MAX) {
		/* Full: keep every second, and from now on half as many. */
		for (uint32_t i = 0; i < LINE_TIMES_MAX / 2; i++)
			line->sample_times_s[i] = line->sample_times_s[i * 2];
		line->sample_times = LINE_TIMES_MAX / 2;
		line->sample_stride *= 2;
	}
	vec_reserve(line->sample_times_s, line->sample_room, line->sample_times);
	line->sample_times_s[line->sample_times++] = time_s;
}
