/* read.h - read a profile that Heatline or Scalene (1.x, 2.x) wrote.
 *
 * The file is untrusted: every type and every range is checked, and whatever
 * is wrong with it comes back as one sentence.  What the reader does not know
 * it passes over, so that files of later minor versions can be read. */
#ifndef HEATLINE_PROFILE_READ_H
#define HEATLINE_PROFILE_READ_H

#include "base/err.h"
#include "profile/model.h"

/* The profile that commands write, and read, when none is named. */
#define DEFAULT_PROFILE "heatline-profile.json"

#define READ_MAX_BYTES ((size_t)256 << 20)

/* The profile, or NULL and the reason in err.  profile_free it. */
struct profile *profile_read(const char *path, struct err *err);

/* As above from text; name stands for the file in messages. */
struct profile *profile_read_text(const char *text, size_t size, const char *name,
				  struct err *err);

#endif
