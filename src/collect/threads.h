/* threads.h - the threads of a process, their names.
 *
 * One begins and ends by records of the agent.  A struct thread is its process's; of those that have
 * ended the busiest are kept, and the others are freed as they become one, so that threads_on_record
 * leaves no pointer to an ended one valid.  A name is what Python calls the thread, else what the
 * system does, else "Thread-N". */
#ifndef HEATLINE_COLLECT_THREADS_H
#define HEATLINE_COLLECT_THREADS_H

#include <stdint.h>
#include <sys/types.h>

#include "python/reader.h"

struct collector;
struct process;
struct record_exit;
struct record_thread;
struct thread;

/* The thread that has this slot of the ring now, or NULL. */
struct thread *threads_at(const struct process *process, uint32_t slot);

/* A thread has begun or ended. */
void threads_on_record(struct collector *collector, struct process *process,
		       const struct record_thread *record);

/* The process ends: what its main thread has used by then. */
void threads_on_exit(struct process *process, const struct record_exit *record);

/* What the system calls a thread; interned, or NULL. */
const char *threads_read_comm(struct collector *collector, pid_t pid, int32_t tid);

/* Where the thread's state is; 0: it has none. */
py_addr threads_find_state(const struct process *process, struct thread *thread);

/* Finds out the name of a thread that runs; call at every look. */
void threads_learn_name(struct collector *collector, struct process *process,
			struct thread *thread);

/* What the thread is called in the profile; interned. */
const char *threads_name(struct collector *collector, const struct process *process,
			 const struct thread *thread);

#endif
