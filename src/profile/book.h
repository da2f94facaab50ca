/* book.h - book stacks into a profile.
 *
 * The collector hands over each distinct stack with what was measured on it;
 * this module decides whose line it is (the innermost frame in scope), and
 * keeps lines, functions, files and the stack tree in step. */
#ifndef HEATLINE_PROFILE_BOOK_H
#define HEATLINE_PROFILE_BOOK_H

#include "profile/model.h"

/* Parts of a line that are told apart, before profile_settle keeps the hottest. */
#define BOOK_COLUMNS_MAX 24u

/* One frame of a stack to book; strings are interned in the profile. */
struct book_frame {
	uint32_t file;        /* from profile_file_index */
	const char *function; /* interned */
	uint32_t first_line;
	uint32_t line;        /* 0: the instruction has no line */
	int32_t line_end, column, column_end; /* -1: not known */
	uint32_t last_line;   /* of the function; 0: not known */
	bool is_nested;       /* written within a function; false: or not known */
};

/* The index of the file with this path, made when missing; in_scope is
 * used when it is made. */
uint32_t profile_file_index(struct profile *profile, const char *path, bool in_scope);

/* Books one stack, outermost frame first.  is_startup: the interpreter's own
 * start or end (kept apart, no part of the total).  Functions of "<string>"
 * that a library generated (scope_function) count as out of scope.  The time
 * of a comprehension's or generator expression's own frame is booked to the
 * function that it is written in, if that is on the stack. */
void profile_book(struct profile *profile, const struct book_frame *frames, uint32_t count,
		  const struct metrics *metrics, bool is_startup);

/* Books what a stack did on GPUs, to the same line and function; its GPU time
 * itself is part of the metrics. */
void profile_book_gpu(struct profile *profile, const struct book_frame *frames, uint32_t count,
		      const struct gpu_figures *figures);

/* The node of a frame below that of its caller (0: the root); 0 when there is none:
 * it was folded into its caller's, or never booked. */
uint32_t profile_find_frame(struct profile *profile, uint32_t caller,
			    const struct book_frame *frame);

/* Adds a moment at which this line was seen (keeps an even sample of LINE_TIMES_MAX). */
void profile_book_time(struct profile *profile, uint32_t file, uint32_t line, double time_s);

/* The line's or function's place, made when missing, for its figures of tasks and of
 * memory, and its points (an array from malloc, which the profile then owns).  Valid until the
 * next call here or of profile_book for the same file. */
struct profile_line *profile_memory_line(struct profile *profile, uint32_t file, uint32_t line);
struct profile_function *profile_memory_function(struct profile *profile, uint32_t file,
						 const char *function, uint32_t first_line);

/* Whether a function is the user's, and one that is to be reported. */
bool profile_is_own(const struct profile_file *file, const char *function, uint32_t first_line);

/* Whether a frame of this name is a comprehension's or generator expression's
 * own, which counts as part of the function around it. */
bool profile_is_comprehension(const char *function);

/* Where code is written in its file; as in struct book_frame. */
struct book_place {
	const char *function;
	uint32_t first_line, last_line;
	bool is_nested;
};

/* Of the functions of one file on a stack: whether a comprehension is written in this one,
 * which encloses it more closely than another (or NULL).  Names tell from Python 3.11 on, before
 * that lines. */
bool profile_is_nearer_writer(const struct book_place *writer, const struct book_place *than,
			      const struct book_place *comprehension);

/* Sorts and sums, rounds seconds to nanoseconds and memory to bytes, and loads the sources of the
 * hottest files in scope; call before any report.  Booking may go on after,
 * and profile_finish be called again. */
void profile_finish(struct profile *profile);

/* The same without the sources, for profiles of another time. */
void profile_settle(struct profile *profile);

#endif
