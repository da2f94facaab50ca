/* agent.h - the state of the preload library inside a profiled process.
 *
 * The agent makes no thread, prints nothing, never exits and never changes
 * errno.  If it cannot work it says why in its ring and stays out of the way.
 *
 *	start.c     from the constructor to the first sample; fork, the end
 *	session.c   the same for an agent that the program itself loads (redirect.h)
 *	threads.c   a state, a slot and a clock for each thread
 *	clock.c     the tick; perf.c the finer clock beside it
 *	signals.c   our signal and its handler; masks.c who blocks it
 *	sample.c    one sample: weigh.h weighs it, codes.c sends code objects that are new
 *	memory.c    stands in for allocators and copies (heap.h); allocators.c for Python's
 *	gpu.c       what GPUs do (gpu.h)
 *	exec.c      goes along with what the program executes
 *	forbidden.c leaves a program that forbids itself our system calls
 *
 * Glossary.
 *   tick      a signal from a CPU-clock timer.  The kernel looks at these on
 *             its own tick (250 Hz as a rule), in user and in kernel mode.
 *   perf      a signal from a perf task-clock event, user mode only, finer.
 *   slot      a thread's place in the ring's table.
 *
 * Context.  Functions marked [handler] may run inside the sampling signal:
 * they live in the signal-safe archive, whose undefined symbols a test
 * compares with an allow-list. */
#ifndef HEATLINE_AGENT_AGENT_H
#define HEATLINE_AGENT_AGENT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/weigh.h"
#include "python/code.h"
#include "python/layout.h"
#include "python/reader.h"
#include "python/walk.h"
#include "wire/control.h"
#include "wire/ring.h"

/* Functions that stand in for the C library's. */
#define AGENT_EXPORT __attribute__((visibility("default")))

/* Room for one code object with its tables; larger ones are refused. */
#define AGENT_CODE_BYTES (128u * 1024u)

/* What a sampled thread needs.  Mapped when the thread starts, kept for the
 * next thread when it ends.  Only the thread itself touches it.  What lies behind scratch means
 * nothing between two samples and is gone in the child of a fork. */
struct agent_thread {
	uint32_t slot;           /* index in ring->threads */
	uint32_t session;        /* the one that the slot belongs to; see struct agent */
	int32_t tid;             /* 0: not known yet, or a free state */
	_Atomic bool is_busy;    /* in the handler, or not to be disturbed */
	bool is_met;             /* the thread was there before us; it does not tell its end */
	bool is_new;             /* its clock was started by another thread; not begun yet */
	bool is_first;           /* no sample yet */
	bool is_off;             /* its clock goes slowly: profiling is suspended */
	bool has_perf;
	bool is_trial_signal_due; /* from measuring what perf costs; not a sample */
	timer_t timer;
	bool has_timer;
	void *perf_page;         /* keeps the perf event alive; its descriptor is closed */
	uint64_t period_ns;      /* of the perf event */
	uint32_t period_left;    /* samples until it gets another period */
	uint64_t switches;       /* times it left its CPU, when that was last looked at */
	uint64_t switches_cpu_ns; /* its CPU time then */
	bool is_switching;       /* too often for a perf event */
	uint32_t ticks;          /* ever heard */
	uint32_t skipped_ticks;  /* since the last sample */
	uint64_t random;
	struct weigher weigher;
	py_addr gc_state, gc_flag; /* where the interpreter of this thread state says that it
				      collects garbage; 0: it does not say */
	uint32_t mean_cost_ns;   /* moving average of what a sample costs */
	struct agent_thread *next_free;
	struct agent_thread *next_made; /* all there are */
	void *(*start)(void *);  /* what the program wanted to run on it */
	void *argument;
	bool is_signal_blocked;  /* as in the thread that started it */
	_Alignas(4096) struct walk_scratch scratch;
	struct walk_frame frames[WALK_MAX_FRAMES];
	uint32_t identities[WALK_MAX_FRAMES];
	unsigned char code[AGENT_CODE_BYTES];
};

/* One per process.  Written while starting and in a forked child, when no
 * other thread runs our code; read everywhere else.
 *
 * A session is the time from one start to its end.  A preloaded agent has one;
 * one that was loaded by the program has as many as it likes. */
struct agent {
	_Atomic bool is_active;
	bool is_loaded;        /* into a running process, not preloaded: it can leave again */
	_Atomic uint32_t session; /* counted from 1 */
	int signal;            /* the one that our clocks send; see signals.c */
	struct control *control;
	struct ring *ring;
	struct mem_reader reader;
	struct py_layout layout;
	struct walker walker;
	void *(*this_thread_state)(void); /* PyGILState_GetThisThreadState */
	uint64_t interval_ns;  /* CPU time between samples of a thread */
	bool has_fixed_rate;   /* the user chose it: no thinning */
	_Atomic bool is_perf_refused; /* the system forbids perf events */
	uint64_t cookie;
	_Atomic int32_t permitted_pid; /* the collector that may read our memory */
};

extern struct agent g_agent;

/* Whether profiling is suspended. */
static inline bool agent_is_off(void)
{
	return atomic_load_explicit(&g_agent.control->is_off, memory_order_relaxed) != 0;
}

/* Whether the state has a place in the session that goes on.  Asked when it is marked
 * as busy: whoever ends the session waits for it from then on. */
static inline bool agent_is_current(const struct agent_thread *self)
{
	return atomic_load(&g_agent.is_active) && self->session == atomic_load(&g_agent.session);
}

/* Memory of our own, past the hooks that count the program's.  NULL on failure. */
static inline void *agent_map(size_t size)
{
	long block = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
	return block == -1 ? NULL : (void *)block; /* NOLINT: an address */
}

/* The same in the place of an old block of this size (NULL: there is none), which is
 * all zero at once.  A thread that still works on the old one does no harm. */
static inline void *agent_map_again(void *old, size_t size)
{
	long block = syscall(SYS_mmap, old, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | (old != NULL ? MAP_FIXED : 0), -1, 0L);
	return block == -1 ? NULL : (void *)block; /* NOLINT: an address */
}

/* Has whole pages be all zero in the child of a fork, where they mean nothing: then they are copied
 * neither by the fork nor, when they are next written to, by parent and child.  False where the
 * kernel cannot (before 4.14): the child has to clear them. */
static inline bool agent_wipe_on_fork(void *block, size_t size)
{
	return syscall(SYS_madvise, block, size, (long)MADV_WIPEONFORK) == 0;
}

/* What of ours reads files or sleeps would end a thread that somebody has cancelled, with our
 * locks held and another result than its own.  Not for handlers, which do without such calls. */
static inline int agent_keep_cancel(void)
{
	int before = PTHREAD_CANCEL_ENABLE;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void agent_let_cancel(int before)
{
	pthread_setcancelstate(before, NULL);
}

/* A number that no loop of the program is in step with.  [handler] */
static inline uint64_t thread_random(struct agent_thread *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random >> 8; /* the low bits are the weakest */
}

/* This thread's state, or NULL when it is not sampled. */
extern __thread struct agent_thread *g_self __attribute__((tls_model("initial-exec")));

#endif
