/* server.c - the loop: lines in, answers out, jobs beside. */
#include "mcp/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "mcp/session.h"

#define JOB_POLL_MS 20 /* the end of a process is looked for so often */

/* False when the input has ended. */
static bool read_input(struct session *session, struct message_lines *lines)
{
	char bytes[65536];
	const char *line;
	size_t size;
	bool is_too_long;
	ssize_t count = read(session->options.input, bytes, sizeof(bytes));
	if (count < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (count <= 0)
		return false;
	message_lines_feed(lines, bytes, (size_t)count);
	while (!session->is_broken && message_lines_next(lines, &line, &size, &is_too_long))
		session_take(session, line, size, is_too_long);
	return true;
}

static void serve(struct session *session)
{
	struct message_lines lines;
	bool is_open = true;
	message_lines_init(&lines);
	while (is_open && !session->is_broken) {
		struct pollfd polls[1 + JOBS_MAX] = {{.fd = session->options.input, .events = POLLIN}};
		uint32_t count = 1 + jobs_poll(&session->jobs, polls + 1);
		struct job *job;
		if (poll(polls, count, session->jobs.count ? JOB_POLL_MS : -1) < 0 && errno != EINTR)
			break;
		if (polls[0].revents)
			is_open = read_input(session, &lines);
		while ((job = jobs_step(&session->jobs)) != NULL)
			session_finish(session, job);
		session_tell_progress(session);
	}
	message_lines_fini(&lines);
}

int mcp_serve(const struct mcp_options *options, struct err *err)
{
	struct session session;
	/* A client that is gone is seen by write's error. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return err_set_errno(err, errno, "cannot ignore SIGPIPE");
	session_init(&session, options);
	serve(&session);
	session_fini(&session);
	return 0;
}
