/* sources.c - see sources.h. */
#include "collect/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/procfs.h"
#include "base/text.h"
#include "collect/build.h"
#include "profile/model.h"
#include "profile/source.h"

#define FILE_MAX_BYTES ((size_t)1 << 20)
#define ALL_MAX_BYTES ((size_t)4 << 20)

/* A file that is written by the program itself is used at once, as a rule. */
#define OLD_S 2.0

static bool read_state(const char *filename, struct source_state *state)
{
	struct stat info;
	if (stat(filename, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	*state = (struct source_state){
		.device = info.st_dev,
		.inode = info.st_ino,
		.bytes = (uint64_t)info.st_size,
		.changed_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec,
	};
	return true;
}

static bool is_same(const struct source_state *a, const struct source_state *b)
{
	return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
	       a->changed_ns == b->changed_ns;
}

/* --- what ran --- */

/* When the process began, since 1970; 0: it has gone. */
static double birth_s(pid_t pid)
{
	struct timespec up;
	uint64_t ticks = procfs_start(pid);
	if (ticks == 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0)
		return 0;
	double age_s = (double)up.tv_sec + 1e-9 * (double)up.tv_nsec -
		       (double)ticks / (double)sysconf(_SC_CLK_TCK);
	return clock_epoch_s() - age_s;
}

/* A process that was there before the run may have read its files then. */
static double find_began(struct sources *sources, pid_t pid, double start_s)
{
	if (pid != sources->asked_pid || sources->began_s == 0) {
		double born_s = birth_s(pid);
		double began_s = born_s != 0 && born_s < start_s ? born_s : start_s;
		if (sources->began_s == 0 || began_s < sources->began_s)
			sources->began_s = began_s;
		sources->asked_pid = pid;
	}
	return sources->began_s;
}

void sources_meet(struct sources *sources, const char *filename, pid_t pid, double start_s)
{
	bool is_new;
	uint32_t *place = map_bytes_put(&sources->index, filename, strlen(filename), &is_new);
	struct source_copy copy = {.filename = filename};
	if (!is_new || filename[0] != '/' || !read_state(filename, &copy.state))
		return;
	double changed_s = 1e-9 * (double)copy.state.changed_ns;
	copy.is_late = changed_s > find_began(sources, pid, start_s);
	copy.is_old = copy.is_late && clock_epoch_s() - changed_s > OLD_S;
	if (copy.state.bytes <= FILE_MAX_BYTES &&
	    copy.state.bytes + sources->held_bytes <= ALL_MAX_BYTES &&
	    file_read(filename, FILE_MAX_BYTES, &copy.bytes, &copy.size, NULL) == 0)
		sources->held_bytes += copy.size;
	vec_push(&sources->copies, copy);
	*place = sources->copies.count;
}

void sources_fini(struct sources *sources)
{
	for (uint32_t i = 0; i < sources->copies.count; i++)
		free(sources->copies.items[i].bytes);
	vec_free(&sources->copies);
	map_bytes_fini(&sources->index);
}

static const struct source_copy *find(const struct sources *sources, const char *filename)
{
	const uint32_t *place = map_bytes_get(&sources->index, filename, strlen(filename));
	return place != NULL && *place != 0 ? &sources->copies.items[*place - 1] : NULL;
}

char *sources_load(const struct sources *sources, const char *filename, size_t *size)
{
	const struct source_copy *copy = find(sources, filename);
	return copy != NULL && copy->bytes != NULL ? source_decode(copy->bytes, copy->size, size)
						   : source_load(filename, size);
}

/* --- the profile --- */

enum outcome {
	AS_IT_IS, /* nothing to say */
	KEPT,     /* the file is another now; what ran is shown */
	DOUBTFUL, /* maybe not what ran */
	WITHHELD, /* it is not known what ran */
	OUTCOMES,
};

static enum outcome give(const struct source_copy *copy, struct profile_file *file)
{
	struct source_state now;
	bool is_there = read_state(copy->filename, &now);
	bool is_changed = is_there && !is_same(&now, &copy->state);
	if (copy->bytes != NULL)
		file->source = source_decode(copy->bytes, copy->size, &file->source_size);
	else if (!is_changed)
		file->source = source_load(copy->filename, &file->source_size);
	bool is_known = file->source != NULL || !is_there;
	/* A changed file may have been run again, as servers do that reload: figures of two texts. */
	bool is_doubtful = file->source != NULL && (copy->is_late || is_changed);
	if (!is_known || (is_doubtful && !source_agrees(file->source, file->source_size, file))) {
		free(file->source);
		file->source = NULL;
		file->source_size = 0;
		file->is_source_withheld = true;
		return WITHHELD;
	}
	return is_changed ? KEPT : copy->is_old ? DOUBTFUL : AS_IT_IS;
}

/* Files that have the same to be said of them. */
struct said {
	const char *first; /* borrowed */
	uint32_t count;
};

static void warn(struct profile *profile, const struct said *said, const char *what, const char *one,
		 const char *several)
{
	char text[1024], more[64] = "";
	if (said->count == 0)
		return;
	if (said->count > 1)
		snprintf(more, sizeof(more), " and %u other %s", said->count - 1,
			 said->count == 2 ? "file" : "files");
	snprintf(text, sizeof(text), "%.600s%s %s %s; %s", said->first, more,
		 said->count == 1 ? "was" : "were", what, said->count == 1 ? one : several);
	build_warn(profile, text);
}

/* As the program's folder has it. */
static const char *short_name(const struct profile *profile, const char *path)
{
	const char *folder = profile->entrypoint_dir;
	if (folder == NULL || !path_is_inside(path, folder) || strcmp(folder, "/") == 0)
		return path;
	const char *rest = path + strlen(folder);
	return *rest == '/' ? rest + 1 : path;
}

void sources_give(const struct sources *sources, struct profile *profile)
{
	struct said said[OUTCOMES] = {{NULL, 0}};
	for (uint32_t i = 0; i < profile->file_count; i++) {
		struct profile_file *file = &profile->files[i];
		const struct source_copy *copy = find(sources, file->path);
		if (copy == NULL || !file->in_scope || file->line_count == 0 || file->source != NULL)
			continue;
		struct said *same = &said[give(copy, file)];
		if (same->count++ == 0)
			same->first = short_name(profile, file->path);
	}
	warn(profile, &said[KEPT], "changed while the program ran",
	     "its lines are shown as they were before", "their lines are shown as they were before");
	warn(profile, &said[DOUBTFUL], "written after the program had started",
	     "what ran may be an older text than the one shown",
	     "what ran may be older texts than those shown");
	warn(profile, &said[WITHHELD], "changed while the program ran",
	     "its lines are shown without their text", "their lines are shown without their text");
}
