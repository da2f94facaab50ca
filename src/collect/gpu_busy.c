/* gpu_busy.c - when each GPU worked.
 *
 * CUPTI gives a buffer back when it is full, which may be at the program's end,
 * and buffers come in any order.  So spans of work are not put in order but
 * added up, in short slots of time for each card: of one card at most the
 * slot's length, and of several cards the busiest, since those of one program
 * work side by side.  When the room is used up pairs of slots are joined. */
#include <stdlib.h>

#include "base/mem.h"
#include "collect/gpu.h"

#define SLOTS_MAX (1u << 20)

static void join_slots(struct gpu *gpu)
{
	for (uint32_t i = 0; i < gpu->cards.count; i++) {
		struct gpu_card *card = &gpu->cards.items[i];
		for (uint32_t slot = 0; slot < card->busy.count; slot++) {
			float busy_ns = card->busy.items[slot];
			card->busy.items[slot] = 0;
			card->busy.items[slot / 2] += busy_ns;
		}
		card->busy.count = (card->busy.count + 1) / 2;
	}
	gpu->slot_ns *= 2;
}

void gpu_busy_add(struct gpu *gpu, uint32_t index, struct gpu_span span)
{
	if (span.end_ns <= span.begin_ns)
		return;
	while (span.end_ns / gpu->slot_ns >= SLOTS_MAX)
		join_slots(gpu);
	struct gpu_card *card = &gpu->cards.items[index];
	uint64_t slot = span.begin_ns / gpu->slot_ns, last = span.end_ns / gpu->slot_ns;
	double density = (double)span.busy_ns / (double)(span.end_ns - span.begin_ns);
	while (card->busy.count <= last)
		vec_push(&card->busy, 0);
	for (; slot <= last; slot++) {
		uint64_t from = slot * gpu->slot_ns, to = from + gpu->slot_ns;
		from = from > span.begin_ns ? from : span.begin_ns;
		to = to < span.end_ns ? to : span.end_ns;
		card->busy.items[slot] += (float)((double)(to - from) * density);
	}
	if (gpu->last_ns == 0 || span.begin_ns < gpu->first_ns)
		gpu->first_ns = span.begin_ns;
	if (span.end_ns > gpu->last_ns)
		gpu->last_ns = span.end_ns;
	gpu_note_memory(gpu, span.end_ns);
}

static float busy_of(const struct gpu *gpu, const struct gpu_card *card, uint32_t slot)
{
	float most = (float)gpu->slot_ns;
	float busy_ns = slot < card->busy.count ? card->busy.items[slot] : 0;
	return busy_ns < most ? busy_ns : most;
}

double gpu_busy_card_s(const struct gpu *gpu, const struct gpu_card *card)
{
	double sum_ns = 0;
	for (uint32_t slot = 0; slot < card->busy.count; slot++)
		sum_ns += (double)busy_of(gpu, card, slot);
	return sum_ns * 1e-9;
}

void gpu_busy_whole(const struct gpu *gpu, struct gpu_busy *whole)
{
	whole->count = 0;
	for (uint32_t i = 0; i < gpu->cards.count; i++) {
		uint32_t count = gpu->cards.items[i].busy.count;
		whole->count = count > whole->count ? count : whole->count;
	}
	whole->slots = mem_zalloc(whole->count, sizeof(*whole->slots));
	for (uint32_t slot = 0; slot < whole->count; slot++) {
		for (uint32_t i = 0; i < gpu->cards.count; i++) {
			float busy_ns = busy_of(gpu, &gpu->cards.items[i], slot);
			if (busy_ns > whole->slots[slot])
				whole->slots[slot] = busy_ns;
		}
	}
}
