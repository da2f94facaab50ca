/* waits.c - see waits.h. */
#include "collect/waits.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/procfs.h"
#include "base/text.h"

#define REASON_FRAMES 8u /* innermost ones that may say what is waited for */
#define LISTED_MAX 8u    /* descriptors of one call that are asked what they are */
#define SET_BYTES 128u   /* of select: 1024 bits */

static enum wait_kind kind_of_descriptor(pid_t pid, uint64_t descriptor)
{
	char name[40], target[64];
	snprintf(name, sizeof(name), "fd/%llu", (unsigned long long)descriptor);
	if (!procfs_link(pid, name, target, sizeof(target)))
		return WAIT_FILE;
	if (text_starts_with(target, "socket:"))
		return WAIT_SOCKET;
	if (text_starts_with(target, "anon_inode:")) /* eventfd, timerfd, inotify */
		return WAIT_EVENTS;
	if (text_starts_with(target, "pipe:"))
		return WAIT_PIPE;
	if (text_starts_with(target, "/dev/pts/") || text_starts_with(target, "/dev/tty"))
		return WAIT_TERMINAL;
	return WAIT_FILE;
}

/* The descriptors of one call: what they are, if they are all the same. */
struct listed {
	pid_t pid;
	uint32_t count;
	enum wait_kind kind;
};

/* False when it need not be gone on. */
static bool list_add(struct listed *listed, uint64_t descriptor)
{
	enum wait_kind kind = kind_of_descriptor(listed->pid, descriptor);
	bool is_same = listed->count == 0 || kind == listed->kind;
	listed->kind = is_same && listed->count < LISTED_MAX ? kind : WAIT_EVENTS;
	listed->count++;
	return listed->kind != WAIT_EVENTS;
}

static void list_poll(struct listed *listed, const struct blocked_call *call,
		      const struct mem_reader *reader)
{
	struct pollfd entries[LISTED_MAX];
	uint64_t count = call->arguments[1];
	if (count > LISTED_MAX ||
	    !reader->read(reader, call->arguments[0], entries, count * sizeof(entries[0])))
		return;
	for (uint64_t i = 0; i < count; i++) {
		if (entries[i].fd >= 0 && !list_add(listed, (uint64_t)entries[i].fd))
			return;
	}
}

static void list_select(struct listed *listed, const struct blocked_call *call,
			const struct mem_reader *reader)
{
	uint64_t count = call->arguments[0], words[SET_BYTES / 8];
	for (uint32_t set = 1; set <= 3 && count <= SET_BYTES * 8; set++) {
		uint64_t address = call->arguments[set];
		if (address == 0 || !reader->read(reader, address, words, (count + 63) / 64 * 8))
			continue;
		for (uint64_t i = 0; i < count; i++) {
			if ((words[i / 64] >> i % 64 & 1) != 0 && !list_add(listed, i))
				return;
		}
	}
}

/* What a poll waits for, where its descriptors are all of one kind: a socket with a timeout
 * is waited for so.  The set of an epoll is an event loop's, which has something of its own to
 * wake it up in it. */
static enum wait_kind kind_of_poll(const struct blocked_call *call, const struct mem_reader *reader)
{
	struct listed listed = {.pid = reader->pid, .kind = WAIT_EVENTS};
	if (blocked_call_is_list(call))
		list_poll(&listed, call, reader);
	else if (blocked_call_is_select(call))
		list_select(&listed, call, reader);
	return listed.kind;
}

enum wait_kind waits_kind(const struct blocked_call *call, const struct mem_reader *reader)
{
	switch (blocked_call_on(call)) {
	case BLOCKED_LOCK:
		return WAIT_LOCK;
	case BLOCKED_SLEEP:
		return WAIT_SLEEP;
	case BLOCKED_CHILD:
		return WAIT_CHILD;
	case BLOCKED_POLL:
		return kind_of_poll(call, reader);
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
		return kind_of_descriptor(reader->pid, call->arguments[0]);
	default:
		return WAIT_OTHER;
	}
}

/* What a function says of a wait that it is in. */
enum says {
	SAYS_NOTHING, /* it waits for whoever called it */
	SAYS_QUEUE,
	SAYS_CHILD,
	SAYS_EVENTS, /* the turn of an event loop */
};

static const struct {
	const char *file;
	const char *function; /* NULL: any of the file */
	enum says says;
} machinery[] = {
	{ "/threading.py", NULL, SAYS_NOTHING },
	{ "/selectors.py", NULL, SAYS_NOTHING },
	{ "/multiprocessing/connection.py", NULL, SAYS_NOTHING },
	{ "/multiprocessing/synchronize.py", NULL, SAYS_NOTHING },
	{ "/queue.py", NULL, SAYS_QUEUE },
	{ "/multiprocessing/queues.py", NULL, SAYS_QUEUE },
	{ "/concurrent/futures/thread.py", "_worker", SAYS_QUEUE },
	{ "/subprocess.py", NULL, SAYS_CHILD },
	/* Not _launch: in a forked child all that it does stands on that. */
	{ "/multiprocessing/popen_fork.py", "poll", SAYS_CHILD },
	{ "/multiprocessing/popen_fork.py", "wait", SAYS_CHILD },
	{ "/multiprocessing/popen_forkserver.py", "poll", SAYS_CHILD },
	{ "/asyncio/base_events.py", "_run_once", SAYS_EVENTS },
	{ "/trio/_core/_io_epoll.py", "get_events", SAYS_EVENTS },
};

static enum wait_kind refine(enum wait_kind kind, enum says says)
{
	if (says == SAYS_QUEUE && (kind == WAIT_LOCK || kind == WAIT_PIPE || kind == WAIT_EVENTS))
		return WAIT_QUEUE;
	if (says == SAYS_CHILD && kind != WAIT_LOCK)
		return WAIT_CHILD;
	if (says == SAYS_EVENTS && kind != WAIT_LOCK)
		return WAIT_EVENTS;
	return kind;
}

bool waits_refine(enum wait_kind *kind, const char *filename, const char *qualname)
{
	const char *dot = strrchr(qualname, '.');
	const char *name = dot == NULL ? qualname : dot + 1;
	for (size_t i = 0; i < sizeof(machinery) / sizeof(machinery[0]); i++) {
		if (!text_ends_with(filename, machinery[i].file) ||
		    (machinery[i].function != NULL && strcmp(name, machinery[i].function) != 0))
			continue;
		*kind = refine(*kind, machinery[i].says);
		return machinery[i].says == SAYS_NOTHING;
	}
	return false;
}

enum wait_kind waits_of_stack(const struct blocked_call *call, const struct mem_reader *reader,
			      const struct codes *codes, const struct tree_frame *frames,
			      uint32_t count)
{
	enum wait_kind kind = waits_kind(call, reader);
	for (uint32_t i = 0; i < count && i < REASON_FRAMES; i++) {
		const struct code *code = &codes->items[frames[i].code];
		if (!waits_refine(&kind, code->filename, code->qualname))
			break;
	}
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
