/* agent.h - the state of the preload library inside a profiled process.
 *
 * The agent makes no thread, prints nothing, never exits and never changes
 * errno.  If it cannot work it says why in its ring and stays out of the way.
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
	uint32_t last_cost_ns;   /* what the last sample cost */
	uint32_t mean_cost_ns;   /* moving average of it */
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

/* This thread's state, or NULL when it is not sampled. */
extern __thread struct agent_thread *g_self __attribute__((tls_model("initial-exec")));

/* --- start.c --- */

/* Finds the interpreter and makes the ring in the run's folder.  NULL, or why it
 * cannot be; *ring: NULL when this process has nothing to do with a run. */
const char *start_prepare(const char *folder, struct ring **ring);

/* Starts measuring with what start_prepare has found.  NULL, or why not. */
const char *start_sampling(void);

/* The collector sees the ring from now on.  why: NULL, or what is wrong. */
void start_publish(struct ring *ring, const char *why);

/* For a loaded agent: the ring is the collector's alone from now on.  What a thread
 * still writes goes nowhere. */
void start_leave_ring(void);

/* The run's folder. */
const char *start_folder(void);

/* A word of the program for the timeline; as much of it as fits. */
void start_push_mark(const char *text, size_t size);

/* Where the code of the library or executable lies that has this address;
 * 0 and 0 when there is none. */
void start_find_code(uint64_t inside, uint64_t *start, uint64_t *end);

/* A process of the program executes another Python, which will not be able to report. */
void start_note_unreachable(int error);

/* --- session.c --- */

/* A preloaded agent leaves the process for good: nothing of it calls the kernel any more, and
 * the report says why.  No effect where there is none that measures. */
void session_leave(const char *why);

/* --- sample.c --- */

/* Where the signal met the thread. */
struct interrupted {
	uint64_t pc;
	uint64_t stack; /* the stack pointer, where calls leave their return address there; or 0 */
	uint64_t link;  /* the return address, where calls leave it in a register; or 0 */
};

/* Takes one sample of the calling thread.  [handler] */
void sample_take(struct agent_thread *self, const struct interrupted *at, bool is_tick);

/* Walks the calling thread's stack and gives every frame its code id: leaves
 * ids in self->identities and offsets in self->frames, innermost first.  False
 * when it could not be read whole or sent.  flags: enum sample_flag.  [handler] */
bool sample_walk(struct agent_thread *self, const struct walker *walker, uint32_t *count,
		 uint8_t *flags);

/* The same for another thread, by its thread state.  [handler] */
bool sample_walk_state(struct agent_thread *self, const struct walker *walker, py_addr state,
		       uint32_t *count, uint8_t *flags);

/* --- codes.c --- */

#define CODE_ID_NONE 0u

/* The id under which the ring knows a code object, after sending it there if
 * it is new, as the walker reads it; CODE_ID_NONE when it could not be read or
 * sent.  [handler] */
uint32_t codes_find(struct agent_thread *self, const struct walker *walker, py_addr code,
		    uint32_t identity);

/* Forgets all ids: a new ring knows none.  Returns 0 or -errno. */
int codes_reset(void);
int codes_after_fork(void);

/* --- clock.c --- */

uint64_t now_wall_ns(void);     /* [handler] */
uint64_t now_cpu_ns(void);      /* [handler] */
uint64_t now_cpu_of_ns(int32_t tid); /* of another thread; 0: it has gone */

/* The kernel's tally of the calling thread's ticks in user and in kernel
 * mode.  (getrusage scales them, so that its system time grows while the
 * thread computes.)  [handler] */
struct weight now_tally(void);

/* Starts the calling thread's CPU timer.  Returns 0 or -errno. */
int clock_start(struct agent_thread *self);
void clock_stop(struct agent_thread *self);

/* The same for another thread, by its number; it has begun when it has called
 * clock_begin itself.  [handler] */
int clock_start_other(struct agent_thread *other);
void clock_begin(struct agent_thread *self);

/* While profiling is suspended: the timer only asks now and then whether it
 * still is.  Back to normal, the thread's time begins anew.  [handler] */
void clock_suspend(struct agent_thread *self);
void clock_resume(struct agent_thread *self);

/* Notes that a kind of clock is in use.  [handler] */
void clock_note(enum ring_clock clock);

/* --- perf.c --- */

/* A number that no loop of the program is in step with.  [handler] */
static inline uint64_t thread_random(struct agent_thread *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random >> 8; /* the low bits are the weakest */
}

/* Gives a thread that has shown to be busy a perf clock, or the one it has
 * another period; quietly does nothing where the system forbids it.
 * [handler] */
void perf_renew(struct agent_thread *self);
void perf_stop(struct agent_thread *self);

/* Takes its perf clock from a thread that has begun to leave its CPU all the time.  [handler] */
void perf_watch(struct agent_thread *self);

/* --- threads.c --- */

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

/* --- memory.c, allocators.c; only in the agent that also profiles memory --- */

/* Returns 0 or -errno. */
int memory_start(void) __attribute__((weak));

/* Looks the real functions up, before there are threads that could ask for them at the
 * same time. */
void memory_prepare(void) __attribute__((weak));
void memory_after_fork(void) __attribute__((weak));

/* The process is about to end. */
void memory_end(void) __attribute__((weak));

/* For a loaded agent, after memory_start and the tables: Python's own allocators
 * too.  NULL, or why that cannot be.  memory_leave: as they were. */
const char *memory_join(void) __attribute__((weak));
void memory_leave(void) __attribute__((weak));

/* Python has come so far that its allocators are chosen. */
void memory_python_started(void) __attribute__((weak));

/* While a handler runs its own copies are not the program's.  [handler] */
uint64_t memory_pause(void) __attribute__((weak));
void memory_resume(uint64_t paused) __attribute__((weak));

/* What the calling thread allocates in between is not the program's. */
void memory_hide(uint64_t saved[2]) __attribute__((weak));
void memory_show(const uint64_t saved[2]) __attribute__((weak));

/* --- resident.c --- */

/* Once a session starts, and in the child of a fork. */
void resident_start(void);
void resident_after_fork(void);

/* The most that was resident of the process since then; 0: not known.  is_at_once: no file
 * is read. */
uint64_t resident_peak_bytes(bool is_at_once);

/* --- exec.c --- */

/* Once a preloaded agent starts: from then on what the program executes carries it.  Returns
 * the run's folder as the environment has it, NULL: it has none. */
const char *exec_start(void);

/* --- builtin.c --- */

/* Python has come so far that it has its builtins; its lock is held. */
void builtin_python_started(void);

/* --- signals.c --- */

/* Installs the handler.  Returns 0 or -errno. */
int signals_start(void);

/* Gives the signal back; nothing of ours is pending afterwards. */
void signals_stop(void);

/* Whether a signal of our number comes from our clocks.  [handler] */
bool signals_is_ours(const siginfo_t *info);

/* --- restart.c --- */

/* The instruction of a system call: its size, and whether one stands at this address, which is
 * mapped.  [handler] */
#if defined(__x86_64__)
#define CALL_BYTES 2u
#elif defined(__aarch64__)
#define CALL_BYTES 4u
#else
#error "Heatline knows x86_64 and aarch64"
#endif
bool restart_is_call(uint64_t at);

/* At the end of our handler: a blocked call that a signal of the program's is to end does so.
 * [handler] */
void restart_settle(void *context);

/* --- masks.c --- */

/* Finds out what the calling thread blocks, and unblocks our signal; a loaded agent
 * leaves all masks as they are.  Returns 0 or -errno. */
int masks_start(void);

/* The signal has been given back: the calling thread's mask is as the program wants it. */
void masks_stop(void);

/* Keeps a signal that is not ours for later, if the program has blocked it in
 * the calling thread; false: it is to be delivered.  [handler] */
bool masks_hold(const siginfo_t *info);

/* Sets the calling thread's mask past the program's view of it.  [handler] */
void masks_set_real(const sigset_t *mask);

/* A new thread blocks what its creator blocks: asked there, told here. */
bool masks_is_blocked(void);
void masks_inherit(bool was_blocked);

/* In a forked child: nothing is pending. */
void masks_after_fork(void);

#endif
