/* maps.c - see maps.h. */
#include "remote/maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define RANGES_MAX 50000u
#define PATHS_MAX 10000u

/* The path's one copy; most ranges have that of the range before.  NULL: there
 * is no more room. */
static const char *keep_path(struct maps *maps, const char *path)
{
	for (uint32_t i = maps->paths.count; i-- > 0;) {
		if (strcmp(maps->paths.items[i], path) == 0)
			return maps->paths.items[i];
	}
	if (maps->paths.count >= PATHS_MAX)
		return NULL;
	vec_push(&maps->paths, mem_copy_text(path));
	return maps->paths.items[maps->paths.count - 1];
}

void maps_add(struct maps *maps, uint64_t start, uint64_t end, uint64_t offset, bool is_executable,
	      const char *path)
{
	const char *kept = maps->ranges.count < RANGES_MAX ? keep_path(maps, path) : NULL;

	if (kept != NULL)
		vec_push(&maps->ranges, ((struct map_range){ .start = start, .end = end, .offset = offset,
							     .is_executable = is_executable,
							     .path = kept }));
}

static int by_start(const void *left, const void *right)
{
	const struct map_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void maps_sort(struct maps *maps)
{
	if (maps->ranges.count > 0)
		qsort(maps->ranges.items, maps->ranges.count, sizeof(maps->ranges.items[0]), by_start);
}

const struct map_range *maps_find(const struct maps *maps, uint64_t address)
{
	uint32_t low = 0, high = maps->ranges.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (maps->ranges.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < maps->ranges.items[low - 1].end ? &maps->ranges.items[low - 1] : NULL;
}

static void add_line(struct maps *maps, char *line)
{
	unsigned long long start, end, offset;
	char rights[5];
	int name_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, rights, &offset, &name_at) < 4 ||
	    name_at == 0)
		return;
	line[strcspn(line, "\n")] = '\0';
	if (line[name_at] != '/')
		return;
	maps_add(maps, start, end, offset, rights[2] == 'x', line + name_at);
}

int maps_read(struct maps *maps, pid_t pid)
{
	char path[40], line[4400];

	memset(maps, 0, sizeof(*maps));
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *stream = fopen(path, "re");
	if (stream == NULL)
		return -errno;
	errno = 0;
	while (maps->ranges.count < RANGES_MAX && fgets(line, sizeof(line), stream) != NULL)
		add_line(maps, line);
	int error = ferror(stream) ? errno : 0;
	fclose(stream);
	return -error;
}

void maps_fini(struct maps *maps)
{
	for (uint32_t i = 0; i < maps->paths.count; i++)
		free(maps->paths.items[i]);
	vec_free(&maps->paths);
	vec_free(&maps->ranges);
}
