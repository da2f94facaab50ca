/* restart.h - system calls that a signal has interrupted.
 *
 * Our handler has such a call made again, so that the program does not notice us.  One that the
 * program's own signal is to end must end all the same. */
#ifndef HEATLINE_AGENT_RESTART_H
#define HEATLINE_AGENT_RESTART_H

#include <stdbool.h>
#include <stdint.h>

/* The instruction of a system call: its size, and whether one stands at this address, which is
 * mapped.  [handler] */
#if defined(__x86_64__)
#define CALL_BYTES 2u
#elif defined(__aarch64__)
#define CALL_BYTES 4u
#else
#error "Heatline knows x86_64 and aarch64"
#endif
bool restart_is_call(uint64_t at);

/* At the end of our handler: a blocked call that a signal of the program's is to end does so.
 * [handler] */
void restart_settle(void *context);

#endif
