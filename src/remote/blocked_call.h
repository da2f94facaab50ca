/* blocked_call.h - the system call that a thread is blocked in, as
 * /proc/PID/task/TID/syscall tells. */
#ifndef HEATLINE_REMOTE_BLOCKED_CALL_H
#define HEATLINE_REMOTE_BLOCKED_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct blocked_call {
	long number; /* -1: blocked, but in none (a page is being read) */
	uint64_t arguments[4];
};

/* From the text of that file; false: the thread runs. */
bool blocked_call_parse(const char *text, struct blocked_call *call);

/* What a call waits for.  X(name, the word for it, whether its first argument is a
 * descriptor that says more) */
#define BLOCKED_LIST(X)                               \
	X(BLOCKED_OTHER, "kernel", false)             \
	X(BLOCKED_MEMORY, "memory", false)            \
	X(BLOCKED_LOCK, "lock", false)                \
	X(BLOCKED_SLEEP, "sleep", false)              \
	X(BLOCKED_POLL, "poll", false)                \
	X(BLOCKED_READ, "read", true)                 \
	X(BLOCKED_WRITE, "write", true)               \
	X(BLOCKED_RECEIVE, "receive", true)           \
	X(BLOCKED_SEND, "send", true)                 \
	X(BLOCKED_ACCEPT, "accept", true)             \
	X(BLOCKED_CONNECT, "connect", true)           \
	X(BLOCKED_SYNC, "sync", true)                 \
	X(BLOCKED_FILE_LOCK, "file lock", true)       \
	X(BLOCKED_FILE, "file", false)                \
	X(BLOCKED_OPEN, "open", false)                \
	X(BLOCKED_CHILD, "child process", false)      \
	X(BLOCKED_SIGNAL, "signal", false)

enum blocked_on {
#define X(name, word, has_file) name,
	BLOCKED_LIST(X)
#undef X
		BLOCKED_COUNT
};

/* By the one table of calls; BLOCKED_OTHER: none that is known. */
enum blocked_on blocked_call_on(const struct blocked_call *call);
const char *blocked_on_word(enum blocked_on on);
bool blocked_on_has_file(enum blocked_on on);

/* Whether its arguments are a list of descriptors (struct pollfd) and how many. */
bool blocked_call_is_list(const struct blocked_call *call);

/* Whether they are how many descriptors may be in sets, and three sets. */
bool blocked_call_is_select(const struct blocked_call *call);

/* Whether it waits for a futex between these addresses. */
bool blocked_call_is_futex(const struct blocked_call *call, uint64_t start, uint64_t end);

#endif
