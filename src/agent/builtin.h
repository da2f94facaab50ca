/* builtin.h - the name `profile` among Python's builtins.
 *
 * For a program with a bare @profile, where nothing else defines the name (the control page says so).
 * A preloaded agent only. */
#ifndef HEATLINE_AGENT_BUILTIN_H
#define HEATLINE_AGENT_BUILTIN_H

/* Python has come so far that it has its builtins; its lock is held. */
void builtin_python_started(void);

#endif
