/* sentinel.h - was a signal sent to us alone, or to the whole process group?
 *
 * What is sent to heatline alone is meant for the program and is passed on;
 * what is sent to the group has reached the program already, and must not
 * reach it twice.  A siginfo_t looks the same in both cases.  So a small
 * process stands in the group beside us with every signal blocked: one that
 * went to the group is pending there, which /proc shows.  Nobody sends it any
 * by itself. */
#ifndef HEATLINE_COLLECT_SENTINEL_H
#define HEATLINE_COLLECT_SENTINEL_H

#include <stdbool.h>
#include <sys/types.h>

struct sentinel {
	pid_t pid; /* 0: there is none */
	int fd;    /* the line to it; -1: closed */
};

/* Starts it; without one every signal counts as sent to us alone.  It ends
 * with the calling process. */
void sentinel_start(struct sentinel *sentinel);
void sentinel_stop(struct sentinel *sentinel);

/* Whether the signal that we have just got went to the whole group. */
bool sentinel_has_got(struct sentinel *sentinel, int number);

#endif
