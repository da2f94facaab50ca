/* snapshot_parts.h - what the files of a snapshot share (see snapshot.h).
 *
 *	snapshot.c        planning and making the copies, what is kept, comparing
 *	snapshot_view.c   reading from the copies */
#ifndef HEATLINE_REMOTE_SNAPSHOT_PARTS_H
#define HEATLINE_REMOTE_SNAPSHOT_PARTS_H

#include "remote/snapshot.h"

/* These bytes of the page too. */
void snapshot_widen(struct snapshot_page *page, uint16_t from, uint16_t to);

/* What lies in the newest part of the frame stack: below fresh_from as it was
 * marked, above it as it was copied. */
bool snapshot_copy_stack(const struct snapshot *snapshot, const struct snapshot_copy *copy, py_addr addr,
			 void *dst, size_t wanted);

/* Reads what lies in a copy, also across two pages. */
bool snapshot_read_copy(const struct snapshot *snapshot, const struct snapshot_copy *copy, py_addr addr,
			void *dst, size_t size);

/* The reader's functions: what is in no copy is read from the process, and copied
 * along the next time. */
bool snapshot_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size);
const unsigned char *snapshot_view(const struct mem_reader *reader, py_addr addr, size_t size, bool may_load);

#endif
