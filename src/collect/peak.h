/* peak.h - the most that was live at once, out of estimates.
 *
 * What is live is known by samples, each of which stands for many bytes.  On average that is
 * right at any moment, but the largest of many estimates is not the estimate of the largest: a loop
 * that builds a list of 1.6 MB and drops it, again and again, met by one sample for every 2 MB, has six
 * of them alive by chance in one of a thousand rounds, and "held" 12 MB.
 *
 * So where more was allocated than is live, the estimates of some hundred samples are taken
 * together, a round.  Their mean is sure, and their spread beyond what chance makes tells how far the
 * truth goes up and down.  A single estimate counts only as far as chance does not
 * explain it.  What stays all through a round goes neither up nor down.  What stays, to the program's end or for long, is one moment and no choice of many: it counts as it is.
 * That the sampled blocks themselves live is no chance. */
#ifndef HEATLINE_COLLECT_PEAK_H
#define HEATLINE_COLLECT_PEAK_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing was ever live. */
struct peak {
	double sure;      /* the most of rounds that are over, and of what stayed */
	double allocated; /* ever */
	double first_s, last_s, born_s; /* the first change, the last, the last growth */
	double gap_s;     /* from one growth to the next, about */
	bool has_round;   /* one is over, */
	double grain_before; /* in which one sample stood for so much at most */
	/* Of the round that goes on: */
	uint32_t samples;
	double most;           /* highest estimate; */
	double most_by_chance; /* of that, what samples stood for beyond themselves */
	double least;          /* lowest estimate that lasted */
	double grain;          /* the most that one sample stood for beyond itself */
	double bytes, grain_bytes;            /* sum of what samples stood for, and of the squares of that */
	double seconds, byte_seconds, square; /* integrals over the time, of live bytes, of their squares */
};

/* live bytes, and what of them samples stand for beyond themselves, after they grew by so many; grain: what the
 * new sample does. */
struct peak_growth {
	double live, by_chance;
	double bytes, grain;
	double carried; /* of bytes: was live before, as another block */
};
void peak_grow(struct peak *peak, const struct peak_growth *growth, double time_s);

/* So many bytes were live until then; before they shrink. */
void peak_pass_time(struct peak *peak, double live, double time_s);

/* So many are live at a moment that was not chosen for it: the end. */
void peak_hold(struct peak *peak, double live);

/* The estimate. */
double peak_bytes(const struct peak *peak);

/* By how much a single estimate of what is live can be too high, lately. */
double peak_chance(const struct peak *peak);

#endif
