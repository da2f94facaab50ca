/* jobs.c - profiling runs that go on beside the server. */
#include "mcp/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"

#define GRACE_NS (5 * SECOND_NS) /* between being asked to end and being killed */

/* In the child, between fork and exec: only what is safe there. */
static void become(const struct job_start *start, int output, int failure)
{
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t none;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* should the server be killed; heatline hands it on */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(output, 1) >= 0 &&
	    dup2(output, 2) >= 0 && chdir(start->folder) == 0)
		execve(start->argv[0], start->argv, start->environment);
	int error = errno;
	if (write(failure, &error, sizeof(error)) != (ssize_t)sizeof(error))
		_exit(126);
	_exit(127);
}

/* Starts the process; a failed exec comes back through a pipe that closes on exec. */
static pid_t launch(const struct job_start *start, int *output, struct err *err)
{
	int out[2], failure[2], error = 0;
	if (pipe2(out, O_CLOEXEC) != 0) {
		err_set_errno(err, errno, "cannot make a pipe");
		return -1;
	}
	if (pipe2(failure, O_CLOEXEC) != 0) {
		err_set_errno(err, errno, "cannot make a pipe");
		close(out[0]);
		close(out[1]);
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0)
		become(start, out[1], failure[1]);
	int fork_error = errno;
	close(out[1]);
	close(failure[1]);
	if (pid < 0)
		error = fork_error;
	else if (read(failure[0], &error, sizeof(error)) == (ssize_t)sizeof(error))
		waitpid(pid, NULL, 0);
	close(failure[0]);
	if (error) {
		err_set_errno(err, error, "cannot start '%s' in '%s'", start->argv[0], start->folder);
		close(out[0]);
		return -1;
	}
	setpgid(pid, pid);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	*output = out[0];
	return pid;
}

struct job *jobs_start(struct jobs *jobs, const struct job_start *start, struct err *err)
{
	int output;
	if (jobs->count == JOBS_MAX) {
		err_set(err, ERR_TOO_LARGE, "%u profiling runs go on already; wait for one, or cancel it",
			JOBS_MAX);
		return NULL;
	}
	pid_t pid = launch(start, &output, err);
	if (pid < 0)
		return NULL;
	struct job *job = mem_zalloc(1, sizeof(*job));
	uint64_t now_ns = clock_monotonic_ns();
	*job = (struct job){
		.pid = pid,
		.output = output,
		.id = json_incref(start->id),
		.token = start->token ? json_incref(start->token) : NULL,
		.outfile = mem_copy_text(start->outfile),
		.start_ns = now_ns,
		.told_ns = now_ns,
		.deadline_ns = now_ns + (uint64_t)(start->limit_s * (double)SECOND_NS),
		.is_modern = start->is_modern,
		.is_attach = start->is_attach,
	};
	jobs->items[jobs->count++] = job;
	return job;
}

void jobs_cancel(struct jobs *jobs, const json_t *id)
{
	for (uint32_t i = 0; id && i < jobs->count; i++) {
		struct job *job = jobs->items[i];
		if (json_equal(job->id, id)) {
			job->is_cancelled = true;
			kill(-job->pid, SIGKILL);
		}
	}
}

uint32_t jobs_poll(const struct jobs *jobs, struct pollfd *polls)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < jobs->count; i++) {
		if (jobs->items[i]->output >= 0)
			polls[count++] = (struct pollfd){.fd = jobs->items[i]->output, .events = POLLIN};
	}
	return count;
}

/* Keeps the last of what was written. */
static void keep_tail(struct job *job, const char *bytes, size_t size)
{
	if (size >= JOB_TAIL_BYTES) {
		memcpy(job->tail, bytes + size - JOB_TAIL_BYTES, JOB_TAIL_BYTES);
		job->tail_size = JOB_TAIL_BYTES;
		return;
	}
	size_t over = job->tail_size + size > JOB_TAIL_BYTES
			      ? job->tail_size + size - JOB_TAIL_BYTES
			      : 0;
	memmove(job->tail, job->tail + over, job->tail_size - over);
	job->tail_size -= over;
	memcpy(job->tail + job->tail_size, bytes, size);
	job->tail_size += size;
}

/* A bounded number of reads: a program that writes without end must not hold the server. */
static void read_output(struct job *job)
{
	char bytes[16384];
	for (int i = 0; i < 16 && job->output >= 0; i++) {
		ssize_t size = read(job->output, bytes, sizeof(bytes));
		if (size > 0) {
			keep_tail(job, bytes, (size_t)size);
		} else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
			close(job->output);
			job->output = -1;
		} else if (errno == EAGAIN) {
			return;
		}
	}
}

static void keep_limit(struct job *job, uint64_t now_ns)
{
	if (!job->is_timed_out && now_ns >= job->deadline_ns) {
		job->is_timed_out = true;
		job->kill_ns = now_ns + GRACE_NS;
		kill(-job->pid, SIGTERM);
	} else if (job->is_timed_out && now_ns >= job->kill_ns) {
		kill(-job->pid, SIGKILL);
		job->kill_ns = now_ns + GRACE_NS;
	}
}

struct job *jobs_step(struct jobs *jobs)
{
	uint64_t now_ns = clock_monotonic_ns();
	for (uint32_t i = 0; i < jobs->count; i++) {
		struct job *job = jobs->items[i];
		read_output(job);
		if (waitpid(job->pid, &job->status, WNOHANG) == job->pid) {
			read_output(job);
			jobs->items[i] = jobs->items[--jobs->count];
			return job;
		}
		keep_limit(job, now_ns);
	}
	return NULL;
}

void job_free(struct job *job)
{
	if (!job)
		return;
	if (job->output >= 0)
		close(job->output);
	json_decref(job->id);
	json_decref(job->token);
	free(job->outfile);
	free(job);
}

void jobs_fini(struct jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++) {
		kill(-jobs->items[i]->pid, SIGKILL);
		waitpid(jobs->items[i]->pid, NULL, 0);
		job_free(jobs->items[i]);
	}
	jobs->count = 0;
}
