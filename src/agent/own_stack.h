/* own_stack.h - the calling thread's Python stack, read directly.
 *
 * For code that the program itself has called (hooks of allocators, callbacks
 * of CUDA), not for signal handlers: the thread stands in a call, so its frames
 * are whole and stay where they are, and can be read without a system call.
 *
 * But for one moment: a library that switches C stacks (greenlet) copies the next
 * one to its place before it tells Python whose frames run now.  From 3.11 on the
 * way to the frames leads over the C stack, and what the last one had there is then
 * below the stack pointer, where our own calls lie.  It is told by its address, and
 * there is no stack to be had. */
#ifndef HEATLINE_AGENT_OWN_STACK_H
#define HEATLINE_AGENT_OWN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"

/* A number by which a stack is known: the innermost `depth` frames, their code
 * and where they stand in it, mixed with seed; seed itself when there is no frame. */
uint64_t own_stack_key(uint64_t seed, uint32_t depth);

/* Walks the stack and gives every frame its code id, as sample_walk does. */
bool own_stack_walk(struct agent_thread *self, uint32_t *count);

/* The frames of the last walk, as records have them. */
void own_stack_copy(const struct agent_thread *self, struct record_frame *frames, uint32_t count);

/* Whether the calling thread may be walked now (NULL: it may not); keeps our
 * own handler out until own_stack_leave. */
struct agent_thread *own_stack_enter(void);
void own_stack_leave(struct agent_thread *self);

#endif
