/* peak.c - see peak.h. */
#include "collect/peak.h"

#include <math.h>

/* A round has so many samples; and more where few of them are alive at once: that, on average, times samples. */
#define ROUND_SAMPLES 96u
#define ROUND_ALIVE   32.0

/* Chance: an estimate can be this many samples too high.  (Samples are spread evenly over a place's bytes, so
 * that each of its kinds of blocks errs by two at most; a line has some.) */
#define CHANCE_SAMPLES 4.0

/* Its variance, in squares of what a sample stands for: for each sample that is alive, where they are few, a little
 * more than samples that know nothing of each other have; and no more than so many. */
#define CHANCE_ALONE  1.5
#define CHANCE_EVENLY 3.0

/* What a line that builds something and drops it has at most, by the mean of that, when nothing else is known: as
 * much when it is replaced bit by bit, 1.33 times when it is dropped after the next was built, twice when before. */
#define SHAPE 1.25

/* Pauses count no longer than so many times the usual time from one growth to the next. */
#define PAUSE_GAPS 8.0
#define GAP_WEIGHT (1 / 16.0)

/* A pause that is at least this part of the time since the beginning: what is live in it is no chance. */
#define LASTING_PART (1 / 8.0)

static void note_gap(struct peak *peak, double time_s)
{
	double gap_s = fmax(time_s - peak->born_s, 0);
	if (peak->gap_s > 0)
		peak->gap_s += (fmin(gap_s, PAUSE_GAPS * peak->gap_s) - peak->gap_s) * GAP_WEIGHT;
	else
		peak->gap_s = gap_s;
	peak->born_s = time_s;
}

static double mean_of(const struct peak *peak)
{
	return peak->seconds > 0 ? peak->byte_seconds / peak->seconds : 0;
}

/* By the mean, and how far the truth goes up from it: evenly, up and down.  What is there all the time
 * does not: 100 MB that are kept beside a few that come and go are not 125. */
static double usual_most(const struct peak *peak)
{
	double mean = mean_of(peak);
	double above = fmax(mean - peak->least, 0);
	double grain = peak->grain_bytes / peak->bytes;
	double chance = grain * fmin(CHANCE_ALONE * mean, CHANCE_EVENLY * grain);
	double variance = fmax(peak->square / peak->seconds - mean * mean - chance, 0);
	return mean + fmax((SHAPE - 1) * above, sqrt(3 * variance));
}

/* The most of the round so far. */
static double round_most(const struct peak *peak)
{
	bool has_turned_over = peak->allocated >= 2 * peak->most;
	if (!has_turned_over || peak->seconds <= 0 || peak->bytes <= 0)
		return peak->most;
	double beyond_chance =
		peak->most - fmin(CHANCE_SAMPLES * peak->grain, peak->most_by_chance);
	if (peak->has_round && peak->samples < ROUND_SAMPLES)
		return beyond_chance;
	return fmax(beyond_chance, fmin(usual_most(peak), peak->most));
}

static bool is_round_over(const struct peak *peak)
{
	return peak->samples >= ROUND_SAMPLES &&
	       mean_of(peak) * peak->samples * peak->samples >= ROUND_ALIVE * peak->bytes;
}

static void begin_round(struct peak *peak)
{
	peak->sure = fmax(peak->sure, round_most(peak));
	peak->has_round = true;
	peak->grain_before = peak->grain;
	peak->samples = 0;
	peak->most = peak->most_by_chance = peak->grain = 0;
	peak->least = HUGE_VAL;
	peak->bytes = peak->grain_bytes = 0;
	peak->seconds = peak->byte_seconds = peak->square = 0;
}

void peak_pass_time(struct peak *peak, double live, double time_s)
{
	double whole_s = time_s - peak->last_s;
	if (whole_s <= 0)
		return;
	double seconds = fmin(whole_s, PAUSE_GAPS * peak->gap_s);
	bool is_pause = peak->gap_s > 0 && seconds < whole_s;
	if (is_pause && whole_s >= (time_s - peak->first_s) * LASTING_PART)
		peak_hold(peak, live);
	peak->least = fmin(peak->least, live);
	peak->seconds += seconds;
	peak->byte_seconds += seconds * live;
	peak->square += seconds * live * live;
	peak->last_s = time_s;
}

void peak_grow(struct peak *peak, const struct peak_growth *growth, double time_s)
{
	if (peak->allocated <= 0)
		peak->first_s = peak->last_s = peak->born_s = time_s;
	peak_pass_time(peak, growth->live - growth->bytes, time_s);
	note_gap(peak, time_s);
	if (growth->live > peak->most) {
		peak->most = growth->live;
		peak->most_by_chance = growth->by_chance;
	}
	peak->grain = fmax(peak->grain, growth->grain);
	peak->allocated += growth->bytes - growth->carried;
	peak->bytes += growth->bytes - growth->carried;
	peak->grain_bytes += growth->grain * growth->grain;
	peak->samples++;
	if (is_round_over(peak))
		begin_round(peak);
}

void peak_hold(struct peak *peak, double live)
{
	peak->sure = fmax(peak->sure, live);
}

double peak_bytes(const struct peak *peak)
{
	return fmax(peak->sure, round_most(peak));
}

double peak_chance(const struct peak *peak)
{
	return CHANCE_SAMPLES * fmax(peak->grain, peak->grain_before);
}
