/* maps.c - see maps.h. */
#include "remote/maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "base/starts.h"
#include "base/text.h"

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

void maps_sort(struct maps *maps)
{
	starts_sort(maps->ranges.items, maps->ranges.count, sizeof(maps->ranges.items[0]));
}

bool maps_is_nameless(const char *path)
{
	return text_ends_with(path, NAMELESS_MARK);
}

const struct map_range *maps_find(const struct maps *maps, uint64_t address)
{
	uint32_t count = starts_until(maps->ranges.items, maps->ranges.count,
				      sizeof(maps->ranges.items[0]), address);

	return count > 0 && address < maps->ranges.items[count - 1].end ? &maps->ranges.items[count - 1]
									: NULL;
}

static void add_line(struct maps *maps, char *line)
{
	struct procfs_mapping mapping;

	if (procfs_parse_mapping(line, &mapping) && mapping.name[0] == '/')
		maps_add(maps, mapping.start, mapping.end, mapping.offset, mapping.is_executable,
			 mapping.name);
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
