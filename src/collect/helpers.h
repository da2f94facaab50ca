/* helpers.h - what multiprocessing and its kind start beside the program.
 *
 * Such a process is told by the text after its -c.  That line is not the
 * program's.  Some only serve the others, and wait for orders all their life:
 * what they wait is no part of the total.  Nor is what the processes of a pool, and
 * multiprocessing's managers, wait to be given work. */
#ifndef HEATLINE_COLLECT_HELPERS_H
#define HEATLINE_COLLECT_HELPERS_H

#include <stdbool.h>
#include <stdint.h>

struct process;
struct collector;

struct helper {
	const char *line; /* its command line has this */
	const char *name; /* NULL: it does the program's work, under a name of its own */
};

/* What the command starts; NULL: no helper. */
const struct helper *helpers_find(const char *command);

/* Whether the process only serves others.  What a fork server has forked has its
 * command, but does not. */
bool helpers_only_serves(const struct collector *collector, const struct process *process);

/* Whether who waits at this node is a pool's process, or a manager, that has no work. */
bool helpers_wait_for_work(const struct collector *collector, uint32_t node);

#endif
