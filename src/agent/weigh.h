/* weigh.h - how much CPU time a sample stands for.
 *
 * Two clocks make samples, and each is fair on its own.  The perf clock fires
 * every so much CPU time of the thread and is heard in user mode only: each
 * time it stands for one period of user time.  The kernel's tick falls on
 * user and kernel mode as they come, and the kernel keeps a tally of both:
 * when the tally of kernel mode has grown, the tick stands for that much
 * kernel time, right where it fell.  So a sample's weight never depends on
 * what the thread did before it.  (Booking all time since the last sample to
 * the next one does: with turns shorter than the clocks' periods a quarter of
 * the kernel time of a read landed on the Python line after it.)
 *
 * The weights add up to the CPU time on average only.  The difference to the
 * thread's CPU clock is kept, and given out with the next samples little by
 * little; at once as far as signals were lost, which is when it is large and the kernel's
 * tally has grown by it.  If that has not, the machine itself may have been stopped by its host and
 * not know it: then no line has used that time.
 *
 * Always: given out + balance_ns = CPU time up to cpu_ns.
 * Pure: reads no clock.  Signal-safe. */
#ifndef HEATLINE_AGENT_WEIGH_H
#define HEATLINE_AGENT_WEIGH_H

#include <stdbool.h>
#include <stdint.h>

/* What a sample stands for. */
struct weight {
	uint64_t user_ns;
	uint64_t system_ns;
};

/* One per thread; only the thread itself touches it. */
struct weigher {
	uint64_t cpu_ns;      /* the thread's CPU clock at the last sample */
	int64_t balance_ns;   /* used, but not given out yet */
	struct weight tally;  /* the kernel's own count at the last tick, */
	uint64_t ticked_ns;   /* and what it has grown by since the last sample */
};

/* Begins at this CPU time and tally. */
void weigher_init(struct weigher *weigher, uint64_t cpu_ns, struct weight tally);

/* What a tick stands for that finds this tally. */
struct weight weigher_tick(struct weigher *weigher, struct weight tally);

/* Whether so much time is not given out that the tally is to be asked before the
 * sample is weighed; and its answer. */
bool weigher_is_behind(const struct weigher *weigher, uint64_t cpu_ns, struct weight nominal);
void weigher_hear(struct weigher *weigher, struct weight tally);

/* The weight of a sample whose clock says that it stands for `nominal`, at
 * this CPU time.  Call it for each sample that is pushed, and only then. */
struct weight weigher_take(struct weigher *weigher, uint64_t cpu_ns, struct weight nominal);

/* CPU time up to cpu_ns that no sample has carried; below 0 when they carried more
 * than there was (a tick stands for one tick's time, however short the thread). */
int64_t weigher_rest_ns(const struct weigher *weigher, uint64_t cpu_ns);

#endif
