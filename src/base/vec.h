/* vec.h - growable arrays that keep the type of their items.
 *
 *	VEC(struct point) points = VEC_EMPTY;
 *	vec_push(&points, ((struct point){1, 2}));
 *	for (uint32_t i = 0; i < points.count; i++)
 *		draw(&points.items[i]);
 *	vec_free(&points);
 *
 * Pushing may move the items: keep indexes, not pointers.
 * Always: count <= room. */
#ifndef HEATLINE_BASE_VEC_H
#define HEATLINE_BASE_VEC_H

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

#define VEC(type)                 \
	struct {                  \
		type *items;      \
		uint32_t count;   \
		uint32_t room;    \
	}

#define VEC_EMPTY {NULL, 0, 0}

#define vec_push(vec, ...)                                                          \
	do {                                                                        \
		vec_reserve((vec)->items, (vec)->room, (vec)->count);               \
		(vec)->items[(vec)->count++] = __VA_ARGS__;                         \
	} while (0)

/* Frees the items; the vec is empty and useable after. */
#define vec_free(vec)                                   \
	do {                                            \
		free((vec)->items);                     \
		(vec)->items = NULL;                    \
		(vec)->count = (vec)->room = 0;         \
	} while (0)

/* For arrays that are kept as three fields: room for one more than count. */
#define vec_reserve(items, room, count) \
	((items) = vec_grow_items((items), &(room), (count), sizeof(*(items))))

/* Returns the items, moved when they had to be, with *room > count. */
static inline void *vec_grow_items(void *items, uint32_t *room, uint32_t count, size_t item_size)
{
	if (count < *room)
		return items;
	if (count >= UINT32_MAX / 2)
		mem_exhausted((size_t)count * item_size);
	uint32_t wanted = count < 8 ? 8 : count + count / 2;
	*room = wanted;
	return mem_resize(items, wanted, item_size);
}

#endif
