/* advice.h - what to change, as the profile's rules say (profile/advice.h). */
#ifndef HEATLINE_REPORT_ADVICE_H
#define HEATLINE_REPORT_ADVICE_H

#include "profile/model.h"
#include "report/style.h"

/* The section "Advice": place, title, evidence and fix of each; nothing where there
 * is none. */
void advice_print(FILE *out, const struct style *style, const struct profile *profile);

/* One line about the most worthwhile, and how many more there are. */
void advice_print_summary(FILE *out, const struct style *style, const struct profile *profile,
			  uint32_t indent);

#endif
