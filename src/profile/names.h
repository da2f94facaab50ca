/* names.h - what the names of a Python source hold, as far as their assignments tell.
 *
 * One pass over the source keeps, for each name of each function and of the module, and for
 * each attribute, the kind of value that it is given; imported names keep where
 * they come from.  A name that is given different kinds holds anything.  So an answer
 * other than "anything" is only given where every assignment agrees. */
#ifndef HEATLINE_PROFILE_NAMES_H
#define HEATLINE_PROFILE_NAMES_H

#include "base/map.h"
#include "profile/statements.h"

enum value_kind {
	VALUE_ANY,   /* not known, or differing */
	VALUE_LIST,
	VALUE_TEXT,  /* str or bytes */
	VALUE_ARRAY, /* numpy's */
	VALUE_FRAME, /* a pandas DataFrame or Series */
	VALUE_PARAMETER, /* of a function, as the caller wants it; for names.c only */
	VALUE_IMPORTED,  /* for names.c only */
};

struct names {
	struct map_bytes kinds; /* "function line:name" to a kind and, above it, an origin */
	char **origins;         /* owned; owned: "numpy", "time.sleep" */
	uint32_t origin_count, origin_room;
};

#define NAMES_MAX 20000u   /* further names hold anything */
#define NAMES_MAX_ORIGINS 1000u

/* Reads the whole source. */
void names_init(struct names *names, const char *text, size_t size);
void names_fini(struct names *names);

/* What the dotted name holds where the statement stands. */
enum value_kind names_kind(const struct names *names, const struct statement *statement,
			   const char *path);

/* The path as it would be without aliases: with "import numpy as np" and "from time
 * import sleep", "np.append" is "numpy.append" and "sleep" is "time.sleep".  A path
 * that begins with no imported name is "". */
void names_origin(const struct names *names, const struct statement *statement, const char *path,
		  char origin[STATEMENT_PATH_BYTES]);

#endif
