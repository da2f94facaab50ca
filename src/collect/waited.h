/* waited.h - books what threads have waited.
 *
 * watch.h finds out how long and where, and leaves it in the thread (pending_off_ns, wait_kind,
 * is_at_gil).  Threads and children that are gone before they could be looked at are kept apart: all
 * that they waited is shared out among those that were met. */
#ifndef HEATLINE_COLLECT_WAITED_H
#define HEATLINE_COLLECT_WAITED_H

#include <stdbool.h>
#include <stdint.h>

struct collector;
struct process;
struct thread;

/* Books all that the thread has waited and that is not booked (pending_off_ns) to a node, or to the
 * tasks of its event loop that wait. */
void waited_book(struct collector *collector, struct process *process, struct thread *thread,
		 uint32_t node, uint64_t end_ns);

/* A thread has ended.  Of one that no look met: keeps all that it has waited, and returns true.
 * One that was met, but might have been missed, tells where others like it wait. */
bool waited_end_short(struct collector *collector, struct process *process, struct thread *thread,
		      uint64_t end_ns);

/* Rows of the process's threads are being joined (timeline_begin_join); what is kept of them moves along. */
void waited_move_rows(struct process *process, const uint32_t *moved_to, uint32_t rows);

/* Books what is kept to where others were met.  Returns what is left: of such threads none was met,
 * so it is on no line, and no part of the total. */
uint64_t waited_settle(struct collector *collector);

#endif
