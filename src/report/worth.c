/* worth.c - which memory figures are worth a reader's eye. */
#include "report/worth.h"

#include "base/units.h"

#define SHARE 0.01
#define LEAK_LIKELIHOOD 0.9
#define TOLD_SHARE 1.2 /* a volume below this much of a line's part of the peak is the same */

/* What a line must allocate to be called churn; of that, what may stay for good,
 * what may be live on average, and at most. */
#define CHURN_BYTES (50 * MB)
#define CHURN_KEPT 0.02
#define CHURN_AVERAGE 0.10
#define CHURN_PEAK 0.25

struct worth_scale worth_scale_of(const struct profile *profile)
{
	if (!profile->has_memory)
		return (struct worth_scale){0};
	return (struct worth_scale){
		.peak_bytes = profile->memory.peak_bytes,
		.alloc_bytes = profile->sum.alloc_bytes,
		.copy_bytes = profile->sum.copy_bytes,
		.elapsed_s = profile->elapsed_s,
	};
}

bool worth_showing(double bytes)
{
	return bytes >= MB;
}

bool worth_reading(double bytes, double whole_bytes)
{
	return worth_showing(bytes) && whole_bytes > 0 && bytes >= SHARE * whole_bytes;
}

bool worth_listing(const struct worth_scale *scale, const struct metrics *self,
		   const struct memory *memory)
{
	return worth_reading(memory->peak_bytes, scale->peak_bytes) ||
	       worth_reading(self->alloc_bytes, scale->alloc_bytes) ||
	       worth_reading(self->copy_bytes, scale->copy_bytes);
}

double worth_at_peak(const struct profile *profile, const struct profile_line *line)
{
	double bytes = line->memory.at_peak_bytes;

	return worth_reading(bytes, profile->memory.peak_bytes) ? bytes : 0;
}

double worth_as_leak(const struct profile *profile, const struct profile_line *line)
{
	const struct memory *memory = &line->memory;

	(void)profile;
	return memory->leak_likelihood >= LEAK_LIKELIHOOD ?
		       memory->leak_likelihood * memory->leak_bytes_per_s :
		       0;
}

static bool is_churn(const struct profile *profile, const struct profile_line *line)
{
	double volume = line->self.alloc_bytes;

	return !profile->from_scalene && volume >= CHURN_BYTES &&
	       line->self.kept_bytes <= CHURN_KEPT * volume &&
	       line->memory.average_bytes <= CHURN_AVERAGE * volume &&
	       line->memory.peak_bytes <= CHURN_PEAK * volume;
}

/* What the line allocated, if that is much of what the program did. */
static double volume_of(const struct profile *profile, const struct profile_line *line)
{
	double volume = line->self.alloc_bytes;

	return worth_reading(volume, profile->sum.alloc_bytes) ? volume : 0;
}

double worth_as_churn(const struct profile *profile, const struct profile_line *line)
{
	return is_churn(profile, line) ? volume_of(profile, line) : 0;
}

double worth_as_volume(const struct profile *profile, const struct profile_line *line)
{
	double volume = volume_of(profile, line);
	bool is_told = volume < TOLD_SHARE * worth_at_peak(profile, line);

	return is_told || is_churn(profile, line) ? 0 : volume;
}

double worth_as_copies(const struct profile *profile, const struct profile_line *line)
{
	double bytes = line->self.copy_bytes;

	return worth_reading(bytes, profile->sum.copy_bytes) ? bytes : 0;
}
