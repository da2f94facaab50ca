/* collector.h - what is known of a run while it goes on.
 *
 * One struct collector per run, in the collector's process, single-threaded:
 *
 *	collector.c turns the wheel; output.c writes the profile
 *	life.c      makes all that the collector holds, and gives it back
 *	process.c   finds the rings, drains them; process_codes.c names their code
 *	samples.c   books CPU samples; stacks.c what all stacks need
 *	memory.c    books allocations and copies (heap.h)
 *	gpu.c       books what GPUs did (gpu.h)
 *	marks.c     keeps what the program says of itself
 *	threads.c   the threads of a process, their names
 *	watch.c     looks at threads that wait; waited.c books what they waited, but
 *	            for what others computed for them (helped.c)
 *	tasks.c     the same for tasks of event loops
 *	chosen.c    which functions count, where some are marked with @profile
 *	journal.c   keeps what was taken in, for the case that this one is killed
 *	build.c     makes a struct profile of it all, as often as wanted
 *
 * The equation that holds for each process's main thread, up to one look:
 *	wall time = CPU samples + waiting + time ready to run but not running. */
#ifndef HEATLINE_COLLECT_COLLECTOR_H
#define HEATLINE_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "collect/codes.h"
#include "collect/command_text.h"
#include "collect/gpu.h"
#include "collect/heap.h"
#include "collect/images.h"
#include "collect/journal.h"
#include "collect/mappings.h"
#include "collect/run.h"
#include "collect/sources.h"
#include "collect/tasks.h"
#include "collect/timeline.h"
#include "collect/tree.h"
#include "profile/decorated.h"
#include "profile/scope.h"
#include "python/layout.h"
#include "python/walk.h"
#include "remote/evaluator.h"
#include "wire/control.h"
#include "wire/ring.h"

#define MOMENTS_PER_PLACE 48u

#define RECENT_SAMPLES 64u

/* A sample of a main thread, for time ready to run that is told after it. */
struct recent_sample {
	uint64_t time_ns, cpu_ns;
	uint32_t node;
	uint8_t kind; /* enum timeline_kind */
	bool is_open; /* Python or native will be told in the end */
	bool is_collecting;
};

/* When a place was seen: an even sample of the moments. */
struct moments {
	uint32_t code, offset;
	uint32_t seen;
	float times_s[MOMENTS_PER_PLACE];
};

/* A thread of a profiled process. */
struct thread {
	uint32_t slot;
	int32_t tid;
	int32_t inner_tid; /* what the process itself calls it, in its own pid namespace */
	bool is_main;
	bool counts_waiting;     /* its time off the CPU is part of the total, not idle */
	bool is_ended;
	bool uses_gpu;           /* the main thread of a process whose GPU work is told */
	bool is_gone;            /* joined with others; threads.c's own */
	uint32_t number;         /* in the order of their beginning, from 0 */
	uint32_t joined;         /* stands for so many that have ended; 0: is a thread itself */
	uint32_t looks;          /* for its name */
	const char *python_name, *system_name; /* interned; NULL: not known */
	py_addr state;           /* where its thread state was found last; 0: not yet */
	uint64_t cpu_ns;         /* in samples */
	uint64_t off_ns;         /* off the CPU */
	uint64_t gil_ns;         /* part of it: waiting for the GIL */
	uint64_t gc_ns;          /* part of cpu_ns: collecting garbage */
	uint64_t skipped_ns;     /* off the CPU while profiling was suspended */
	uint64_t before_ns;      /* on a CPU or ready before we met it */
	uint64_t samples;
	uint32_t row;            /* of the timeline, or TIMELINE_NO_ROW */
	const char *line_file;   /* interned; the line in scope it was last seen at */
	uint32_t line, line_code;
	/* watch.c */
	int schedstat_fd, syscall_fd; /* -1: not open */
	uint64_t start_ns;
	uint64_t look_ns;        /* when it was last looked at */
	uint64_t look_cpu_ns, look_delay_ns;
	uint64_t begin_cpu_ns, begin_delay_ns; /* what the kernel had counted for it when it began, */
	uint64_t end_cpu_ns, end_delay_ns;     /* and when it ended, as it said; 0: it did not */
	uint32_t met;            /* so many looks have found it waiting, */
	uint32_t asked;          /* so many of them to be asked for something: for a socket, events, a queue */
	uint64_t unasked_ns;     /* of its time off the CPU, what is no line's: without work, or helped */
	uint64_t pending_off_ns; /* off the CPU, not booked yet */
	uint64_t least_off_ns[2]; /* that, at the last two looks that found that it had run; 0: none */
	uint64_t rest_off_ns;    /* the least of that at such a look since it was met */
	uint64_t astir_ns;       /* when it last did anything else than before (pace.h), */
	uint64_t astir_off_ns;   /* and what it had waited then that was not booked */
	uint64_t moved_ns;       /* when it was last met waiting elsewhere than before */
	uint64_t pending_delay_ns; /* ready but not running, not booked yet */
	uint64_t paid_samples;     /* its samples when such time was last booked */
	uint32_t recent[RECENT_SAMPLES]; /* nodes of its last samples */
	uint32_t wait_node;      /* where it waited at the last look */
	bool is_waiting;         /* it did */
	bool is_at_gil;          /* for the GIL */
	enum wait_kind wait_kind; /* for what, if not */
	struct loop_tasks *loop; /* owned; NULL: it was never seen to run an event loop */
	bool has_no_loop;        /* it runs none, and has not run since that was seen */
	/* memory.c */
	uint64_t asked_ns, asked_delay_ns; /* when its schedstat was asked last, and how long it
					      had stood ready; 0: never */
};

/* What the ring says of its process. */
struct process_facts {
	int32_t pid, parent_pid;
	uint32_t state;      /* enum ring_state */
	uint32_t python;     /* 0x0308 */
	uint64_t birth;      /* as in /proc; 0: not known */
	uint64_t start_ns;
	uint64_t image_start;
	char version[32];
	char reason[RING_REASON_BYTES];
};

struct unmet;

/* A process that carries the agent. */
struct process {
	struct process_facts facts;
	uint32_t index;      /* in collector->processes */
	pid_t pid, parent_pid;
	char *ring_path;     /* owned */
	struct ring *ring;   /* mapped; NULL once the process has ended and is drained */
	enum ring_state state;
	unsigned python;     /* 0x0308 */
	const char *python_text; /* interned */
	const char *command; /* interned */
	bool only_serves;    /* a helper, see helpers.h */
	const char *name;    /* interned; what multiprocessing calls it; NULL: nothing */
	const char *cwd;     /* interned; NULL when not known */
	const char *system_name; /* interned; NULL when not known */
	const char *note;    /* interned; NULL */
	bool has_namespace;  /* it counts processes and threads in a pid namespace of its own */
	uint64_t start_ns, end_ns; /* end 0: still there */
	uint32_t clocks;
	bool has_layout;
	struct py_layout layout;
	struct mem_reader reader;
	struct walker walker;
	struct images images;
	VEC(uint32_t) ids;   /* the ring's code ids to indexes in codes */
	struct task_finder tasks;
	bool has_tasks;         /* it has asyncio or trio */
	bool is_searched;       /* for them, and no thread has run since */
	uint64_t tasks_next_ns; /* when to look again whether it has */
	uint64_t modules_ns;    /* when that last met new modules, or began; 0: not yet */
	struct map addresses; /* code address and identity to codes, for looks from outside */
	VEC(struct thread *) slots;   /* borrowed from threads; see threads_at */
	VEC(struct thread *) threads; /* owned; the first is the main thread */
	uint32_t thread_numbers;      /* threads ever begun */
	uint32_t watch_turn; /* the last of its other threads that was looked at */
	uint32_t same_turn;  /* the round in which it was last asked whether it is the same program */
	uint32_t main_node;  /* where the main thread was last seen */
	struct recent_sample main_samples[RECENT_SAMPLES]; /* its last samples */
	struct unmet *unmet_threads, *unmet_children; /* owned; waited.c's own; NULL: there were none */
	uint64_t helped_ns;  /* what its library's threads computed, not yet set against waiting for it */
	uint64_t lost[LOST_REASON_COUNT];
	uint64_t owed_bytes; /* see ring.h */
	uint64_t agent_ns;
	int32_t exit_status; /* as the process said itself; -1: it did not */
	uint64_t exit_ns;    /* when it did, */
	uint64_t exit_delay_ns; /* and how long its main thread had been ready to run by then */
	bool is_left;        /* the agent has left it; it goes on */
	bool has_executed;   /* it went on as another program */
	bool is_ending;      /* its interpreter is: what that gives back was kept */
	bool has_moved;      /* since its resident memory was last asked for */
	int statm_fd;        /* which tells it; -1: not open */
	double resident_bytes, peak_resident_bytes;
	struct mappings mappings;
	struct gpu_user gpu;
	uint64_t seen_ns;    /* when it was last heard of; only while catching up */
	uint64_t taken_at;   /* place and size of the last record that an earlier */
	uint32_t taken_size; /* collector took; size 0: none */
};

/* A file, and its functions marked with @profile. */
struct chosen_file {
	const char *filename; /* interned */
	struct decorated functions;
};

/* An interpreter's file that processes have mapped. */
struct interpreter {
	char *path; /* owned */
	struct evaluator evaluator;
};

/* A word of the program; see marks.c. */
struct mark {
	uint64_t time_ns;
	const char *text; /* interned */
	pid_t pid;
};

struct collector {
	const struct run_options *options;
	struct scope_rules scope;
	struct intern *strings;
	struct codes codes;
	struct tree tree;
	struct heap heap;
	struct gpu gpu;
	struct awaits awaits;
	struct timeline timeline;
	struct tree_weights startup; /* the interpreter's own start and end */
	VEC(struct process *) processes; /* owned */
	VEC(struct interpreter *) interpreters; /* owned; whose names were asked for */
	VEC(struct chosen_file) chosen;
	bool has_chosen;         /* a function marked with @profile was seen: only those count */
	struct sources sources;   /* of files in scope */
	struct command_text text; /* of the program, where it stands on the command line */
	VEC(struct mark) marks;
	uint64_t marks_left_out;
	VEC(struct moments) moments;
	struct map moment_index; /* code and offset to moments */
	char *folder;            /* owned; the run's, with control and rings */
	struct control *control; /* mapped */
	struct journal journal;
	uint32_t rings_seen;
	uint64_t start_ns, end_ns;
	uint64_t astir_ns;       /* when something last happened for which rounds are needed; pace.h */
	bool is_off;             /* suspended */
	char *before;            /* owned; where the profile of an earlier collector is; NULL */
	bool is_second;          /* an earlier collector of this run was killed, */
	uint64_t seen_ns;        /* which last saw something then */
	uint64_t unseen_wait_ns; /* what main threads waited until this one looked; see watch.c */
	bool is_catching_up;     /* reads what happened before it was there */
	bool has_front;          /* one that tells when the program ends, and has not */
	double start_epoch_s;
	uint64_t cpu_samples, wait_samples, cut_samples;
	uint64_t idle_samples; /* part of wait_samples: of waiting that is no part of the total */
	uint64_t sampled_cpu_ns;
	uint64_t delay_ns; /* that main threads stood ready while others had the CPUs */
	uint32_t watch_turn; /* where the next round of looks begins */
	bool has_met_young;     /* in the last round, a thread that was looked at a few times only */
	uint64_t watch_cost_ns; /* the CPU time that a round's looks take, on average */
	uint64_t random;
	unsigned char *scratch; /* owned; RECORD_MAX_BYTES */
	unsigned char *code_room; /* owned; for processes_read_code */
	size_t code_room_size;
	struct walk_scratch *walk_scratch; /* owned */
	struct walk_frame *walk_frames;    /* owned; WALK_MAX_FRAMES */
	struct tree_frame *tree_frames;    /* owned; WALK_MAX_FRAMES */
	uint32_t *identities;              /* owned; WALK_MAX_FRAMES */
};

struct link;

/* --- collector.c --- */

/* The collector's process, from its start until the profile is written.  Takes
 * folder and control.  A link without a front: the run is one whose heatline
 * was killed, and nobody waits. */
void collector_run(const struct run_options *options, char *folder, struct control *control,
		   struct link *link, struct run_result *result, struct err *err);

/* --- life.c --- */

/* A collector that has seen nothing yet, with a control page of its own; that of
 * a run takes its place (folder and control: freed with it).  Free accepts NULL. */
struct collector *collector_new(const struct run_options *options);
void collector_free(struct collector *collector);

#endif
