/* maps.c - see maps.h. */
#include "remote/maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define RANGES_MAX 50000u

/* The path's one copy; most ranges have that of the range before. */
static const char *keep_path(struct maps *maps, const char *path)
{
	for (uint32_t i = maps->paths.count; i-- > 0;) {
		if (strcmp(maps->paths.items[i], path) == 0)
			return maps->paths.items[i];
	}
	vec_push(&maps->paths, mem_copy_text(path));
	return maps->paths.items[maps->paths.count - 1];
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
	vec_push(&maps->ranges, ((struct map_range){
		.start = start, .end = end, .offset = offset,
		.is_executable = rights[2] == 'x',
		.path = keep_path(maps, line + name_at),
	}));
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
