/* perf_clock.h - the CPU clock of a thread in another process, with samples.
 *
 * A perf event that fires after each period of the thread's CPU time, in user mode
 * and in the kernel.  The kernel writes where the thread stood (program counter, user
 * registers, the top of its C stack) into a ring that only we read: the
 * thread gets no signal and is not stopped, but it pays for the interrupt (wire/price.h).
 *
 *	perf_clock_open, perf_clock_next until it has no more, …, perf_clock_close.
 *
 * What is in the ring is checked like any word from outside. */
#ifndef HEATLINE_REMOTE_PERF_CLOCK_H
#define HEATLINE_REMOTE_PERF_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of the C stack.  The registers of the evaluation loop, which are what is looked for, lie
 * some hundred bytes from its top; below the work of sorted(), 3.5 KB. */
#define PERF_STACK_BYTES 4096u
#define PERF_REGISTERS_MAX 32u
#define PERF_WORDS_MAX (PERF_REGISTERS_MAX + PERF_STACK_BYTES / 8u)

enum perf_clock_result {
	PERF_CLOCK_OK,
	PERF_CLOCK_GONE,      /* no such thread */
	PERF_CLOCK_FORBIDDEN,
	PERF_CLOCK_FULL,      /* no descriptor, or no memory that may be locked, is left */
	PERF_CLOCK_ABSENT,    /* this kernel has no such events */
};

struct perf_clock {
	int fd;
	unsigned char *map; /* owned; the head page, then the ring */
	uint64_t tail;      /* bytes ever read */
	uint64_t lost;      /* samples that found the ring full */
};

/* Where a thread stood. */
struct perf_sample {
	uint64_t time_ns; /* of the monotonic clock */
	uint64_t pc;
	bool is_kernel;   /* in kernel mode; the words are still those of user mode */
	uint32_t word_count;
	uint64_t words[PERF_WORDS_MAX]; /* registers, then the stack from its top on */
};

/* has_kernel: also while it is in the kernel, which takes more permission.  Nothing is left
 * open unless it is OK.  tid 0 is the caller. */
enum perf_clock_result perf_clock_open(struct perf_clock *clock, pid_t tid, uint64_t period_ns, bool has_kernel);
void perf_clock_close(struct perf_clock *clock);

/* Why there is none. */
struct perf_refusal {
	char why[120];
	const char *permit; /* static; the line to type that permits it; NULL: none is known */
};

/* refuse.c: what the result of perf_clock_open comes from, if it was not OK. */
void perf_clock_refuse(enum perf_clock_result refused, struct perf_refusal *refusal);

/* Goes on with another period. */
void perf_clock_set_period(struct perf_clock *clock, uint64_t period_ns);

/* Takes the next sample; false: there is none now. */
bool perf_clock_next(struct perf_clock *clock, struct perf_sample *sample);

/* What a sample record, with its head, says; false when it is none.  Pure. */
bool perf_sample_parse(const unsigned char *record, size_t size, struct perf_sample *sample);

#endif
