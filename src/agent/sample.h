/* sample.h - one sample of the calling thread, from walk to record.
 *
 * Who calls has marked the state as busy (is_busy), so that no other sample of the thread is
 * taken meanwhile: its scratch memory is one. */
#ifndef HEATLINE_AGENT_SAMPLE_H
#define HEATLINE_AGENT_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "python/reader.h"

struct agent_thread;
struct walker;

/* Where the signal met the thread. */
struct interrupted {
	uint64_t pc;
	uint64_t stack; /* the stack pointer, where calls leave their return address there; or 0 */
	uint64_t link;  /* the return address, where calls leave it in a register; or 0 */
};

/* Takes one sample of the calling thread.  [handler] */
void sample_take(struct agent_thread *self, const struct interrupted *at, bool is_tick);

/* The thread state in which the calling thread runs Python, or 0.  [handler] */
py_addr sample_state(void);

/* Walks the calling thread's stack and gives every frame its code id: leaves
 * ids in self->identities and offsets in self->frames, innermost first.  False
 * when it could not be read whole or sent.  flags: enum sample_flag.  [handler] */
bool sample_walk(struct agent_thread *self, const struct walker *walker, uint32_t *count,
		 uint8_t *flags);

/* The same for another thread, by its thread state.  [handler] */
bool sample_walk_state(struct agent_thread *self, const struct walker *walker, py_addr state,
		       uint32_t *count, uint8_t *flags);

#endif
