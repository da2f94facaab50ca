/* suggest_place.h - which places of a profile `heatline suggest` is about. */
#ifndef HEATLINE_CLI_SUGGEST_PLACE_H
#define HEATLINE_CLI_SUGGEST_PLACE_H

#include "base/err.h"
#include "suggest/prompt.h"

/* The place that "FILE:LINE" names; FILE is a path, or the end of one. */
int suggest_place_find(const struct profile *profile, const char *text, struct prompt_place *place,
		       struct err *err);

#endif
