/* mappings.c - see mappings.h. */
#include "collect/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define CHANGE_BYTES (512.0 * 1024) /* so much more or less resident memory is worth a look */
#define COST_SHARE 200u             /* a look is paid for by so many times its own CPU time */

#define ENTRY_PRESENT (1ull << 63) /* of /proc/PID/pagemap */
#define ENTRY_SWAPPED (1ull << 62)
#define CHUNK_PAGES 4096u

void growth_add(struct growth *growth, uint32_t node, double bytes)
{
	bool is_same = growth->count > 0 && growth->at[growth->count - 1].node == node;
	if (!is_same && growth->count < GROWTH_PLACES) {
		growth->at[growth->count].node = node;
		growth->at[growth->count++].bytes = 0;
	}
	growth->at[growth->count - 1].bytes += bytes;
}

void mappings_begin(struct mappings *mappings, struct mapping mapping)
{
	vec_push(&mappings->list, mapping);
}

struct mapping *mappings_find(struct mappings *mappings, uint64_t id)
{
	for (uint32_t i = 0; i < mappings->list.count; i++) {
		if (mappings->list.items[i].id == id)
			return &mappings->list.items[i];
	}
	return NULL;
}

void mappings_end(struct mappings *mappings, uint64_t id)
{
	struct mapping *mapping = mappings_find(mappings, id);
	if (mapping == NULL)
		return;
	vec_free(&mapping->parts);
	*mapping = mappings->list.items[--mappings->list.count];
}

void mappings_fini(struct mappings *mappings)
{
	for (uint32_t i = 0; i < mappings->list.count; i++)
		vec_free(&mappings->list.items[i].parts);
	vec_free(&mappings->list);
}

struct mapping *mappings_change(struct mappings *mappings, const struct record_mapping *record)
{
	for (uint32_t i = 0; i < mappings->list.count; i++) {
		struct mapping *mapping = &mappings->list.items[i];
		if (mapping->address != record->was_at)
			continue;
		mapping->address = record->address;
		mapping->size = record->size;
		return mapping;
	}
	return NULL;
}

bool mappings_are_due(const struct mappings *mappings, double resident_bytes, uint64_t now_ns)
{
	double change = resident_bytes - mappings->looked_bytes;
	return mappings->list.count > 0 && now_ns >= mappings->next_ns &&
	       (change >= CHANGE_BYTES || change <= -CHANGE_BYTES);
}

/* From Linux 6.7 on the kernel walks past what is empty; our headers may be older. */
struct scan {
	uint64_t size, flags;
	uint64_t start, end, walk_end;
	uint64_t regions, region_count, max_pages;
	uint64_t inverted, mask, any_of, returned;
};
struct scan_region {
	uint64_t start, end, categories;
};
#define SCAN_REGIONS 256u
#define SCAN _IOWR('f', 16, struct scan)
#define SCAN_PRESENT (1u << 3)
#define SCAN_SWAPPED (1u << 4)
#define SCAN_ZERO (1u << 5) /* read, but never written to */

/* -1: ask otherwise; 0: nothing is told. */
static int scan(int fd, uint64_t address, uint64_t size, uint64_t *found)
{
	struct scan_region regions[SCAN_REGIONS];
	struct scan ask = {.size = sizeof(ask), .start = address, .end = address + size,
			   .regions = (uint64_t)(uintptr_t)regions, .region_count = SCAN_REGIONS,
			   .inverted = SCAN_ZERO, .mask = SCAN_ZERO,
			   .any_of = SCAN_PRESENT | SCAN_SWAPPED,
			   .returned = SCAN_PRESENT | SCAN_SWAPPED};
	*found = 0;
	while (ask.start < ask.end) {
		int count = ioctl(fd, SCAN, &ask);
		if (count < 0)
			return errno == ENOTTY || errno == EINVAL ? -1 : 0;
		for (int i = 0; i < count; i++)
			*found += regions[i].end - regions[i].start;
		if (ask.walk_end <= ask.start)
			return 0;
		ask.start = ask.walk_end;
	}
	return 1;
}

/* Of a part that is no longer mapped nothing is resident; of a process that is gone
 * nothing is told. */
static bool count_pages(int fd, uint64_t first, uint64_t count, uint64_t *found)
{
	uint64_t entries[CHUNK_PAGES];
	*found = 0;
	while (count > 0) {
		uint64_t wanted = count < CHUNK_PAGES ? count : CHUNK_PAGES;
		ssize_t got = pread(fd, entries, wanted * sizeof(entries[0]),
				    (off_t)(first * sizeof(entries[0])));
		if (got < (ssize_t)sizeof(entries[0]))
			return false;
		uint64_t read = (uint64_t)got / sizeof(entries[0]);
		for (uint64_t i = 0; i < read; i++)
			*found += (entries[i] & (ENTRY_PRESENT | ENTRY_SWAPPED)) != 0;
		first += read;
		count -= read;
	}
	return true;
}

/* fd -1: we may not know; then it is as much as there can be. */
static bool find_resident(int fd, const struct mapping *mapping, uint64_t *bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages;
	uint64_t count = (mapping->size + page - 1) / page;
	*bytes = mapping->size;
	if (fd < 0)
		return true;
	int scanned = scan(fd, mapping->address, count * page, bytes);
	if (scanned >= 0)
		return scanned > 0;
	if (!count_pages(fd, mapping->address / page, count, &pages))
		return false;
	*bytes = pages * page;
	return true;
}

static void look_at_all(struct mappings *mappings, int fd)
{
	for (uint32_t i = 0; i < mappings->list.count; i++) {
		struct mapping *mapping = &mappings->list.items[i];
		mapping->is_seen = find_resident(fd, mapping, &mapping->seen_bytes);
		mapping->seen_ns = clock_monotonic_ns();
	}
}

void mappings_look(struct mappings *mappings, pid_t pid, double resident_bytes, uint32_t main_node)
{
	char path[40];
	uint64_t begin_ns = clock_thread_cpu_ns();
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || errno == EACCES || errno == EPERM)
		look_at_all(mappings, fd);
	if (fd >= 0)
		close(fd);
	if (mappings->grown.count == 0)
		growth_add(&mappings->grown, main_node, 1);
	mappings->seen = mappings->grown;
	mappings->grown.count = 0;
	mappings->looked_bytes = resident_bytes;
	mappings->next_ns = clock_monotonic_ns() + (clock_thread_cpu_ns() - begin_ns) * COST_SHARE;
}
