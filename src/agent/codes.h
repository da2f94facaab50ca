/* codes.h - the ids under which the ring knows code objects.
 *
 * A record has ids in place of code objects; each is sent before the first record that has its id.
 * One may be sent twice, under two ids: the collector knows it by what it contains.  Shared by
 * all threads without a lock. */
#ifndef HEATLINE_AGENT_CODES_H
#define HEATLINE_AGENT_CODES_H

#include <stdint.h>

#include "python/reader.h"

struct agent_thread;
struct walker;

#define CODE_ID_NONE 0u

/* The id under which the ring knows a code object, after sending it there if
 * it is new, as the walker reads it; CODE_ID_NONE when it could not be read or
 * sent.  [handler] */
uint32_t codes_find(struct agent_thread *self, const struct walker *walker, py_addr code,
		    uint32_t identity);

/* Forgets all ids: a new ring knows none.  Returns 0 or -errno. */
int codes_reset(void);
int codes_after_fork(void);

#endif
