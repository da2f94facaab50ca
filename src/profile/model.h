/* model.h - a profile in memory: what the collector makes, what the reports show.
 *
 * Glossary.
 *   scope     the files whose lines are reported: by default those of the
 *             program's own folder, not the standard library or site-packages.
 *   self      time booked to the innermost frame that is in scope ("this line
 *             of mine took 3 s"), whatever libraries it called.
 *   inclusive time of all samples that have the line or function anywhere on
 *             their stack, counted once a sample.
 *   total     for each process its main thread's wall time plus the CPU time
 *             of its other threads, less start-up and shut-down of the
 *             interpreter.  All percentages are of this.
 *   idle      waiting of threads other than the main one: shown, but no part
 *             of the total.
 *
 * Life cycle.  profile_new; then either a reader fills it (read.h) or the
 * collector books stacks (book.h); then reports read it; profile_free.
 * Strings are interned: compare pointers, never free them.
 * Seconds are doubles.  Always: total_s = sum over lines of
 * python+native+system+wait, plus outside_s. */
#ifndef HEATLINE_PROFILE_MODEL_H
#define HEATLINE_PROFILE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/gpu.h"

struct intern;
struct book;

/* What is kept of a line or over time has a limit; of times an even part is kept. */
#define PROFILE_LINES_MAX 1500u    /* with figures, that a file keeps */
#define LINE_TIMES_MAX 500u        /* moments at which a line was seen */
#define LINE_COLUMNS_MAX 8u        /* hottest parts of a line */
#define LINE_POINTS_MAX 101u       /* of a line's memory */
#define FOOTPRINT_POINTS_MAX 1001u /* of the program's */

/* What threads wait for, beside the GIL. */
enum wait_kind {
	WAIT_LOCK,  /* locks, conditions, the end of a thread */
	WAIT_QUEUE,
	WAIT_SOCKET,
	WAIT_EVENTS, /* several things at once, or a time: an event loop */
	WAIT_FILE,
	WAIT_PIPE,
	WAIT_TERMINAL,
	WAIT_SLEEP,
	WAIT_CHILD, /* another process */
	WAIT_OTHER,
	WAIT_KINDS
};

/* "lock", "queue", ...; the words of the profile file. */
extern const char *const wait_kind_names[WAIT_KINDS];

/* What was measured for a line, a function, a stack or the whole. */
struct metrics {
	double python_s; /* the interpreter itself */
	double native_s; /* C code doing the line's work */
	double system_s; /* on the CPU, in the kernel */
	double wait_s;   /* main thread off the CPU: sleep, I/O, locks */
	double idle_s;   /* other threads off the CPU; no part of any total */
	double cpu_s;    /* part of the above spent on a CPU (core utilisation) */
	double gil_s;    /* part of wait_s and idle_s: waiting for the GIL */
	double gc_s;     /* part of python_s, native_s and system_s: collecting garbage */
	double gpu_s;    /* GPU time of what was launched; no part of any total */
	float waits_s[WAIT_KINDS]; /* the rest of wait_s and idle_s by what it was for; not of
				      stack nodes */
	uint64_t samples;
	double alloc_bytes; /* allocated in all, estimated from samples */
	double kept_bytes;  /* part of it that was never given back */
	double copy_bytes;  /* copied by memcpy and memmove */
	double at_peak_bytes; /* live at the program's peak; of stack nodes only */
};

/* What a line or function did to memory, beside alloc, kept and copy bytes.
 * Always: average_bytes <= peak_bytes, python_bytes <= alloc_bytes. */
struct memory {
	double python_bytes;  /* part of alloc_bytes that came through Python's allocators */
	double alloc_count;   /* allocations, estimated */
	double peak_bytes;    /* most that was live at once */
	double average_bytes; /* live, averaged over the time since the first allocation */
	double at_peak_bytes; /* live when the whole program was at its peak */
	double leak_likelihood;  /* 0 to 1, lines only; 0: no sign of a leak */
	double leak_bytes_per_s; /* how fast it grows */
};

/* Tasks of event loops that waited at a line or in a function; all 0: none. */
struct async_figures {
	double await_s; /* task-seconds */
	double concurrency_mean; /* tasks at once, while there was one */
	double concurrency_peak;
	const char **names; /* owned array, interned; of some of the tasks; lines only */
	uint32_t name_count; /* at most ASYNC_MAX_NAMES */
	bool is_coroutine;   /* part of an async def */
};

#define ASYNC_MAX_NAMES 30u

/* A line at which a step of an event loop ran, or blocked, for long. */
struct blocking_step {
	const char *file, *function; /* interned */
	uint32_t line;
	uint32_t count;     /* steps longer than a tenth of a second */
	double longest_s, total_s;
};

#define ASYNC_MAX_BLOCKING 20u

/* A moment of a memory timeline. */
struct memory_point {
	double time_s; /* since the start */
	double live_bytes;
	double resident_bytes; /* of the whole program's timeline only */
};

/* The hot part within a line (Python 3.11+): UTF-8 byte columns, 0-based. */
struct column_range {
	int32_t line_end; /* line on which the range ends */
	int32_t column, column_end;
	double self_s;
};

/* Where a line stands in its file; first and last lines, both included.
 * region: the innermost loop, else function, else class, else the line itself.
 * loop: the outermost loop of the same function, else as for the header of a
 * function or class its block, else the line itself.
 * function: the innermost function or class; 0 and 0 where there is none. */
struct line_region {
	uint32_t region_start, region_end;
	uint32_t loop_start, loop_end;
	uint32_t function_start, function_end;
};

struct profile_line {
	uint32_t line; /* from 1 */
	struct metrics self;
	double inclusive_s;
	const char *text; /* interned; the source line; NULL when the file's source has it */
	struct line_region region; /* all 0: not known */
	double *sample_times_s; /* owned; when the line was hot, since the start; LINE_TIMES_MAX */
	uint32_t sample_times;
	uint32_t sample_room, sample_stride, sample_skip; /* book.c's own: one in stride is kept */
	struct column_range *columns; /* owned; hottest first; LINE_COLUMNS_MAX once settled */
	uint32_t column_count, column_room;
	uint32_t mark; /* book.c's own: the last stack that had this line */
	struct async_figures async;
	struct memory memory;
	struct gpu_figures gpu;
	struct memory_point *memory_points; /* owned; live bytes over time; LINE_POINTS_MAX */
	uint32_t memory_point_count;
};

struct profile_function {
	const char *name;    /* qualified name; interned */
	uint32_t first_line; /* of its def, or of its first decorator */
	struct metrics self;
	double inclusive_s;
	uint32_t mark; /* book.c's own */
	struct async_figures async;
	struct memory memory;
	struct gpu_figures gpu;
};

struct function_range {
	uint32_t first, last;
};

struct profile_file {
	const char *path; /* as reported: absolute, or "<string>"; interned */
	bool in_scope;
	struct profile_line *lines; /* owned; only lines with figures; sorted by line */
	uint32_t line_count, line_room;
	struct profile_function *functions; /* owned; with figures; sorted by first_line */
	uint32_t function_count, function_room;
	struct metrics self;
	char *source; /* owned; UTF-8, lines end in \n; NULL when there is none, or not all of it */
	size_t source_size;
	bool is_source_withheld; /* what is there now is not what ran; while booking */
	struct function_range *reported; /* owned; only functions that begin here are in scope … */
	uint32_t reported_count;     /* … if there are any; while booking */
	const char **imports; /* owned array, interned import statements; NULL: not known */
	uint32_t import_count;
};

/* The stack tree: node 0 is the root, children come after their parent. */
struct stack_node {
	uint32_t parent;
	uint32_t file;        /* index in files; UINT32_MAX: no Python */
	const char *function; /* interned */
	uint32_t first_line;  /* of the function */
	uint32_t line;
	struct metrics self; /* of samples whose innermost frame this is */
};

/* What a stack node has of a bin of the timeline, or of a thread. */
struct stack_part {
	uint32_t node; /* index in stacks */
	uint32_t part; /* the bin; the index in threads */
	uint64_t us;   /* of the time that counts (metrics_seconds), in microseconds */
};

#define TIMELINE_MAX_BINS 200u
#define TIMELINE_MAX_THREADS 64u

/* What a thread did, as the columns of struct metrics have it; waiting of any
 * thread is TIMELINE_WAIT. */
enum timeline_kind {
	TIMELINE_PYTHON,
	TIMELINE_NATIVE,
	TIMELINE_SYSTEM,
	TIMELINE_WAIT,
	TIMELINE_GIL, /* part of waiting */
	TIMELINE_GC,  /* part of Python, native and system */
	TIMELINE_KINDS
};

/* "python", "native", ...; the keys of the profile file. */
extern const char *const timeline_kind_names[TIMELINE_KINDS];

struct timeline_thread {
	uint32_t thread; /* index in threads */
	uint32_t *ms;    /* owned; TIMELINE_KINDS times bins: milliseconds */
};

/* The run in bins of equal width; bins 0: not known. */
struct profile_timeline {
	double bin_s;
	uint32_t bins; /* at most TIMELINE_MAX_BINS */
	struct timeline_thread *threads; /* owned; the busiest, by index */
	uint32_t thread_count;           /* at most TIMELINE_MAX_THREADS */
	struct stack_part *stacks;       /* owned; by node, then bin */
	uint32_t stack_count;
};

struct profile_thread {
	uint32_t process; /* index in processes */
	int32_t tid;
	const char *name; /* interned */
	bool is_main;
	uint32_t joined; /* stands for so many that have ended; 0: is one thread */
	struct metrics self;
};

struct profile_process {
	int32_t pid, parent_pid;
	const char *command; /* interned; how it was started */
	const char *name;    /* what multiprocessing calls it; interned; NULL: nothing */
	const char *python;  /* "3.11.7"; interned; NULL when it never was Python */
	double start_s, end_s; /* since the start of the run */
	const char *ended; /* how: "exit status 0", "killed"; interned; NULL: it still ran */
	double peak_resident_bytes; /* most that was resident (RSS); 0: not known */
	const char *note; /* why there is nothing of it; interned; NULL */
};

/* A pattern of the source that is known to be slow, where the figures bear it out. */
struct advice {
	const char *rule; /* interned, as all texts: "list-membership" */
	const char *file; /* the file's path */
	uint32_t line;
	const char *title, *evidence, *fix; /* the fix and the evidence are sentences */
	double share; /* of total_s, 0 to 1; 0: about memory only */
	double growth_bytes_per_s; /* of a leak, the likely rate; not in the file */
};

#define ADVICE_MAX 20u

#define MARKS_MAX 1000u

/* What the program said of itself with heatline.mark(text). */
struct profile_mark {
	double when_s;    /* since the start of the run */
	const char *text; /* interned */
	int32_t pid;
};

struct lost_count {
	const char *reason; /* interned: "ring full", "torn frame" */
	uint64_t count;
};

struct profile_quality {
	uint64_t samples;       /* CPU samples taken */
	uint64_t wait_samples;  /* looks at waiting threads */
	uint64_t idle_samples;  /* part of them: at threads whose waiting is idle_s */
	double rate_hz;         /* CPU samples per second of CPU time */
	/* Of the program's CPU time: what the agent took of it, inside the program; and what
	 * the collector took beside it, in a process of its own. */
	double overhead_percent, collector_percent;
	struct lost_count *lost; /* owned */
	uint32_t lost_count;
	const char **warnings; /* owned array, interned sentences */
	uint32_t warning_count;
	const char *clock; /* "perf and CPU timers", "CPU timers"; interned */
};

struct profile {
	/* the run */
	const char *program;        /* path of the script, or the command; interned */
	const char *entrypoint_dir; /* interned */
	const char **args;          /* owned array of interned strings */
	uint32_t arg_count;
	const char *python_version; /* of the first process that was Python; interned */
	const char *machine;        /* "x86_64, 2 CPUs, Linux 6.1"; interned */
	double start_time_epoch_s, start_time_perf_s;
	double elapsed_s; /* wall time of the run */
	double suspended_s; /* part of it during which profiling was suspended */
	double total_s;   /* the base of all percentages; see above */
	double outside_s; /* part of total_s that no line in scope accounts for */
	double omitted_s; /* part of outside_s, of a profile that was read: on lines in scope that are
			   * not in the file, which has room for so many */
	double startup_s; /* interpreter start-up and shut-down; no part of total_s */
	struct metrics sum; /* over everything in total_s */
	double shown_percent; /* of the time, from which on files and lines are shown: 1, or less as asked for */
	bool from_scalene;  /* read from a file that another tool wrote */
	bool is_partial;    /* written while the program still ran */

	/* memory; has_memory false: not measured, all 0.  What the interpreter
	 * takes for itself while it starts is part of the footprint (peak, average,
	 * timeline), but not of what was allocated. */
	bool has_memory;
	struct memory memory;  /* of the whole program; peak_bytes is the peak footprint */
	double peak_s;         /* when it was, since the start */
	double peak_python_bytes; /* part of the peak that is Python's */
	double peak_resident_bytes; /* most that was resident (RSS) */
	double threads_alloc_bytes; /* part of sum.alloc_bytes: by threads that run no Python */
	uint64_t alloc_samples; /* sampled allocations */
	struct memory_point *footprint; /* owned; live and resident bytes over time;
					 * FOOTPRINT_POINTS_MAX */
	uint32_t footprint_count;

	bool has_async; /* there were tasks, and their waiting was measured */
	double await_s; /* of all tasks, in task-seconds */
	struct blocking_step *blocking; /* owned; the longest first */
	uint32_t blocking_count;        /* at most ASYNC_MAX_BLOCKING */

	struct profile_gpu gpu;

	struct profile_file *files; /* owned */
	uint32_t file_count, file_room;
	struct stack_node *stacks; /* owned */
	uint32_t stack_count, stack_room;
	struct stack_part *thread_stacks; /* owned; which threads the stacks are of */
	uint32_t thread_stack_count;
	struct stack_part *idle_stacks; /* owned; the same of idle_s, which no total has */
	uint32_t idle_stack_count;
	struct profile_timeline timeline;
	struct profile_thread *threads; /* owned */
	uint32_t thread_count;
	struct profile_process *processes; /* owned */
	uint32_t process_count;
	struct profile_mark *marks; /* owned; in the order in which they came */
	uint32_t mark_count;        /* at most MARKS_MAX */
	struct profile_quality quality;
	struct advice *advice; /* owned; advice.h; the most worthwhile first */
	uint32_t advice_count; /* at most ADVICE_MAX */
	struct intern *strings; /* owned */
	struct book *book;      /* owned; book.c's own; NULL when nothing is being booked */
};

struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* Interns a string in the profile; NULL stays NULL. */
const char *profile_intern(struct profile *profile, const char *text);

/* The same process in another profile, with texts of that one. */
struct profile_process profile_copy_process(struct profile *to, const struct profile_process *from);

/* The time that counts: python + native + system + wait. */
static inline double metrics_seconds(const struct metrics *metrics)
{
	return metrics->python_s + metrics->native_s + metrics->system_s + metrics->wait_s;
}

void metrics_add(struct metrics *sum, const struct metrics *part);

/* What most of the waiting was for: "GIL" or one of wait_kind_names; NULL when
 * there was none. */
const char *metrics_waits_for(const struct metrics *metrics);

/* How much of the sum a part is, for ranking only: the shares of time, of what
 * was allocated, kept and copied, of GPU time, added up.  Idle time counts a thousandth, so
 * that what has nothing else is ranked too. */
double metrics_weight(const struct metrics *part, const struct metrics *sum);

/* How many threads there were: those that stand for many are so many. */
uint64_t profile_count_threads(const struct profile *profile);
uint32_t profile_threads_joined(const struct profile_thread *thread); /* at least 1 */

/* 100 * seconds / total, within 0..100; 0 when there is no total. */
double profile_percent(const struct profile *profile, double seconds);

/* The 95 % interval (Wilson's) of a share of 0..1 that was seen in so many
 * samples; 0..1.  With no samples nothing is known: 0 and 1. */
void profile_share_interval(double share, uint64_t samples, double *low, double *high);

/* How much of the line's own time was spent on a CPU, 0..1. */
double profile_core_utilization(const struct metrics *self);

/* The file with this path, or NULL. */
const struct profile_file *profile_find_file(const struct profile *profile, const char *path);

/* The line's figures, or NULL when it has none.  The lines are sorted. */
const struct profile_line *profile_find_line(const struct profile_file *file, uint32_t line);

/* The function that the line stands in, as far as the profile knows; or NULL. */
const struct profile_function *profile_find_function(const struct profile_file *file,
						     const struct profile_line *line);

#endif
