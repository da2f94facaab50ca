/* images.c - see images.h. */
#include "collect/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

/* "start-end rights offset device inode name": the range and its name, if it is code.  The line is cut
 * where its name ends.  (sscanf took as long as the kernel to write the lines.) */
static bool parse_line(char *line, struct image_range *range, const char **path)
{
	char *at;
	uint64_t start = strtoull(line, &at, 16);
	if (*at != '-')
		return false;
	uint64_t end = strtoull(at + 1, &at, 16);
	if (strnlen(at, 6) < 6 || at[3] != 'x')
		return false;
	uint64_t offset = strtoull(at + 5, &at, 16);
	for (unsigned words = 0; words < 2; words++) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	at += strspn(at, " ");
	at[strcspn(at, "\n")] = '\0';
	*range = (struct image_range){start, end, offset, kind_of_path(at)};
	*path = at;
	return true;
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
		struct image_range range;
		const char *name;
		if (!parse_line(line, &range, &name))
			continue;
		if (images->interpreter >= range.start && images->interpreter < range.end) {
			range.kind = IMAGE_INTERPRETER;
			if (images->interpreter_path == NULL)
				images->interpreter_path = mem_copy_text(name);
		}
		vec_reserve(images->ranges, images->room, images->count);
		images->ranges[images->count++] = range;
	}
	fclose(maps);
}

static const struct image_range *search(const struct images *images, uint64_t address)
{
	uint32_t low = 0, high = images->count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct image_range *range = &images->ranges[middle];
		if (address < range->start)
			high = middle;
		else if (address >= range->end)
			low = middle + 1;
		else
			return range;
	}
	return NULL;
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
