/* verify_runs.h - the programs that a verification runs; inner part of verify.c. */
#ifndef HEATLINE_SUGGEST_VERIFY_RUNS_H
#define HEATLINE_SUGGEST_VERIFY_RUNS_H

#include "suggest/patch.h"
#include "suggest/verify.h"
#include "suggest/workspace.h"

struct verify_runner {
	const struct verify_plan *plan;
	const struct verify_options *options;
	struct workspace workspace;
	child_words environments[WORKSPACE_SIDES];
	char *heatline; /* owned; this program */
};

void runner_init(struct verify_runner *runner, const struct verify_plan *plan,
		 const struct verify_options *options);
void runner_fini(struct verify_runner *runner);

/* Once the workspace is made: the environments of both copies. */
void runner_prepare(struct verify_runner *runner);

/* Compiles the changed file.  *is_good; what was printed goes to details. */
int runner_compile(struct verify_runner *runner, bool *is_good, struct buf *details,
		   struct err *err);

/* Runs the test command in a copy; the same way. */
int runner_test(struct verify_runner *runner, int side, bool *is_good, struct buf *details,
		struct err *err);

/* What one run of the program gave. */
struct run_figures {
	int status;
	bool is_late;
	double seconds;  /* as a clock on the wall has it */
	double here_s;   /* in the changed lines */
	double whole_s;
	char *output;    /* owned; NULL: too large to be compared */
	size_t output_size;
};

/* Profiles the program in a copy.  limit_s is how long it may take. */
int runner_profile(struct verify_runner *runner, int side, const struct patch *patch,
		   double limit_s, struct run_figures *figures, struct buf *details,
		   struct err *err);

#endif
