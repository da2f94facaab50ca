/* proc.h - what /proc says of a process. */
#ifndef HEATLINE_COLLECT_PROC_H
#define HEATLINE_COLLECT_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
	char state;        /* 'R', 'S', 'T', 'Z' … */
	pid_t parent_pid;
	uint64_t start;    /* when it began, in the kernel's ticks since boot */
};

/* False when there is no such process. */
bool proc_stat(pid_t pid, struct proc_stat *stat);

/* When it began, or 0. */
uint64_t proc_start(pid_t pid);

/* Whether the very process that began then still runs: another one with its
 * number does not count, nor one that has ended and was not waited for.
 * start 0: not known, any will do. */
bool proc_is_alive(pid_t pid, uint64_t start);

#endif
