/* buf.h - a growable byte buffer with a maximum set when it is made.
 *
 * data is always terminated by a zero that size does not count.  An append
 * that would pass the maximum adds nothing and marks the buffer; so a run of
 * appends can be checked once, at its end, with buf_is_cut.
 * Always: size <= maximum. */
#ifndef HEATLINE_BASE_BUF_H
#define HEATLINE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data; /* owned */
	size_t size, room;
	size_t maximum; /* bytes that size never passes */
	bool is_cut;    /* an append was refused */
};

void buf_init(struct buf *buf, size_t maximum);
void buf_fini(struct buf *buf);

/* Empties; keeps the memory and the maximum. */
void buf_clear(struct buf *buf);

/* Each returns whether all of it went in; if not, none of it did. */
bool buf_append(struct buf *buf, const void *bytes, size_t size);
bool buf_text(struct buf *buf, const char *text);
bool buf_char(struct buf *buf, char c);
bool buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A length of time as text_put_seconds writes it, but less than half a millisecond is not "0 ms". */
bool buf_seconds(struct buf *buf, double seconds);

static inline bool buf_is_cut(const struct buf *buf)
{
	return buf->is_cut;
}

/* Hands the text over to the caller, who frees it; the buffer is empty after,
 * and still to be given to buf_fini. */
char *buf_take(struct buf *buf);

#endif
