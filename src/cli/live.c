/* live.c - follow a run, and publish what it shows. */
#include "cli/live.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/process.h"
#include "cli/which_run.h"
#include "collect/attach.h"
#include "profile/read.h"
#include "profile/write.h"
#include "serve/assets.h"

#define STEP_NS 100000000u     /* between two looks whether there is something new */
#define LOOKS_HZ 1000          /* at a process that no run has started */
#define BEGIN_NS (10ull * SECOND_NS) /* for the run to begin */

/* A run and its page. */
struct follower {
	struct run_entry *run; /* borrowed */
	struct server *server; /* borrowed */
	uint32_t shown;        /* runs_shows of what was published */
	uint64_t next_ns;      /* when to ask for more */
};

/* --- what is published --- */

/* Until there is more: the program's name, and that it runs. */
static void publish_nothing(struct server *server, const char *program)
{
	const struct write_options options = WRITE_OPTIONS_DEFAULT;
	struct profile *profile = profile_new();
	size_t size;

	profile->program = profile_intern(profile, program);
	profile->start_time_epoch_s = clock_epoch_s();
	profile->is_partial = true;
	char *text = profile_write_text(profile, &options, &size);
	profile_free(profile);
	server_publish(server, text, size);
}

static void publish_shown(struct follower *follower)
{
	char *path = runs_show_path(follower->run);
	char *text;
	size_t size;

	if (file_read(path, READ_MAX_BYTES, &text, &size, NULL) == 0)
		server_publish(follower->server, text, size);
	free(path);
}

/* The profile that the run has left, if the file is from this very run. */
static void publish_last(const struct follower *follower)
{
	const struct control *control = follower->run->control;
	char *text;
	size_t size;

	if (file_read(control->outfile, READ_MAX_BYTES, &text, &size, NULL) != 0)
		return;
	struct profile *profile = profile_read_text(text, size, control->outfile, NULL);
	if (profile && fabs(profile->start_time_epoch_s - control->start_epoch_s) < 1e-3)
		server_publish(follower->server, text, size);
	else
		free(text);
	profile_free(profile);
}

/* --- following --- */

/* Looks whether there is something new.  False when the run is over. */
static bool follow(struct follower *follower)
{
	uint32_t shows = runs_shows(follower->run);
	uint64_t now_ns = clock_monotonic_ns();

	if (shows != follower->shown) {
		follower->shown = shows;
		publish_shown(follower);
	}
	if (now_ns >= follower->next_ns) {
		follower->next_ns = now_ns + SECOND_NS;
		server_tick(follower->server);
		if (server_is_watched(follower->server))
			runs_want_show(follower->run);
	}
	return !runs_is_over(follower->run);
}

/* Until the run is over (true) or a signal comes. */
static bool follow_to_end(struct follower *follower, const sigset_t *signals)
{
	const struct timespec step = {.tv_nsec = STEP_NS};

	while (follow(follower)) {
		if (sigtimedwait(signals, NULL, &step) > 0)
			return false;
	}
	publish_last(follower);
	server_end_live(follower->server);
	return true;
}

/* --- view --live --- */

/* What is to be shown: a run, or a process of nobody's run. */
struct subject {
	struct run_entry *run;  /* borrowed; or */
	struct attach *attach;  /* borrowed */
	const char *program;    /* its name; borrowed */
};

static bool follow_subject(const struct subject *subject, struct server *server,
			   const sigset_t *signals)
{
	struct follower follower = {.run = subject->run, .server = server};

	return subject->run ? follow_to_end(&follower, signals)
			    : live_follow_process(subject->attach, server, signals);
}

static int serve_subject(const struct page_options *options, const struct subject *subject,
			 struct err *err)
{
	struct store *store = store_new();
	sigset_t signals, before;

	store_add_published(store);
	page_block_signals(&signals, &before);
	struct server *server = page_start(options, store, true, err);
	if (server) {
		publish_nothing(server, subject->program);
		page_announce(server, options->may_open, "until Ctrl-C", stdout);
		if (follow_subject(subject, server, &signals)) {
			fprintf(stderr, "heatline: the program has ended; its profile is still served\n");
			page_wait(server, &signals);
		}
		page_say_end();
	}
	server_stop(server);
	store_free(store);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return server ? 0 : -1;
}

/* Serves the page of a process that no run has started. */
static int serve_process(const struct page_options *options, pid_t pid, struct err *err)
{
	char command[64];
	struct attach_options how = {.pid = pid, .command = command, .rate_hz = LOOKS_HZ,
				     .has_children = true, .cpu_percent_threshold = 1};
	struct attach_figures figures;

	snprintf(command, sizeof(command), "heatline view --live %d", (int)pid);
	struct attach *attach = attach_new(&how, err);
	if (!attach)
		return -1;
	attach_figures(attach, &figures);
	struct subject subject = {.attach = attach, .program = figures.program};
	int status = serve_subject(options, &subject, err);
	attach_free(attach);
	return status;
}

static int serve_named(const struct page_options *options, const char *word, struct err *err)
{
	struct runs runs;
	pid_t pid = 0;
	int status = assets_check(err);

	if (!status && word)
		status = process_parse_pid(word, &pid, err);
	if (status)
		return status;
	runs_init(&runs);
	struct run_entry *run = word ? runs_find(&runs, pid)
				     : which_run(&runs, NULL, "view --live", err);
	if (run) {
		struct subject subject = {.run = run, .program = run->control->program};

		status = serve_subject(options, &subject, err);
	} else {
		status = word ? serve_process(options, pid, err) : -1;
	}
	runs_fini(&runs);
	return status;
}

int live_view(const struct page_options *options, const char *word)
{
	struct err err;

	return serve_named(options, word, &err) ? command_error(&err) : 0;
}

/* --- run --live --- */

/* Of the process that serves: from here on nothing of it is to be seen. */
static void be_silent(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; nothing >= 0 && fd <= 2; fd++)
		dup2(nothing, fd);
}

/* The run whose front is this process, once it has begun. */
static struct run_entry *await_run(struct runs *runs, pid_t front)
{
	uint64_t end_ns = clock_monotonic_ns() + BEGIN_NS;

	while (getppid() == front && clock_monotonic_ns() < end_ns) {
		runs_init(runs);
		struct run_entry *run = runs_find(runs, front);
		if (run)
			return run;
		runs_fini(runs);
		usleep(20000);
	}
	return NULL;
}

/* Serves until the run is over. */
static void serve_beside(struct server *server, pid_t front, const sigset_t *signals)
{
	struct runs runs;
	struct run_entry *run = await_run(&runs, front);

	if (!run)
		return;
	struct follower follower = {.run = run, .server = server};
	follow_to_end(&follower, signals);
	runs_fini(&runs);
}

/* The process that serves.  Tells through ready that it does, or why not. */
static void be_server(const char *program, pid_t front, int ready)
{
	const struct page_options options = {.port = PAGE_USUAL_PORT, .may_open = true};
	struct store *store = store_new();
	sigset_t signals, before;
	struct err err;

	store_add_published(store);
	page_block_signals(&signals, &before);
	struct server *server = page_start(&options, store, true, &err);
	if (server) {
		publish_nothing(server, program);
		page_announce(server, options.may_open, "while the program runs", stderr);
		err_clear(&err);
	}
	setsid(); /* Ctrl-C is the program's */
	be_silent();
	ssize_t written = write(ready, &err, sizeof(err));
	close(ready);
	if (server && written == (ssize_t)sizeof(err))
		serve_beside(server, front, &signals);
	server_stop(server);
	store_free(store);
}

int live_start(const char *program, struct err *err)
{
	int ends[2];
	pid_t front = getpid();

	if (assets_check(err) != 0)
		return -1;
	pid_t pid = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
	if (pid < 0)
		return err_set_errno(err, errno, "no process can be made for the page");
	if (pid == 0) {
		close(ends[0]);
		be_server(program, front, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	struct err answer = {.code = ERR_SYSTEM, .message = "the page's server has not started"};
	ssize_t size = read(ends[0], &answer, sizeof(answer));
	close(ends[0]);
	if (size == (ssize_t)sizeof(answer) && answer.code == ERR_NONE)
		return 0;
	*err = answer;
	return -(int)answer.code;
}
