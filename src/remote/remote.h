/* remote.h - a Python process that already runs, seen with nothing but its pid;
 * or one that has died, seen in its core file.
 *
 * remote_open finds the interpreter among the files that the process has
 * mapped (the executable or libpython; stripped or not; in a container through
 * /proc/PID/root), from it the runtime's address and the version, and from
 * those the layout by which src/python reads.  Nothing is stopped, written or
 * called in the process, ever.
 *
 * What is read is untrusted: bounded, checked, copied. */
#ifndef HEATLINE_REMOTE_REMOTE_H
#define HEATLINE_REMOTE_REMOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "python/layout.h"
#include "python/reader.h"
#include "python/walk.h"

struct core;

struct remote {
	pid_t pid;             /* of a core: the one that it had; means nothing now */
	struct core *core;     /* borrowed; NULL: the process runs */
	char label[256];       /* what it is in sentences: "process 12" */
	uint64_t start_time;   /* procfs_start: who had the pid when it was opened */
	struct mem_reader reader;
	struct py_layout layout;
	struct walker walker;  /* with reader and layout above */
	py_addr runtime;
	uint64_t image_start;  /* an address inside the interpreter's code */
	char version_text[24]; /* "3.11.7" */
	bool has_namespace;    /* the process counts its threads in a pid namespace of its own */
};

/* Fills *remote, which must not move afterwards (the walker points into it).
 * `command` is what the user typed, "heatline dump 12", for the sentence that
 * says how to be permitted.  The pid of a thread stands for its process.
 * Returns 0, or negative with the sentence in err. */
int remote_open(struct remote *remote, pid_t pid, const char *command, struct err *err);

/* The same for an opened core; name is what the user typed for it. */
int remote_open_core(struct remote *remote, struct core *core, const char *name, struct err *err);

/* Whether the process still runs the program that was opened. */
bool remote_is_alive(const struct remote *remote);

/* refuse.c: why the kernel does not let us look at the process, and the line
 * that permits it; error_number is what it said. */
int remote_refuse(pid_t pid, int error_number, const char *command, struct err *err);

/* Whether the process's memory may be read, found out by reading a word of it at addr.  Returns
 * 0, or negative with remote_refuse's sentence. */
int remote_try_memory(pid_t pid, py_addr addr, const char *command, struct err *err);

#endif
