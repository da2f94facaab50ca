/* images.c - see images.h. */
#include "collect/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "base/starts.h"
#include "base/text.h"
#include "base/vec.h"

#define REREAD_NS 200000000u /* at most five times a second */
#define RANGES_MAX 20000u

void images_init(struct images *images, uint64_t interpreter)
{
	memset(images, 0, sizeof(*images));
	images->interpreter = interpreter;
}

void images_fini(struct images *images)
{
	free(images->ranges);
	free(images->interpreter_path);
}

static enum image_kind kind_of_path(const char *path)
{
	/* Their functions do the interpreter's small chores as well as an
	 * extension's work; the instruction decides which it was.  Our own hooks
	 * stand before the C library's allocators. */
	static const char *const support[] = {"libc.so", "libc-",      "libm.so", "libm-",
					      "ld-",     "libpthread", "ld.so",   "libdl",
					      "libheatline-agent"};
	if (path[0] == '\0')
		return IMAGE_GENERATED;
	if (path[0] == '[')
		return text_starts_with(path, "[vdso") ? IMAGE_SUPPORT : IMAGE_GENERATED;
	if (path[0] != '/')
		return IMAGE_GENERATED;
	const char *name = path_basename(path);
	for (size_t i = 0; i < sizeof(support) / sizeof(support[0]); i++) {
		if (text_starts_with(name, support[i]))
			return IMAGE_SUPPORT;
	}
	return IMAGE_EXTENSION;
}

static void read_maps(struct images *images, pid_t pid)
{
	char path[40], line[4400], room[4096]; /* as much as one read gives */
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	if (maps == NULL)
		return;
	setvbuf(maps, room, _IOFBF, sizeof(room));
	images->count = 0;
	while (fgets(line, sizeof(line), maps) != NULL && images->count < RANGES_MAX) {
		struct procfs_mapping mapping;
		if (!procfs_parse_mapping(line, &mapping) || !mapping.is_executable)
			continue;
		struct image_range range = {mapping.start, mapping.end, mapping.offset,
					    kind_of_path(mapping.name)};
		if (images->interpreter >= range.start && images->interpreter < range.end) {
			range.kind = IMAGE_INTERPRETER;
			if (images->interpreter_path == NULL)
				images->interpreter_path = mem_copy_text(mapping.name);
		}
		vec_reserve(images->ranges, images->room, images->count);
		images->ranges[images->count++] = range;
	}
	fclose(maps);
}

static const struct image_range *search(const struct images *images, uint64_t address)
{
	uint32_t count = starts_until(images->ranges, images->count, sizeof(*images->ranges), address);
	return count > 0 && address < images->ranges[count - 1].end ? &images->ranges[count - 1] : NULL;
}

enum image_kind images_find(struct images *images, pid_t pid, uint64_t address, uint64_t now_ns)
{
	const struct image_range *range = search(images, address);
	if (range == NULL && now_ns >= images->next_read_ns) {
		images->next_read_ns = now_ns + REREAD_NS;
		read_maps(images, pid);
		range = search(images, address);
	}
	return range == NULL ? IMAGE_UNKNOWN : range->kind;
}

uint64_t images_offset(const struct images *images, uint64_t address)
{
	const struct image_range *range = search(images, address);
	return range == NULL ? UINT64_MAX : address - range->start + range->offset;
}
