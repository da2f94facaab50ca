/* signals.h - our signal, beside what the program asks or sets for it.
 *
 * Its handler is here; sample.h has what it does.  The program is answered from a copy of what
 * it wanted for that number, and gets what somebody else sends.  Blocking it: masks.h. */
#ifndef HEATLINE_AGENT_SIGNALS_H
#define HEATLINE_AGENT_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Installs the handler.  Returns 0 or -errno. */
int signals_start(void);

/* Gives the signal back; nothing of ours is pending afterwards. */
void signals_stop(void);

/* Whether a signal of our number comes from our clocks.  [handler] */
bool signals_is_ours(const siginfo_t *info);

#endif
