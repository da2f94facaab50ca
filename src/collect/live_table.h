/* live_table.h - the sampled blocks that have not ended, by process and sample.
 *
 * Open addressing, at most half full.  An entry stays where it is until another is added or
 * removed. */
#ifndef HEATLINE_COLLECT_LIVE_TABLE_H
#define HEATLINE_COLLECT_LIVE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_MAX (1u << 19) /* entries; up to 64 bytes each */

struct live {
	uint64_t key; /* live_key; 0: free */
	uint32_t node, line_site, function_site;
	float born_s;  /* later by the time that its thread stood ready since, once that is known */
	float ready_s; /* how long that thread had stood ready in all when it allocated it; below 0: not known */
	float chance_bytes; /* of bytes, what it stands for beyond itself */
	uint64_t bytes : 52;
	uint64_t thread : 11; /* slot of who allocated it */
	uint64_t is_python : 1;
};

struct live_table {
	struct live *items; /* owned; mask + 1 of them */
	uint32_t mask, count;
};

void live_table_init(struct live_table *table);
void live_table_fini(struct live_table *table);

uint64_t live_key(uint32_t process, uint64_t id);
bool live_is_of_process(uint64_t key, uint32_t process);

/* The entry with this key, or the free place where it would be. */
struct live *live_table_find(const struct live_table *table, uint64_t key);

/* Adds one whose key is not there yet, and returns its place. */
struct live *live_table_add(struct live_table *table, struct live entry);

/* Takes an entry out; others may move to its place. */
void live_table_remove(struct live_table *table, struct live *entry);

#endif
