/* jobs.h - profiling runs that go on while the server answers other requests.
 *
 * A job is another heatline (`run` or `attach`) in a process group of its own, with
 * nothing to read, whose output is kept by its end.  It ends by itself, by its time
 * limit (asked to terminate, so that the profile is written, later killed), or by being
 * cancelled (killed). */
#ifndef HEATLINE_MCP_JOBS_H
#define HEATLINE_MCP_JOBS_H

#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define JOBS_MAX 4u
#define JOB_TAIL_BYTES 1500u /* of the program's output that are kept */

struct job {
	pid_t pid;      /* and process group */
	int output;     /* the read end of a pipe */
	json_t *id;     /* owned; of the request to answer */
	json_t *token;  /* owned; for reports of progress; NULL: none wanted */
	char *outfile;  /* owned; where the profile goes */
	uint64_t start_ns, deadline_ns, kill_ns, told_ns;
	char tail[JOB_TAIL_BYTES]; /* the last of the output */
	size_t tail_size;
	bool is_modern;   /* how its answer looks */
	bool is_attach;
	bool is_timed_out, is_cancelled;
	int status;       /* as waitpid has it; once it has ended */
};

struct jobs {
	struct job *items[JOBS_MAX]; /* owned */
	uint32_t count;
};

/* What to start.  Texts are borrowed. */
struct job_start {
	char *const *argv;
	char *const *environment;
	const char *folder;  /* to start in */
	const char *outfile;
	double limit_s;
	json_t *id, *token;  /* token may be NULL */
	bool is_modern, is_attach;
};

/* NULL with the sentence: too many, or it could not be started. */
struct job *jobs_start(struct jobs *jobs, const struct job_start *start, struct err *err);

/* Kills the job of this request; it ends soon, and is to be passed over then. */
void jobs_cancel(struct jobs *jobs, const json_t *id);

/* What to poll for: fills at most JOBS_MAX entries, returns how many. */
uint32_t jobs_poll(const struct jobs *jobs, struct pollfd *polls);

/* Reads what the programs wrote and keeps the limits; gives out a job that has ended,
 * which the caller frees by job_free; NULL: none. */
struct job *jobs_step(struct jobs *jobs);
void job_free(struct job *job);

/* Kills all, and forgets them. */
void jobs_fini(struct jobs *jobs);

#endif
