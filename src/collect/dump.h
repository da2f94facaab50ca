/* dump.h - the stacks of all threads of a running process at one moment, or of
 * one that died, from its core file.
 *
 * A running process is not stopped: each thread's stack is right by itself, and they
 * lie some hundred microseconds apart.  A thread whose stack could not be read
 * whole says so and leaves the others as they are.
 *
 * Life cycle: dump_new once, read it, dump_free.  Texts come from the process
 * and may hold anything. */
#ifndef HEATLINE_COLLECT_DUMP_H
#define HEATLINE_COLLECT_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "python/tasks.h"
#include "remote/activity.h"
#include "remote/names.h"
#include "remote/values.h"

#define DUMP_TASKS 200u       /* of a thread */
#define DUMP_FRAMES_KEPT 200u /* of an interpreter's, on each side of what is left out */

struct dump_frame {
	const char *file;     /* interned; absolute where it is known */
	const char *function; /* interned */
	uint32_t line;        /* 0: none */
	uint32_t left_out;    /* frames between this one and the one before it */
	struct remote_local *locals; /* owned */
	uint32_t local_count;
};

/* A task of asyncio that waits: the chain of its coroutines. */
struct dump_task {
	char name[TASK_NAME_BYTES];
	struct dump_frame *frames; /* owned; outermost first */
	uint32_t frame_count;
};

enum dump_stack {
	DUMP_WHOLE,
	DUMP_EMPTY, /* no Python frame: it has not begun, or runs C code only */
	DUMP_TORN,  /* could not be read whole; what is there may be wrong */
	DUMP_CUT,   /* deeper than is followed: the outermost are missing */
};

struct dump_thread {
	pid_t tid;        /* 0: not known */
	bool is_main;
	bool has_gil;
	bool has_crashed; /* it got the signal that the process died of */
	uint32_t interpreter; /* that it runs in; 0: the main one */
	char name[REMOTE_NAME_BYTES];
	struct remote_activity activity;
	enum dump_stack stack;
	struct dump_frame *frames; /* owned; outermost first; where it runs another interpreter's code,
				    * that is called by its own interpreter's */
	uint32_t frame_count;
	uint32_t elided; /* frames left out, all together */
	struct dump_task *tasks; /* owned; at most DUMP_TASKS, evenly chosen; those that run are not among them */
	uint32_t task_count;
	uint32_t task_total;     /* tasks that there are, as far as known */
};

/* What a core file tells besides. */
struct dump_core {
	const char *path;     /* interned; NULL: the process runs */
	int signal;           /* that it died of; 0: none, it was only looked at */
	pid_t crashed_tid;    /* who got it; 0: nobody */
	bool has_address;     /* the memory access that failed: */
	uint64_t address;
	pid_t sender_pid;     /* who sent the signal; 0: the kernel, or the process itself */
	uint64_t cut_bytes;   /* memory that the file should have but has not */
};

struct dump {
	pid_t pid;
	struct dump_core core;
	const char *python;  /* "3.11.7"; interned */
	const char *command; /* interned; NULL when not known */
	struct dump_thread *threads; /* owned */
	uint32_t thread_count;
	uint32_t other_threads; /* OS threads that run no Python */
	bool is_collecting;     /* a garbage collection is going on */
	struct intern *strings; /* owned */
	const char *root;       /* interned; before the names of source files; may be "" */
	struct dump_source *sources; /* owned; dump_source.c's own: files that were read */
	uint32_t source_count, source_room;
};

/* Returns NULL with the sentence in err; command as for remote_open. */
struct dump *dump_new(pid_t pid, bool has_locals, const char *command, struct err *err);

/* The same for a core file.  root: the folder that has the files of a process
 * that ran in a container, or NULL; borrowed. */
struct dump *dump_new_core(const char *path, const char *root, bool has_locals, struct err *err);
void dump_free(struct dump *dump);

/* The source of the frame's line without what it is indented by, as the process
 * sees the file; not terminated, valid until dump_free.  NULL: none. */
const char *dump_source_line(struct dump *dump, const struct dump_frame *frame, size_t *size);

/* For dump_free. */
void dump_sources_fini(struct dump *dump);

#endif
