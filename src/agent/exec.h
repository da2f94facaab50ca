/* exec.h - the agent goes along with what the program executes.
 *
 * A preloaded agent stands in front of execve and its relatives; the program calls them, maybe in
 * the child of a vfork.  A loaded one leaves them alone. */
#ifndef HEATLINE_AGENT_EXEC_H
#define HEATLINE_AGENT_EXEC_H

/* Once a preloaded agent starts: from then on what the program executes carries it.  Returns
 * the run's folder as the environment has it, NULL: it has none. */
const char *exec_start(void);

#endif
