/* exec.h - the agent goes along with what the program executes. */
#ifndef HEATLINE_AGENT_EXEC_H
#define HEATLINE_AGENT_EXEC_H

/* Once a preloaded agent starts: from then on what the program executes carries it.  Returns
 * the run's folder as the environment has it, NULL: it has none. */
const char *exec_start(void);

#endif
