/* pace.h - how long the collector waits between two rounds.
 *
 * Some thirty rounds a second while threads wait now here, now there: what a thread
 * waits for is seen at a round only.  A round costs some 50 microseconds, a third of it
 * for waking up.  While every thread goes on with what it did, computing or waiting at
 * one place, there is nothing to see: how long they wait is told by the kernel, and
 * what they compute by their samples.  So the pause grows with the time that has been calm:
 * when a wait begins, at most 1/PACE_PART of that time is over before it is looked at.
 *
 * Rounds are dearer where there are many threads or tasks.  Each look at one of them is a sample
 * of its own, so fewer rounds tell as much: they take at most 1/PACE_COST_PART of the time.
 *
 * Pure. */
#ifndef HEATLINE_COLLECT_PACE_H
#define HEATLINE_COLLECT_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_MS 24u
#define PACE_PART 20u
#define PACE_COST_PART 200u
#define PACE_MAX_MS 80u /* before jitter: what a program that wakes up writes meanwhile must fit in */

/* The next pause, when it has been calm for so long and a round's looks take cost_ns; up to half
 * of it more by lot keeps the rounds out of step with the program.  *random is any number. */
unsigned pace_next_ms(uint64_t calm_ns, uint64_t cost_ns, uint64_t *random);

/* The pause between two looks whether a process has a library loaded: the last took cost_ns, and
 * none has met new modules for calm_ns.  The same part of the time is over before one is met. */
#define PACE_FIND_PART 250u /* of the time, that the looks may take */
#define PACE_FIND_NS 50000000u
#define PACE_FIND_MAX_NS 250000000u
uint64_t pace_find_ns(uint64_t cost_ns, uint64_t calm_ns);

/* A thread as two looks have found it. */
struct pace_look {
	bool has_run;           /* between them */
	bool was_waiting;       /* at the first, where its waiting is booked to */
	bool is_waiting;        /* at the second */
	uint64_t settled_ns;    /* for so long it has been met waiting at one place only */
	uint64_t waited_ns;     /* since it was last found astir, and not booked */
	uint64_t since_ns;      /* how long ago that was */
};

/* What a thread may wait while it is said to compute: a small part of the time, and four ticks,
 * by two of which its CPU clock may lag behind.  A virtual machine that is not run for a moment looks
 * like that too.  Time ready to run calls for no looks: between which samples it was, these tell. */
#define PACE_WAITED_PART 50u
#define PACE_WAITED_NS 16000000u

/* A thread that wakes up now and then and waits again where it did (a server's poll, a loop that
 * sleeps) goes on with what it did, if so much time has shown nothing else.  A wait elsewhere that
 * is met after a long pause gets what is left of the wait before it too, some 35 ms more than it
 * loses at its end: less than 0.4 % of such a time. */
#define PACE_SETTLED_NS 10000000000u

/* Whether the thread does anything but compute, or wait where it waited before. */
bool pace_is_astir(const struct pace_look *look);

#endif
