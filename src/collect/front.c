/* front.c - see front.h. */
#include "collect/front.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/procfs.h"
#include "collect/folder.h"
#include "collect/launch.h"

#define TAKEOVERS_MAX 3u

/* How long a signal waits until everything is said; then it ends us. */
#define PATIENCE_MS 5000

/* Every signal that may be sent to a process, but those that cannot be held
 * and those that only a terminal has reason to send. */
static void watched_signals(sigset_t *set)
{
	static const int others[] = {SIGKILL, SIGSTOP, SIGTTIN, SIGTTOU, SIGPIPE};
	sigfillset(set);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigdelset(set, others[i]);
}

void front_init(struct front *front, const struct run_options *options, const char *folder,
		struct control *control)
{
	*front = (struct front){.options = options, .folder = folder, .control = control};
	front->link = (struct link){{-1, -1}, {-1, -1}};
	front->sentinel.fd = -1;
	atomic_store(&control->front_pid, getpid());
	atomic_store(&control->front_start, procfs_start(getpid()));
	watched_signals(&front->watched);
	sigprocmask(SIG_BLOCK, &front->watched, &front->before);
}

void front_fini(struct front *front)
{
	link_fini(&front->link);
	sigprocmask(SIG_SETMASK, &front->before, NULL);
}

int front_fork_collector(struct front *front, struct err *err)
{
	link_fini(&front->link);
	atomic_store(&front->control->collector_start, 0);
	int failure = -link_init(&front->link);
	pid_t pid = failure == 0 ? fork() : -1;
	if (pid < 0)
		return err_set_errno(err, failure != 0 ? failure : errno, "no process can be made");
	if (pid == 0) {
		atomic_store(&front->control->collector_start, procfs_start(getpid()));
		link_be_collector(&front->link);
		if (front->sentinel.fd >= 0)
			close(front->sentinel.fd);
		return RUN_COLLECTOR;
	}
	/* Before the program starts: its agents permit this process to look. */
	atomic_store(&front->control->collector_pid, pid);
	front->collector = pid;
	link_be_front(&front->link);
	return RUN_FRONT;
}

/* --- signals --- */

static void pass_on(struct front *front, int number, const siginfo_t *info)
{
	if (info->si_code > 0)
		return; /* the terminal's or the kernel's: the program has its own */
	if (getpgid(front->program) == getpgrp() && sentinel_has_got(&front->sentinel, number))
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(front->program, number, info->si_value);
	else
		kill(front->program, number);
}

/* The shell that has started us sees us stop when the program stops.  Continued
 * we are with the whole group, or by the collector when only the program was. */
static void stop_like(struct front *front, int number)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	atomic_store(&front->control->is_front_stopped, 1);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (sigismember(&front->watched, number))
		sigprocmask(SIG_BLOCK, &set, NULL);
	atomic_store(&front->control->is_front_stopped, 0);
}

/* A child has changed.  Returns true when the program has ended. */
static bool look_at_program(struct front *front)
{
	int status;
	if (waitpid(front->program, &status, WNOHANG | WUNTRACED) != front->program)
		return false;
	if (WIFSTOPPED(status)) {
		stop_like(front, WSTOPSIG(status));
		return false;
	}
	front->status = status;
	atomic_store(&front->control->end_status, status);
	atomic_store(&front->control->has_ended, 1);
	return true;
}

/* --- the collector --- */

/* Has it died?  Then another goes on: RUN_COLLECTOR in its process. */
static int look_at_collector(struct front *front)
{
	if (front->collector == 0 || waitpid(front->collector, NULL, WNOHANG) != front->collector)
		return RUN_FRONT;
	front->collector = 0;
	if (front->takeovers++ >= TAKEOVERS_MAX)
		return RUN_FRONT;
	int role = front_fork_collector(front, NULL);
	if (role == RUN_FRONT)
		link_send(front->link.to_collector[1], LINK_STARTED);
	return role;
}

static void wait_for_exit(struct front *front)
{
	while (front->collector > 0 && waitpid(front->collector, NULL, 0) < 0 && errno == EINTR)
		;
	front->collector = 0;
}

/* Until the collector has written the profile and said what is to be said. */
static int await_collector(struct front *front)
{
	int timeout_ms = PATIENCE_MS;
	while (front->collector != 0) {
		int kind = link_receive(front->link.to_front[0], timeout_ms);
		if (kind == LINK_BACKGROUND)
			return RUN_FRONT;
		if (kind == LINK_DONE) {
			wait_for_exit(front);
		} else if (kind == 0) {
			/* It takes its time; whoever does not want to wait may end us. */
			sigprocmask(SIG_SETMASK, &front->before, NULL);
			timeout_ms = -1;
		} else {
			wait_for_exit(front);
			if (front->takeovers++ >= TAKEOVERS_MAX)
				break;
			int role = front_fork_collector(front, NULL);
			if (role != RUN_FRONT)
				return role < 0 ? RUN_FRONT : role;
			link_send(front->link.to_collector[1], LINK_STARTED);
			link_send(front->link.to_collector[1], LINK_ENDED);
		}
	}
	return RUN_FRONT;
}

static int hear(struct front *front)
{
	for (;;) {
		siginfo_t info;
		int number = sigwaitinfo(&front->watched, &info);
		if (number == SIGCHLD) {
			if (look_at_program(front))
				return RUN_FRONT;
			if (look_at_collector(front) == RUN_COLLECTOR)
				return RUN_COLLECTOR;
		} else if (number > 0) {
			pass_on(front, number, &info);
		}
	}
}

int front_run(struct front *front, struct err *err)
{
	const struct run_options *options = front->options;
	char *agent = folder_agent_path(front->folder, options->agent);
	pid_t pid = launch(options, front->folder, agent, &front->before, err);
	free(agent);
	if (pid < 0) {
		link_send(front->link.to_collector[1], LINK_NOT_STARTED);
		wait_for_exit(front);
		return pid;
	}
	front->program = pid;
	atomic_store(&front->control->program_pid, pid);
	atomic_store(&front->control->program_start, procfs_start(pid));
	link_send(front->link.to_collector[1], LINK_STARTED);
	sentinel_start(&front->sentinel);
	int role = hear(front);
	if (role == RUN_FRONT) {
		sentinel_stop(&front->sentinel);
		link_send(front->link.to_collector[1], LINK_ENDED);
		role = await_collector(front);
	}
	return role;
}
