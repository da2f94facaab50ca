/* threads.h - the threads of a process: Python's list and the kernel's joined.
 *
 * Python knows a thread by the address of its C library's structure, and from
 * 3.11 on also by the kernel's number; before that the number is found in that
 * structure, at the one place where all threads have one of their process.
 * Numbers of a container's own are turned into ours. */
#ifndef HEATLINE_REMOTE_THREADS_H
#define HEATLINE_REMOTE_THREADS_H

#include "base/vec.h"
#include "remote/remote.h"

/* One thread state.  An OS thread can have one in each interpreter. */
struct remote_thread {
	py_addr state;        /* PyThreadState */
	py_addr interpreter;  /* PyInterpreterState */
	uint32_t interpreter_index; /* 0 for the main one, as far as known */
	uint64_t pthread_id;
	uint64_t native_id;   /* as the process counts; 0: not known */
	pid_t tid;            /* as we count; 0: not known */
};

/* An OS thread. */
struct remote_task {
	pid_t tid;
	pid_t inner; /* as the process counts */
};

struct remote_threads {
	VEC(struct remote_thread) items; /* the main thread first, then by age */
	VEC(struct remote_task) tasks;
};

#define REMOTE_THREADS_MAX 8192u

/* Reads both lists anew; what cannot be read is left out.  Returns how many
 * thread states there are. */
uint32_t remote_threads_read(const struct remote *remote, struct remote_threads *threads);
void remote_threads_fini(struct remote_threads *threads);

#endif
