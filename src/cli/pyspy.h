/* pyspy.h - heatline called as py-spy: that tool's words, mapped onto ours.
 *
 *	py-spy record -o FILE [-f FORMAT] [-d S] [-r HZ] [-s -t -g -i] -p PID | -- command
 *	py-spy dump -p PID | --core FILE [--json] [--locals]    heatline dump
 *	py-spy top -p PID | -- command              heatline top
 *	py-spy completions SHELL                    heatline completions
 *
 * So that people and scripts that know py-spy need not learn anything first: a
 * link of that name to the executable is all.  What is measured and how is
 * Heatline's; options that mean nothing here (--nonblocking: it never blocks) are
 * taken and ignored. */
#ifndef HEATLINE_CLI_PYSPY_H
#define HEATLINE_CLI_PYSPY_H

/* The words after the name; returns the exit status. */
int pyspy_run(int argc, char **argv);

#endif
