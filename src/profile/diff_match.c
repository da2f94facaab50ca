/* diff_match.c - match two lists by keys. */
#include "profile/diff_match.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

#define MAX_KEY_BYTES 65536u

/* The items of one side that wait for their match, in queues by key. */
struct queues {
	struct map_bytes heads; /* key to item + 1; 0: the queue is empty */
	uint32_t *next;         /* owned; next in the same queue + 1 */
};

static uint32_t *new_matches(uint32_t count)
{
	uint32_t *matches = mem_alloc(count * sizeof(*matches));
	for (uint32_t i = 0; i < count; i++)
		matches[i] = DIFF_NO_MATCH;
	return matches;
}

static void match_pass(const uint32_t count[2], int pass, diff_key *key, const void *context,
		       uint32_t *matches[2])
{
	struct queues queues = {.next = mem_zalloc(count[0], sizeof(*queues.next))};
	struct buf text;
	buf_init(&text, MAX_KEY_BYTES);
	/* From the end, so that each queue begins with its first. */
	for (uint32_t i = count[0]; i-- > 0;) {
		buf_clear(&text);
		if (matches[0][i] != DIFF_NO_MATCH || !key(context, 0, i, pass, &text))
			continue;
		uint32_t *head = map_bytes_put(&queues.heads, text.data, text.size, NULL);
		queues.next[i] = *head;
		*head = i + 1;
	}
	for (uint32_t i = 0; i < count[1]; i++) {
		buf_clear(&text);
		if (matches[1][i] != DIFF_NO_MATCH || !key(context, 1, i, pass, &text))
			continue;
		uint32_t *head = map_bytes_get(&queues.heads, text.data, text.size);
		if (!head || *head == 0)
			continue;
		matches[1][i] = *head - 1;
		matches[0][*head - 1] = i;
		*head = queues.next[*head - 1];
	}
	buf_fini(&text);
	map_bytes_fini(&queues.heads);
	free(queues.next);
}

void diff_match(const uint32_t count[2], int passes, diff_key *key, const void *context,
		uint32_t *matches[2])
{
	matches[0] = new_matches(count[0]);
	matches[1] = new_matches(count[1]);
	for (int pass = 0; pass < passes; pass++)
		match_pass(count, pass, key, context, matches);
}
