/* attach_parts.h - what the files of a session share (see attach.h).
 *
 *	attach.c          the session: its life, the loop, processes and threads
 *	attach_look.c     one look at one thread, and what it is booked as
 *	attach_codes.c    code objects, by their addresses
 *	attach_stack.c    the stack of a look, from the thread's memory on
 *	attach_tasks.c    the event loop of a thread, and its tasks that wait
 *	attach_weigh.c    what looks at a running thread stand for
 *	attach_perf.c     perf clocks: who works, by the true CPU clock
 *	attach_target.c   what the process is: its program, its children */
#ifndef HEATLINE_COLLECT_ATTACH_PARTS_H
#define HEATLINE_COLLECT_ATTACH_PARTS_H

#include <time.h>

#include "base/procfs.h"
#include "collect/attach.h"
#include "collect/collector.h"
#include "collect/split.h"
#include "collect/trust.h"
#include "remote/activity.h"
#include "remote/perf_clock.h"
#include "remote/snapshot.h"
#include "remote/threads.h"

#define ATTACH_FRAMES_MAX 20000u /* deeper stacks lose their outermost */
#define ATTACH_FRAMES_KEPT 1024u /* of deeper ones the middle is left out */
#define ATTACH_CLOCKS_MAX 128    /* threads with a perf clock: each is a descriptor and 64 KB */

/* A frame of the stack that was last taken, and what was found out about it. */
struct attach_row {
	struct walk_frame frame;
	py_addr place;           /* where it lies, if the stack is marked */
	struct tree_frame shown; /* as the collector knows it */
	bool is_hidden;          /* not shown */
	bool is_on_stack;        /* it and all its callers lie on the frame stack (3.11+) */
};

/* A thread's last stack, outermost first. */
struct attach_stack {
	uint32_t count;
	bool is_marked;    /* the snapshot has marked where it lies */
	uint64_t whole_ns; /* when it is to be read as a whole again */
	uint64_t check_ns; /* when the first of its code objects has to be asked again */
	struct attach_row rows[ATTACH_FRAMES_KEPT];
};

/* A look at a running thread that is to be booked. */
struct attach_due {
	uint64_t time_ns;
	uint32_t part_ns; /* its part of the CPU time, relative to the others */
	uint32_t node;
	uint8_t kind;    /* enum timeline_kind */
	bool is_open;    /* Python or native is told later */
	bool is_startup; /* no Python code runs */
};

/* What a thread's event loop waited, until it is given to tasks; attach_tasks.c's own. */
struct attach_loop {
	uint64_t next_ns;   /* when to look at its tasks again */
	uint64_t ran_ns;    /* the thread's CPU time at the last such look; 0: there was none */
	uint64_t waited_ns; /* not given to tasks yet */
	uint32_t node;      /* where it was met waiting */
	uint32_t samples;   /* looks that did, since the last time */
	bool is_waiting;    /* it was at the last look at the thread */
	bool is_new;        /* its tasks were looked at in this look */
};

/* A thread that is looked at. */
struct attach_thread {
	struct remote_thread remote; /* with the state that was read last; */
	bool has_others;           /* it has more, in other interpreters */
	struct thread *thread;     /* borrowed from the collector's process */
	struct snapshot *snapshot; /* owned */
	struct attach_stack *stack; /* owned */
	struct py_gil gil;         /* its interpreter's */
	uint64_t look_ns;          /* when it was last booked */
	uint32_t turns;            /* looks at it */
	uint32_t wait_rounds;      /* looks in a row that found it waiting */
	uint32_t skip, skipped;    /* rounds to leave out, and left out so far */
	uint32_t node;             /* where it was last */
	double cpu_part;           /* of the time it is ready to run, it runs: 0 to 1; */
	struct procfs_schedule listed; /* since then: its schedule at the last list */
	VEC(struct attach_due) due; /* looks whose CPU time is not known yet */
	struct procfs_schedule told; /* its turns on the CPU, */
	uint64_t told_ns;          /* as they were at this look */
	uint64_t clock_ns;         /* its CPU time when that was last read, */
	uint64_t clock_read_ns;    /* which was then */
	uint64_t settled_ns;       /* up to then its looks are booked */
	uint64_t ahead_ns;         /* CPU time that was booked before the clock told */
	uint64_t spare_cpu_ns;     /* that no look could stand for yet */
	uint64_t owed_ns;          /* ready or running, by the wall clock, and not booked yet */
	uint64_t wait_turns;       /* how often it had been given a CPU before it was last met waiting; */
	enum remote_activity_kind wait_as; /* which was this */
	long wait_call;            /* and in this system call */
	bool is_listed;            /* in the newest list of threads */
	struct attach_loop loop;
	struct perf_clock *perf;   /* owned; NULL: none */
	double perf_part;          /* of its time it may have one; 0 to 1 */
	bool has_had_perf;
	uint32_t perf_left;        /* samples until it gets another period */
	uint32_t idle_lists;       /* in a row, between which it did not run */
	struct procfs_schedule decided; /* when it was last decided whether it gets a clock */
	uint32_t root_code;        /* stands for it as a frame; 0: not made yet, or not asked for */
	const char *root_name;     /* interned; its name in that */
};

/* A code object by its address; addresses are reused, so it is asked again. */
struct attach_code {
	py_addr address;
	uint32_t identity; /* CODE_TORN: gone */
	uint32_t code;     /* index in the collector's codes */
	py_addr bytecode;  /* where its instructions are; 0: not known */
	uint64_t check_ns; /* when to ask again */
};

/* Where the instructions of a code object are. */
struct attach_range {
	py_addr start, end;
	uint32_t code;
};

struct attach_process {
	struct remote remote;
	struct process *process; /* borrowed from the collector */
	struct trust trust;
	struct map code_index;   /* address to codes */
	VEC(struct attach_code) codes;
	bool has_new_codes;      /* that are not among the ranges */
	VEC(struct attach_range) ranges; /* by start */
	VEC(struct attach_thread *) threads; /* owned */
	struct remote_threads list;
	bool is_gil_held;        /* the main interpreter's, in this round */
	uint64_t list_ns;        /* when the threads are listed again */
	uint64_t names_ns;       /* when their names are read again */
	uint64_t cpu_ticks;      /* at the start or reset, by the kernel */
	bool is_ended;
	uint64_t seek_until_ns;  /* it runs another program (exec), whose Python is sought till then; 0: not */
	uint64_t seek_ns;        /* when next */
};

/* The perf clocks of a session. */
struct attach_clocks {
	struct split split;
	uint32_t price_ns;   /* of one interrupt; 0: not known yet */
	int open;            /* clocks now */
	bool has_kernel;     /* they are heard in the kernel, too */
	uint64_t seen_ns, missed_ns; /* CPU time of threads with and without one */
	bool is_partial;     /* too much was missed to be passed over */
	enum perf_clock_result refused; /* the last refusal; OK: there was none */
};

struct attach {
	const struct attach_options *options; /* borrowed */
	struct run_options run;     /* what the collector is told */
	struct collector *collector; /* owned */
	VEC(struct attach_process *) processes; /* owned; the first is the one asked for */
	char *program, *folder;     /* owned; what run points to */
	char **args;                /* owned; what run points to */
	struct walk_frame *frames;  /* owned; ATTACH_FRAMES_MAX */
	struct walk_frame *saved;   /* owned; ATTACH_FRAMES_KEPT */
	py_addr *places;            /* owned; as many as frames */
	uint32_t *identities;       /* owned; as many */
	uint64_t period_ns;
	uint64_t children_ns;       /* when to look for children again */
	uint64_t looks, lost, elided;
	uint64_t more_looks;        /* taken to learn from, never booked */
	uint64_t rounds, gil_rounds;
	uint64_t random;
	int files_max;              /* descriptors from here on are not kept */
	bool is_left;               /* a process went on as a program that could not be looked at */
	struct attach_clocks clocks;
};

/* --- attach_look.c --- */

/* One look; false when the thread has gone. */
bool attach_look(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		 uint64_t now_ns);

/* Books ns of waiting up to now to a node, whose weights these are. */
void attach_book_waiting(struct collector *collector, struct attach_thread *thread,
			 struct tree_weights *self, uint32_t node, bool is_gil, uint64_t now_ns, uint64_t ns);

/* --- attach_tasks.c --- */

#define ATTACH_TASKS_NS 24000000u /* between two looks at a loop's tasks, at least */

/* Begins a look at the thread: looks at its event loop's tasks, if it is time to. */
void attach_tasks_look(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint64_t now_ns);

/* The thread waits, for ns up to now, with the count frames in the collector's
 * tree_frames, whose node this is: true when it is its event loop that does; then it
 * is booked here.  The frames are lost. */
bool attach_tasks_wait(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint32_t node, uint32_t count, uint64_t now_ns, uint64_t ns);

/* It waited where it was met last, without having been looked at: the same. */
bool attach_tasks_waited(struct attach_thread *thread, uint64_t ns);

/* Books what is left; the thread, or the session, ends. */
void attach_tasks_end(struct attach *attach, struct attach_thread *thread, uint64_t now_ns);

/* --- attach_codes.c --- */

/* What is known of the code object at this address; NULL: nothing. */
struct attach_code *attach_find_code(struct attach_process *process, py_addr address);

/* Makes sure that the code objects of the count innermost of attach->frames are
 * known, and newly so. */
void attach_check_codes(struct attach *attach, struct attach_process *process, uint32_t count, uint64_t now_ns);

/* --- attach_stack.c --- */

/* Takes a snapshot of the thread; false when it has gone. */
bool attach_take(struct attach_thread *thread, uint64_t now_ns);

/* The thread's stack out of its snapshot, which was just taken, in the collector's
 * tree_frames (*kept of them); false when it cannot be had.  Takes further
 * snapshots when it has to. */
bool attach_read_stack(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
		       uint64_t now_ns, uint32_t *kept, bool *is_gone);

/* Learns what a thread does that was never looked at; it should be running. */
void attach_meet(struct attach *attach, struct attach_process *process, struct attach_thread *thread);

/* --- attach_weigh.c --- */

/* Has the thread's turns on the CPU in thread->told, read once in a look; false when the kernel
 * does not tell. */
bool attach_read_schedule(struct attach_thread *thread, uint64_t now_ns);

/* Adds a look, ns after the one before; part_ns is set here. */
void attach_add_due(struct attach *attach, struct attach_thread *thread, struct attach_due *due, uint64_t ns);

/* Books the looks that are due, if the thread's CPU clock has moved on. */
void attach_weigh(struct attach *attach, struct attach_thread *thread, uint64_t now_ns);

/* Books them now, by the time that has gone by. */
void attach_weigh_now(struct attach *attach, struct attach_thread *thread, uint64_t now_ns);

/* --- attach_perf.c --- */

void attach_clocks_init(struct attach_clocks *clocks);
void attach_clocks_fini(struct attach_clocks *clocks);

/* Gives the thread a clock, or takes it away; to be called after each list, with the thread's
 * schedule now, while thread->listed is that of the list before. */
void attach_perf_manage(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
			const struct procfs_schedule *now);

/* Takes in the samples of its clock so far. */
void attach_perf_drain(struct attach *attach, struct attach_process *process, struct attach_thread *thread);
void attach_perf_end(struct attach *attach, struct attach_thread *thread);

/* Whether there are enough samples to split times by. */
bool attach_perf_is_used(const struct attach *attach);

/* The profile so far, its times split by the samples so far; more may come, so the tree stays as
 * the looks made it. */
struct profile *attach_perf_build(struct attach *attach, bool is_partial);

/* How Python, native and system time were told apart, as a sentence. */
void attach_perf_tell(const struct attach *attach, char *text, size_t size);

/* --- attach_target.c --- */

/* Fills program, folder and args of the session from what the process says. */
void attach_describe(struct attach *attach, const struct remote *remote);

/* Whether the process is looked at. */
bool attach_is_known(const struct attach *attach, pid_t pid);

/* Adds the Python children of the process that are not known yet. */
void attach_find_children(struct attach *attach, uint64_t now_ns);

/* CPU time of the process in the kernel's ticks, and its resident bytes; false
 * when it has gone. */
bool attach_read_usage(pid_t pid, uint64_t *ticks, uint64_t *resident_bytes);

/* --- attach.c --- */

uint64_t attach_random(struct attach *attach);

/* Of a thread that has states in several interpreters: reads on in the one that it runs in now.
 * False when that is the same as before. */
bool attach_follow(struct attach_process *process, struct attach_thread *thread);

/* Adds a process; false when it cannot be looked at (err may be NULL). */
bool attach_add_process(struct attach *attach, pid_t pid, struct err *err);

#endif
