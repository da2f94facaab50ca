/* live_table.c - see live_table.h. */
#include "collect/live_table.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

#define FIRST_PLACES 64u /* power of two */
#define PROCESS_SHIFT 44

void live_table_init(struct live_table *table)
{
	*table = (struct live_table){.mask = FIRST_PLACES - 1};
	table->items = mem_zalloc(FIRST_PLACES, sizeof(*table->items));
}

void live_table_fini(struct live_table *table)
{
	free(table->items);
}

uint64_t live_key(uint32_t process, uint64_t id)
{
	return (uint64_t)(process + 1) << PROCESS_SHIFT ^ id;
}

bool live_is_of_process(uint64_t key, uint32_t process)
{
	return key >> PROCESS_SHIFT == (uint64_t)process + 1;
}

static uint32_t home_of(const struct live_table *table, uint64_t key)
{
	return (uint32_t)(map_hash_number(key) >> 20) & table->mask;
}

struct live *live_table_find(const struct live_table *table, uint64_t key)
{
	uint32_t at = home_of(table, key);
	while (table->items[at].key != 0 && table->items[at].key != key)
		at = (at + 1) & table->mask;
	return &table->items[at];
}

static void grow(struct live_table *table)
{
	struct live *old = table->items;
	uint32_t old_mask = table->mask;
	table->mask = old_mask * 2 + 1;
	table->items = mem_zalloc((size_t)table->mask + 1, sizeof(*table->items));
	for (uint32_t i = 0; i <= old_mask; i++) {
		if (old[i].key != 0)
			*live_table_find(table, old[i].key) = old[i];
	}
	free(old);
}

struct live *live_table_add(struct live_table *table, struct live entry)
{
	if (table->count * 2 > table->mask)
		grow(table);
	struct live *place = live_table_find(table, entry.key);
	*place = entry;
	table->count++;
	return place;
}

/* Closes the gap, so that searches stay short. */
void live_table_remove(struct live_table *table, struct live *entry)
{
	uint32_t hole = (uint32_t)(entry - table->items);
	uint32_t at = hole;
	table->count--;
	for (;;) {
		at = (at + 1) & table->mask;
		if (table->items[at].key == 0)
			break;
		uint32_t home = home_of(table, table->items[at].key);
		/* It may move back if its home does not lie behind the hole. */
		if (((at - home) & table->mask) < ((at - hole) & table->mask))
			continue;
		table->items[hole] = table->items[at];
		hole = at;
	}
	table->items[hole].key = 0;
}
