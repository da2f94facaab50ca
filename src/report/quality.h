/* quality.h - how good a profile is, in a sentence. */
#ifndef HEATLINE_REPORT_QUALITY_H
#define HEATLINE_REPORT_QUALITY_H

#include "profile/model.h"
#include "report/style.h"

/* Below so many samples a whole profile, or a single line, is only a hint: at
 * ten the 95 % interval of a share is as wide as half to double of it. */
#define QUALITY_FEW_SAMPLES 100
#define QUALITY_FEW_LINE_SAMPLES 10

/* Samples of the whole, looks at threads whose waiting is part of it included; 0 when the
 * tool that wrote the profile did not say. */
uint64_t quality_samples(const struct profile *profile);

/* Whether figures that rest on so many samples are too few to be trusted;
 * 0 means that nobody counted, which is not few. */
bool quality_is_rough(uint64_t line_samples);

/* Writes, each on lines of its own after `indent` spaces: "3,812 samples (927/s
 * of CPU time), overhead about 0.4%, lost 3 (ring full 3)"; that they are few;
 * the profile's warnings.  What the profile does not say is left out. */
void quality_print(FILE *out, const struct style *style, const struct profile *profile,
		   uint32_t indent);

#endif
