/* threads.h - the threads of the process: their states, from the first moment to the last.
 *
 * pthread_create is wrapped: who makes a thread takes its state and its slot in the ring, the
 * thread itself begins and ends.  A state is never unmapped, since a handler may still look at it;
 * it is used again for another thread.  No lock is taken in a handler. */
#ifndef HEATLINE_AGENT_THREADS_H
#define HEATLINE_AGENT_THREADS_H

#include <stddef.h>
#include <stdint.h>

struct agent_thread;

/* Registers the calling thread as the process's main one. */
int threads_start_main(void);

/* For a loaded agent.  All threads that there are, the main one first; once more
 * when it is active, for those that began meanwhile.  idents: pthread_self() of
 * those that run Python, as far as they are known.  Returns 0 or -errno. */
int threads_start_all(const unsigned long *idents, size_t count);

/* Ends the session for all threads.  On return none of them is in our handler. */
void threads_stop_all(void);

/* The program ends: what the samples of its other threads lack of their CPU time is told. */
void threads_tell_rests(void);

/* For how long the main thread was ready to run so far; 0: not known. */
uint64_t threads_main_delay_ns(void);

/* This thread's state in this session, or NULL.  [handler] */
struct agent_thread *threads_self(void);

/* In a forked child: nobody else is in our functions any more. */
void threads_unlock(void);

/* In a forked child: forget every thread but the calling one. */
void threads_after_fork(void);

/* While not 0, threads that the calling one makes are not the program's and are
 * not sampled. */
extern __thread uint32_t g_threads_unseen __attribute__((tls_model("initial-exec")));

#endif
