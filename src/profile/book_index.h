/* book_index.h - what booking needs to find things fast; inner part of book.c.
 *
 * Made on the first booking (from what the profile holds already) and dropped
 * by profile_finish, whose sorting makes its indexes stale. */
#ifndef HEATLINE_PROFILE_BOOK_INDEX_H
#define HEATLINE_PROFILE_BOOK_INDEX_H

#include "base/map.h"
#include "profile/model.h"

struct book_seen;
struct book_frame;

struct book {
	struct map_bytes files;     /* path to index in files */
	struct map lines;           /* file << 32 | line to index in the file's lines */
	struct map_bytes functions; /* struct function_key to index in the file's functions */
	uint32_t *nodes;            /* owned; hash table of stack nodes; 0: free (0 is the root) */
	uint32_t node_mask;
	uint32_t mark;              /* of the stack being booked */
	struct book_seen *seen;     /* owned; what of the current stack has been counted */
	struct book_frame *last;    /* owned; the stack booked last, outermost first */
	uint32_t *last_nodes;       /* owned; its nodes */
	uint32_t last_count, last_room;
};

/* Makes the index when there is none. */
struct book *book_index(struct profile *profile);

/* NULL is accepted. */
void book_index_free(struct book *book);

/* The line's or function's place, made when missing.  Valid until the next
 * call for the same file. */
struct profile_line *book_line(struct profile *profile, uint32_t file, uint32_t line);
struct profile_function *book_function(struct profile *profile, uint32_t file, const char *name,
				       uint32_t first_line);

/* Sorts and rounds a file's lines and functions, and sums its self time; the
 * index is stale after. */
void book_finish_file(struct profile_file *file);

#endif
