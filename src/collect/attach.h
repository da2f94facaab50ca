/* attach.h - profile a process that already runs, from outside.
 *
 * A session looks at every thread of the process (and, if asked, of its
 * children) at jittered moments, books each look into a collector as `run`
 * books samples, and makes profiles of it as often as wanted:
 *
 *	attach_new, attach_step until it says so or the user does,
 *	attach_profile, attach_free.
 *
 * The process is never stopped.  It may end at any time; what was seen stays.
 *
 * What a look tells: whether the thread runs, waits for the GIL or waits in the
 * kernel; its stack; whether it has the GIL.  Who runs without it runs native
 * code; who runs with it is told apart by the current instruction, as in
 * classify.h.  Where permitted, perf events on the threads tell that better, and system
 * time too.  Each look stands for the time since the one before, so nothing
 * depends on the rate being met. */
#ifndef HEATLINE_COLLECT_ATTACH_H
#define HEATLINE_COLLECT_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/run.h"

struct attach;
struct profile;

#define ATTACH_THREAD_FILE "<thread>"

struct attach_options {
	pid_t pid;
	const char *command;    /* what the user typed, for remote_open */
	double rate_hz;         /* looks at each thread, mean */
	bool has_children;      /* its Python children too, also those to come */
	bool has_gil_only;      /* book only what holds the GIL */
	bool has_no_perf;       /* no perf events on its threads */
	bool by_thread;         /* each stack begins with a frame that names its thread, of the
				   file ATTACH_THREAD_FILE */
	struct run_scope scope; /* as for a run */
	double cpu_percent_threshold;
	const char *outfile;    /* NULL: none is written */
};

/* How it stands with the process now. */
struct attach_figures {
	uint64_t looks;      /* so far, at all threads */
	uint64_t lost;       /* of those, stacks that could not be read whole */
	uint32_t threads;    /* now */
	uint32_t processes;  /* now */
	double wall_s;       /* since the start, or the last reset */
	double gil_percent;  /* of the looks' moments at which somebody had the GIL */
	double cpu_percent;  /* of one CPU, all threads, by the kernel's clock */
	uint64_t resident_bytes;
	const char *python;  /* version; valid as long as the session */
	const char *program;
};

/* NULL with the sentence in err. */
struct attach *attach_new(const struct attach_options *options, struct err *err);
void attach_free(struct attach *attach);

/* Looks for so long.  False once the process has ended.  A signal that the
 * caller handles ends the step early. */
bool attach_step(struct attach *attach, double seconds);

/* The profile so far; the caller frees it. */
struct profile *attach_profile(struct attach *attach, bool is_partial);

/* Writes the profile to the options' outfile; returns 0, or negative with the
 * sentence in err: what went wrong, and where the profile is instead (rescue.h).  One without
 * a single sample does not replace another. */
int attach_write(struct attach *attach, const struct profile *profile, struct err *err);

/* Forgets what was booked so far. */
void attach_reset(struct attach *attach);

void attach_figures(struct attach *attach, struct attach_figures *figures);

#endif
