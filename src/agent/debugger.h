/* debugger.h - whether a debugger runs the process.
 *
 * Asked when a run or session begins: it would stop the program for each of our signals. */
#ifndef HEATLINE_AGENT_DEBUGGER_H
#define HEATLINE_AGENT_DEBUGGER_H

#include <stdbool.h>

/* Whether gdb or lldb runs this process. */
bool debugger_is_there(void);

#endif
