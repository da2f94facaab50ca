/* verify.h - try a proposed change before anybody believes in it.
 *
 * The change is made in one of two copies of the project (workspace.h).  It must
 * compile, with the program's own Python; the user's test command must succeed; the
 * program, run as it was when it was profiled, must end with the same status and print
 * the same; then both copies are profiled several times, in turns, so that a machine
 * that gets slower meanwhile slows both.  The original is not touched.
 *
 * Noise.  Each turn gives a ratio before/after; from their logarithms come the mean
 * and its 95 % interval (Student's).  Faster or slower is only what lies wholly on one
 * side of 1.  This is stricter than comparing two profiles (diff.h), which knows only
 * the noise of sampling: here that of the machine is measured too. */
#ifndef HEATLINE_SUGGEST_VERIFY_H
#define HEATLINE_SUGGEST_VERIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "profile/model.h"
#include "suggest/child.h"

#define VERIFY_RUNS 5u /* of each version, where nobody says how many */
#define VERIFY_MIN_RUNS 3u
#define VERIFY_MAX_RUNS 20u

/* How the profiled program is run again, and which file is changed. */
struct verify_plan {
	char *file;           /* owned; absolute */
	char *root;           /* owned; the project's folder */
	char *program;        /* owned; a path, a module or a command */
	bool is_module;
	char *python;         /* owned; the interpreter it ran with; NULL: heatline's choice */
	child_words args;     /* the program's own */
};

/* Takes from the profile what is needed; file is an index in its files.  Negative with the
 * sentence in err when the program cannot be run again.  verify_plan_fini in any case. */
int verify_plan_init(struct verify_plan *plan, const struct profile *profile, uint32_t file,
		     struct err *err);
void verify_plan_fini(struct verify_plan *plan);

struct verify_options {
	const char *diff;
	const char *test; /* command; NULL or "": none */
	unsigned runs;
	/* Told what is being done, and how far it is. */
	void (*on_progress)(void *closure, const char *text, unsigned step, unsigned steps);
	bool (*is_cancelled)(void *closure);
	void *closure;
};

/* X(name, word in JSON) */
#define VERIFY_LIST(X)                                       \
	X(VERIFY_FASTER, "faster")                           \
	X(VERIFY_UNCLEAR, "no clear difference")             \
	X(VERIFY_SLOWER, "slower")                           \
	X(VERIFY_OTHER_OUTPUT, "other output")               \
	X(VERIFY_FAILS, "fails")                             \
	X(VERIFY_TEST_FAILS, "test fails")                   \
	X(VERIFY_NOT_COMPILED, "does not compile")

enum verify_outcome {
#define X(name, word) name,
	VERIFY_LIST(X)
#undef X
};

/* How many times faster; below 1: slower. */
struct verify_ratio {
	double ratio, low, high;
	bool is_known;
	bool is_least; /* it is more: what was left took too little time to be measured */
};

struct verify_verdict {
	enum verify_outcome outcome;
	struct verify_ratio here;  /* the changed lines */
	struct verify_ratio whole; /* the program */
	unsigned runs;
	bool has_test;
	bool is_output_known; /* it is the same from run to run, so it can be compared */
	struct buf sentence;  /* all of it, for people */
	struct buf details;   /* the last lines of what failed; "" when nothing did */
};

/* 0 and the verdict, or negative with the sentence in err: the diff does not fit, the
 * program fails as it is, cancelled.  verify_verdict_fini in any case. */
int verify_run(const struct verify_plan *plan, const struct verify_options *options,
	       struct verify_verdict *verdict, struct err *err);
void verify_verdict_fini(struct verify_verdict *verdict);

/* As JSON: {"outcome", "sentence", "here": {"ratio", "low", "high"} or null, "whole",
 * "runs", "details"}. */
void verify_write_json(const struct verify_verdict *verdict, FILE *stream);

/* Makes the change in the original file. */
int verify_accept(const char *path, const char *diff, struct err *err);

/* The mean of ratios and its interval; known from VERIFY_MIN_RUNS ratios on. */
struct verify_ratio verify_average(const double *before, const double *after, unsigned count);

#endif
