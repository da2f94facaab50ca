/* query.h - short answers to questions about a profile, for programs and coding agents.
 *
 * The same answers are given by `heatline query` and by `heatline mcp`.  Each is text
 * that reads well in a few hundred words, and the same facts as JSON.  An answer
 * is bounded: rows beyond the asked number, or beyond QUERY_MAX_BYTES of text, are left out
 * of both, and it says how many and how to get them.
 *
 * Places are named as they are asked for: "app.py:12"; a file is known by any
 * end of its path that only it has. */
#ifndef HEATLINE_REPORT_QUERY_H
#define HEATLINE_REPORT_QUERY_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "profile/model.h"

#define QUERY_MAX_BYTES 8000u /* of text; some 2,000 tokens */
#define QUERY_TOP 20u         /* rows, unless asked for others */
#define QUERY_MAX_TOP 200u

/* What is asked; texts are borrowed, NULL: the default. */
struct question {
	const char *at;     /* "FILE", "FILE:LINE", "FILE:FROM-TO" or a function's name */
	const char *by;     /* one of QUERY_BY */
	const char *metric; /* one of QUERY_METRICS */
	const char *view;   /* one of QUERY_VIEWS */
	uint32_t top;       /* rows; 0: QUERY_TOP */
	double min_percent; /* leave out rows below */
};

#define QUERY_BY "line|function|file"
#define QUERY_METRICS "time|inclusive|python|native|wait|gpu|memory|peak|copied"
#define QUERY_VIEWS "peak|leaks|churn|copies"

struct query_answer {
	struct buf text;
	json_t *json;  /* owned; an object */
	bool is_full;  /* the text has reached its bound */
};

void query_init(struct query_answer *answer);
void query_fini(struct query_answer *answer);

/* What a question takes, for options and schemas. */
enum query_parameter {
	QUERY_TAKES_AT = 1 << 0,
	QUERY_TAKES_BY = 1 << 1,
	QUERY_TAKES_METRIC = 1 << 2,
	QUERY_TAKES_VIEW = 1 << 3,
	QUERY_TAKES_TOP = 1 << 4,
	QUERY_TAKES_MIN = 1 << 5,
	QUERY_NEEDS_AT = 1 << 6,
};

/* One kind of question.  after is NULL unless it is about two profiles. */
struct query_kind {
	const char *name;  /* "hot_lines" */
	const char *title; /* "Hottest lines" */
	const char *description; /* what it tells, and when to ask it */
	unsigned takes;    /* enum query_parameter */
	bool has_two;      /* compares two profiles */
	int (*give)(struct query_answer *answer, const struct profile *profile,
		    const struct profile *after, const struct question *question,
		    struct err *err);
};

/* All kinds; the last has no name. */
extern const struct query_kind query_kinds[];

/* The kind of this name, '-' counting as '_'; or NULL. */
const struct query_kind *query_kind_find(const char *name);

/* Gives the answer into an answer that was just made.  Returns 0, or negative with
 * the sentence in err. */
int query_give(const struct query_kind *kind, struct query_answer *answer,
		const struct profile *profile, const struct profile *after,
		const struct question *question, struct err *err);

#endif
