/* query_parts.h - what the answers are made of; inner header. */
#ifndef HEATLINE_REPORT_QUERY_PARTS_H
#define HEATLINE_REPORT_QUERY_PARTS_H

#include "report/query.h"

typedef int query_give_kind(struct query_answer *answer, const struct profile *profile,
			     const struct profile *after, const struct question *question,
			     struct err *err);

query_give_kind query_summary, query_hot, query_source, query_callers, query_memory,
	query_advice, query_compare;

/* A line of text that belongs to no row. */
void query_say(struct query_answer *answer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A row: its JSON is appended to the list of this name and its line of text to the
 * text, or neither when there is no room.  row is taken over. */
bool query_add(struct query_answer *answer, const char *list, json_t *row, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Says what was left out, if anything: "20 of 340 lines; more with top=…". */
void query_cut(struct query_answer *answer, uint32_t shown, uint32_t total, const char *what,
		const char *how);

/* Values for rows: text that is no UTF-8 is replaced; numbers are rounded. */
json_t *query_text(const char *text, size_t size);
json_t *query_number(double value);

/* The path below the program's folder; points into it. */
const char *query_path(const struct profile *profile, const char *path);

/* The source of a line without the space around it, at most 160 bytes. */
const char *query_code(const struct profile_file *file, uint32_t line, size_t *size);

/* {"file", "line", "function", "text", "percent", "seconds", …} of a line, the keys of
 * memory where it was measured. */
json_t *query_line(const struct profile *profile, const struct profile_file *file,
		    const struct profile_line *line);

/* "native 97%", the kind that most of the time is of; "" without time. */
const char *query_kind_of_time(const struct metrics *self, char text[32]);

uint32_t query_top(const struct question *question);

/* Where a question points to. */
struct query_place {
	const struct profile_file *file; /* NULL: a function's name */
	uint32_t first, last;            /* lines; 0: the whole file */
	const char *function;            /* borrowed */
};

int query_find_place(const struct profile *profile, const char *at, struct query_place *place,
		      struct err *err);

#endif
