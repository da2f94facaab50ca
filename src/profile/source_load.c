/* source_load.c - give a profile the sources of its hottest files. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
#include "profile/regions.h"
#include "profile/source.h"

static void keep_regions(struct profile *profile, struct profile_file *file)
{
	struct regions regions;
	regions_find(&regions, file->source, file->source_size);
	for (uint32_t i = 0; i < file->line_count; i++)
		file->lines[i].region = regions_line(&regions, file->lines[i].line);
	free(file->imports);
	file->imports = mem_alloc(regions.import_count * sizeof(*file->imports));
	file->import_count = regions.import_count;
	for (uint32_t i = 0; i < regions.import_count; i++)
		file->imports[i] = profile_intern(profile, regions.imports[i]);
	regions_fini(&regions);
}

static int compare_heat(const void *a, const void *b)
{
	const struct profile_file *left = *(struct profile_file *const *)a;
	const struct profile_file *right = *(struct profile_file *const *)b;
	double left_s = metrics_seconds(&left->self), right_s = metrics_seconds(&right->self);
	if (left_s != right_s)
		return left_s < right_s ? 1 : -1;
	double left_bytes = left->self.alloc_bytes, right_bytes = right->self.alloc_bytes;
	return (left_bytes < right_bytes) - (left_bytes > right_bytes);
}

void source_load_hottest(struct profile *profile, size_t total_bytes)
{
	VEC(struct profile_file *) files = VEC_EMPTY;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		struct profile_file *file = &profile->files[i];
		if (file->in_scope && file->line_count)
			vec_push(&files, file);
	}
	if (files.count)
		qsort(files.items, files.count, sizeof(*files.items), compare_heat);
	size_t held = 0;
	for (uint32_t i = 0; i < files.count && held < total_bytes; i++) {
		struct profile_file *file = files.items[i];
		if (!file->source && !file->is_source_withheld)
			file->source = source_load(file->path, &file->source_size);
		if (!file->source)
			continue;
		held += file->source_size;
		keep_regions(profile, file);
	}
	vec_free(&files);
}
