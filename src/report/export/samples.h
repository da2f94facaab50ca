/* samples.h - stacks counted in samples of one length, as sampling profilers
 * write them: what reads the files of those reads these.
 *
 * A stack's time becomes so many whole samples; what is left over is carried to
 * the next stack, so that the sum is right. */
#ifndef HEATLINE_REPORT_EXPORT_SAMPLES_H
#define HEATLINE_REPORT_EXPORT_SAMPLES_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/model.h"

struct export_samples {
	double rate_hz;     /* samples a second */
	bool by_thread;     /* the outermost frames are threads */
};

#define EXPORT_SAMPLES_MAX 1000000u /* more are made fewer, each longer */

/* speedscope's "sampled" profiles: every sample one by one; one profile, or one
 * for each thread. */
void export_samples_speedscope(FILE *out, const struct profile *profile,
			       const struct export_samples *how);

/* "outer (a.py:1);inner (a.py:7) 12": the stack and how many samples. */
void export_samples_raw(FILE *out, const struct profile *profile, const struct export_samples *how);

#endif
