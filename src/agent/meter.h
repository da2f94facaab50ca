/* meter.h - which bytes of a stream are sampled, and how many a sample stands for.
 *
 * The stream is what a thread allocates, or what it copies.  Marks lie in it,
 * one window apart on average.  A block in which marks fall is met and stands
 * for one window a mark; since marks lie everywhere equally often, that is
 * right on average for every line, whatever the sizes of its blocks.  A block
 * of 3/2 windows or more would always have a mark: it is left out of the
 * stream, met always, and stands for itself exactly.
 *
 * Marks are 1/2 to 3/2 windows apart, evenly drawn.  That is enough to keep
 * out of step with any pattern in the program, and an estimate over n marks of
 * one line errs by 1 / sqrt(12 n), where marks that know nothing of each other
 * (Poisson) would err by 1 / sqrt(n).  docs/MEMORY.md says more.
 *
 * A rate widens a window while more comes than its budget allows, and narrows
 * it again.  Pure: reads no clock. */
#ifndef HEATLINE_AGENT_METER_H
#define HEATLINE_AGENT_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A thread's place in its stream.  Begins all zero; only the thread touches it.
 * The bytes left until the next mark are kept apart by the caller, who counts
 * them down: always less than 3/2 windows. */
struct meter {
	uint64_t window; /* bytes; 0: not begun */
	uint64_t random;
};

/* The caller has found that a block is larger than what is left.  Returns how
 * many bytes it stands for, 0 when it is not met (a thread's first block only
 * begins the count), and sets *left behind it.  window: the one wanted from
 * here on; seed: any number, for the first time. */
uint64_t meter_take(struct meter *meter, uint64_t *left, uint64_t size, uint64_t window,
		    uint64_t seed);

/* Whether a block is small and the window as it was: then meter_pass does all that
 * meter_take would. */
static inline bool meter_is_steady(const struct meter *meter, uint64_t size, uint64_t window)
{
	return __builtin_expect(meter->window == window, 1) && size < window + window / 2;
}

/* Of 32 bits. */
static inline uint64_t meter_random(struct meter *meter)
{
	meter->random ^= meter->random << 13;
	meter->random ^= meter->random >> 7;
	meter->random ^= meter->random << 17;
	return meter->random >> 32; /* the low bits are the weakest */
}

/* The distance to the next mark.  Windows are far below 4 GB, and a division would be
 * a third of what a mark costs. */
static inline uint64_t meter_gap(struct meter *meter)
{
	return meter->window / 2 + (meter_random(meter) * (meter->window + 1) >> 32);
}

static inline uint64_t meter_pass(struct meter *meter, uint64_t *left, uint64_t size)
{
	uint64_t weight = 0;
	uint64_t mark = *left; /* counted from the block's first byte */
	for (; mark < size; mark += meter_gap(meter))
		weight += meter->window;
	*left = mark - size;
	return weight;
}

struct meter_budget {
	uint64_t least_window; /* bytes */
	uint32_t burst;        /* tokens to begin with, and the most there are */
	uint32_t per_s;        /* tokens that come each second */
	uint32_t grace;        /* tokens after the window was widened */
};

/* Shared by all threads.  Begins all zero. */
struct meter_rate {
	_Atomic uint64_t refilled_ns; /* 0: not begun */
	_Atomic int32_t tokens;       /* when they are used up the window widens */
	_Atomic uint16_t shift;       /* window = least_window << shift */
	_Atomic uint16_t shift_floor; /* it is not made smaller than this */
};

/* Begins with other tokens than a burst.  now_ns: not 0. */
void meter_rate_begin(struct meter_rate *rate, uint32_t tokens, uint64_t now_ns);

/* Something was met or taken that is worth so many tokens. */
void meter_rate_spend(struct meter_rate *rate, const struct meter_budget *budget, int32_t tokens,
		      uint64_t now_ns);

/* Makes the smallest window twice as large, for good. */
void meter_rate_raise_floor(struct meter_rate *rate);

static inline uint64_t meter_rate_window(const struct meter_rate *rate,
					 const struct meter_budget *budget)
{
	return budget->least_window << atomic_load_explicit(&rate->shift, memory_order_relaxed);
}

#endif
