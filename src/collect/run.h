/* run.h - start a program under the agent and collect until it has ended.
 *
 * Two processes come back from collect_run: the front, which is the caller and
 * has the program's status, and the collector, which has the profile and tells
 * the user about it.  The front comes back after the collector has called
 * run_result_fini.
 *
 * The caller has checked what can be checked beforehand (the program exists,
 * the output folder can be written, the agent library is there); collect_run
 * still reports what only the start itself can show (exec failed, no memory,
 * the profile could not be written).
 *
 * Life cycle: fill struct run_options (its strings stay the caller's), call
 * collect_run once, read the result, run_result_fini. */
#ifndef HEATLINE_COLLECT_RUN_H
#define HEATLINE_COLLECT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct control;
struct profile;

/* Which files' lines are reported; see profile/scope.h for the rules.  Each
 * list is comma-separated substrings of the file's path; NULL: none given. */
struct run_scope {
	bool is_all;              /* every file */
	bool has_system_libraries; /* the standard library and site-packages too */
	const char *only;         /* when given: only files that match */
	const char *exclude;      /* never files that match */
	const char *program_path; /* root folder; NULL: entrypoint_dir */
};

/* One run, as asked for.  All strings and arrays are borrowed. */
struct run_options {
	/* what to start */
	char **words;       /* as given to "heatline run"; ends with NULL */
	char **argv;        /* complete: interpreter, script, arguments; ends with NULL */
	const char *path;   /* the file to execute: argv[0] with its folder */
	const char *agent;  /* path of libheatline-agent.so */

	/* what the profile says of it */
	const char *program;        /* absolute path of the script, or the command's name */
	const char *entrypoint_dir; /* folder whose files are the program's own; absolute */
	char **args;                /* the program's own arguments; ends with NULL */

	/* what to measure */
	struct run_scope scope;
	double sampling_interval_s;  /* mean CPU time between samples; 0: automatic */
	double profile_interval_s;   /* write it so often while the program runs; 0: at the end */
	double cpu_percent_threshold; /* leave out files below this share of the total */
	bool is_virtual_time;         /* CPU time only: waiting is no part of the profile */
	bool has_memory;              /* allocations and copies too; agent is then the memory one */
	bool has_gpu;                 /* GPU work too, where there is any */
	uint64_t memory_window_bytes; /* mean bytes between sampled allocations; 0: automatic */
	double malloc_threshold;      /* allocations that make a file worth reporting */
	bool has_leak_detector;
	bool has_async;               /* waiting of tasks by line */
	bool has_stacks;              /* keep whole stacks */
	bool is_reduced;              /* write only lines with figures */
	bool is_off;                  /* suspended until somebody says otherwise (runs.h) */
	bool is_first_only;           /* leave out processes that the program starts */
	bool is_session;              /* the program has started us (session.h) */
	bool is_decorated_only;       /* report only functions marked with @profile … */
	bool wants_profile_name;      /* … a name that nothing else defines */

	/* where to */
	const char *outfile;
	bool is_quiet; /* nothing on stderr, not even that a profile was written meanwhile */
};

/* So many seconds they are waited for, without the user. */
#define RUN_STRANGERS_S 60u

enum run_role {
	RUN_FRONT,     /* started by the user, ends as the program ended */
	RUN_COLLECTOR, /* says what there is to say, then ends */
};

/* What came of it. */
struct run_result {
	enum run_role role;
	/* of the front */
	int status;              /* of the program, as from waitpid */
	/* of the collector */
	struct profile *profile; /* owned; NULL when no process was Python */
	bool is_written;         /* the profile is in outfile */
	char *elsewhere;         /* owned; the file it is in instead; NULL: in none */
	bool has_nothing;        /* no line is in it, so outfile keeps what it had: err says why */
	uint32_t still_running;  /* processes that outlive the program and are still profiled */
	uint32_t strangers;      /* others that do, while none of those is left: they may start Python */
	int link_fd;             /* owned; to the waiting front; -1: there is none */
};

/* Runs the program to its end.  Returns 0 when it ran, whatever its own status;
 * negative (in the front only), with err filled, when it could not be started.
 * When it ran but the profile could not be written or none was Python, err is
 * filled in the collector with the sentence to show, and is_written is false. */
int collect_run(const struct run_options *options, struct run_result *result, struct err *err);

/* Frees what the result owns.  In the collector: the front may go on. */
void run_result_fini(struct run_result *result);

/* What the run's processes and other commands are to know of it. */
void run_fill_control(struct control *control, const struct run_options *options);

#endif
