/* intern.h - one copy of each string.
 *
 * Equal strings give the same pointer, so they are compared by ==.  The
 * strings live until intern_free and never move. */
#ifndef HEATLINE_BASE_INTERN_H
#define HEATLINE_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *intern);

/* The one copy; NULL stays NULL. */
const char *intern_text(struct intern *intern, const char *text);

/* As above, for text that is not terminated.  It may hold zero bytes; what
 * comes back is terminated, and strlen sees it up to its first zero byte. */
const char *intern_bytes(struct intern *intern, const void *bytes, size_t size);

#endif
