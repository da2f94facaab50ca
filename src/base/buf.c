/* buf.c - the growable byte buffer. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define BUF_FIRST_ROOM 64u

static void buf_reserve(struct buf *buf, size_t size)
{
	if (size < buf->room)
		return;
	size_t room = buf->room ? buf->room : BUF_FIRST_ROOM;
	while (room <= size)
		room = room > SIZE_MAX / 2 ? size + 1 : room * 2;
	buf->data = mem_resize(buf->data, room, 1);
	buf->room = room;
}

static bool buf_fits(struct buf *buf, size_t size)
{
	if (size <= buf->maximum - buf->size)
		return true;
	buf->is_cut = true;
	return false;
}

void buf_init(struct buf *buf, size_t maximum)
{
	memset(buf, 0, sizeof(*buf));
	buf->maximum = maximum < SIZE_MAX / 4 ? maximum : SIZE_MAX / 4;
	buf_reserve(buf, 0);
	buf->data[0] = '\0';
}

void buf_fini(struct buf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}

void buf_clear(struct buf *buf)
{
	buf->size = 0;
	buf->is_cut = false;
	buf->data[0] = '\0';
}

bool buf_append(struct buf *buf, const void *bytes, size_t size)
{
	if (!buf_fits(buf, size))
		return false;
	buf_reserve(buf, buf->size + size);
	if (size)
		memcpy(buf->data + buf->size, bytes, size);
	buf->size += size;
	buf->data[buf->size] = '\0';
	return true;
}

bool buf_text(struct buf *buf, const char *text)
{
	return buf_append(buf, text, strlen(text));
}

bool buf_char(struct buf *buf, char c)
{
	return buf_append(buf, &c, 1);
}

bool buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	size_t left = buf->room - buf->size;
	int written = vsnprintf(buf->data + buf->size, left, format, args);
	va_end(args);
	bool fits = written >= 0 && buf_fits(buf, (size_t)written);
	if (fits && (size_t)written >= left) {
		buf_reserve(buf, buf->size + (size_t)written);
		vsnprintf(buf->data + buf->size, buf->room - buf->size, format, again);
	}
	va_end(again);
	if (fits)
		buf->size += (size_t)written;
	buf->data[buf->size] = '\0';
	return fits;
}

char *buf_take(struct buf *buf)
{
	char *data = buf->data;
	size_t maximum = buf->maximum;
	buf_init(buf, maximum);
	return data;
}

bool buf_seconds(struct buf *buf, double seconds)
{
	char text[32];
	if (seconds > 0 && seconds < 0.0005)
		return buf_printf(buf, "%.3f ms", 1000 * seconds);
	text_put_seconds(text, sizeof(text), seconds);
	return buf_text(buf, text);
}
