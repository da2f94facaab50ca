/* waits.c - see waits.h. */
#include "collect/waits.h"

#include <stdio.h>
#include <string.h>

#include "base/procfs.h"
#include "base/text.h"

#define REASON_FRAMES 4u /* innermost ones that may say what is waited for */

static enum wait_kind kind_of_descriptor(pid_t pid, uint64_t descriptor)
{
	char name[40], target[64];
	snprintf(name, sizeof(name), "fd/%llu", (unsigned long long)descriptor);
	if (!procfs_link(pid, name, target, sizeof(target)))
		return WAIT_FILE;
	if (text_starts_with(target, "socket:") || text_starts_with(target, "anon_inode:"))
		return WAIT_SOCKET;
	if (text_starts_with(target, "pipe:"))
		return WAIT_PIPE;
	if (text_starts_with(target, "/dev/pts/") || text_starts_with(target, "/dev/tty"))
		return WAIT_TERMINAL;
	return WAIT_FILE;
}

enum wait_kind waits_kind(const struct blocked_call *call, pid_t pid)
{
	switch (blocked_call_on(call)) {
	case BLOCKED_LOCK:
		return WAIT_LOCK;
	case BLOCKED_SLEEP:
		return WAIT_SLEEP;
	case BLOCKED_CHILD:
		return WAIT_CHILD;
	case BLOCKED_POLL:
	case BLOCKED_RECEIVE:
	case BLOCKED_SEND:
	case BLOCKED_ACCEPT:
	case BLOCKED_CONNECT:
		return WAIT_SOCKET;
	case BLOCKED_SYNC:
	case BLOCKED_FILE_LOCK:
	case BLOCKED_FILE:
	case BLOCKED_OPEN:
		return WAIT_FILE;
	case BLOCKED_READ:
	case BLOCKED_WRITE:
		return kind_of_descriptor(pid, call->arguments[0]);
	default:
		return WAIT_OTHER;
	}
}

enum wait_kind waits_refine(enum wait_kind kind, const char *filename)
{
	bool is_queue = text_ends_with(filename, "/queue.py") ||
			text_ends_with(filename, "/multiprocessing/queues.py") ||
			text_ends_with(filename, "/concurrent/futures/thread.py");
	if (is_queue && (kind == WAIT_LOCK || kind == WAIT_PIPE))
		return WAIT_QUEUE;
	bool is_child = text_ends_with(filename, "/subprocess.py") ||
			text_ends_with(filename, "/multiprocessing/popen_fork.py");
	if (is_child && kind != WAIT_LOCK)
		return WAIT_CHILD;
	return kind;
}

enum wait_kind waits_of_stack(const struct blocked_call *call, pid_t pid, const struct codes *codes,
			      const struct tree_frame *frames, uint32_t count)
{
	enum wait_kind kind = waits_kind(call, pid);
	for (uint32_t i = 0; i < count && i < REASON_FRAMES; i++)
		kind = waits_refine(kind, codes->items[frames[i].code].filename);
	return kind;
}

void waits_vote(struct tree_weights *self, enum wait_kind kind, uint64_t ns)
{
	if (self->wait_kind == kind) {
		self->kind_ns += ns;
	} else if (self->kind_ns >= ns) {
		self->kind_ns -= ns;
	} else {
		self->wait_kind = (uint8_t)kind;
		self->kind_ns = ns - self->kind_ns;
	}
}
