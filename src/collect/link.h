/* link.h - the line between the heatline that the user started (the front) and
 * its collector, which is a process of its own.
 *
 * Small messages over two pipes.  When one side dies the other reads the end
 * of the line, which is all the notice that is needed. */
#ifndef HEATLINE_COLLECT_LINK_H
#define HEATLINE_COLLECT_LINK_H

#include <stdbool.h>
#include <stdint.h>

enum link_kind {
	LINK_STARTED = 1, /* to the collector: the program runs; value: its pid */
	LINK_NOT_STARTED, /* to the collector: it could not be started */
	LINK_ENDED,       /* to the collector: it has ended */
	LINK_DONE,        /* to the front: profile written, everything said; I end too */
	LINK_BACKGROUND,  /* to the front: everything said for now; I go on collecting */
};

/* Both ends of both pipes, until one side is chosen; then the other side's are -1. */
struct link {
	int to_collector[2]; /* read end, write end; -1: closed */
	int to_front[2];
};

/* Returns 0 or -errno. */
int link_init(struct link *link);
void link_fini(struct link *link);

/* Closes what the other side keeps. */
void link_be_front(struct link *link);
void link_be_collector(struct link *link);

/* Writes a message; quietly nothing when nobody listens. */
void link_send(int fd, enum link_kind kind);

/* Waits for the next message for at most timeout_ms (negative: for ever).
 * Returns its kind; 0 when there is none in time or a signal came; -1 when the
 * other side is gone. */
int link_receive(int fd, int timeout_ms);

#endif
