/* debugger.h - whether a debugger runs the process. */
#ifndef HEATLINE_AGENT_DEBUGGER_H
#define HEATLINE_AGENT_DEBUGGER_H

#include <stdbool.h>

/* Whether gdb or lldb runs this process. */
bool debugger_is_there(void);

#endif
