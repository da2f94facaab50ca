/* runs.c - the profiles that a session knows. */
#include "mcp/runs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/read.h"

void known_runs_init(struct known_runs *runs)
{
	*runs = (struct known_runs){.items = mem_zalloc(RUNS_MAX, sizeof(*runs->items))};
}

void known_runs_fini(struct known_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++) {
		free(runs->items[i].path);
		profile_free(runs->items[i].profile);
	}
	free(runs->items);
	*runs = (struct known_runs){.count = 0};
}

/* The number of the profile at this path, from 1, made when it is new; 0 with the sentence
 * when there are too many. */
static uint32_t add_run(struct known_runs *runs, const char *path, struct err *err)
{
	char *full = realpath(path, NULL);
	const char *name = full ? full : path;
	uint32_t number = 0;
	for (uint32_t i = 0; i < runs->count && !number; i++)
		number = strcmp(runs->items[i].path, name) == 0 ? i + 1 : 0;
	if (!number && runs->count < RUNS_MAX) {
		runs->items[runs->count].path = mem_copy_text(name);
		number = ++runs->count;
	} else if (!number) {
		err_set(err, ERR_TOO_LARGE, "this session knows %u profiles already, and no more fit",
			RUNS_MAX);
	}
	free(full);
	return number;
}

/* "run-3" is 3; 0: no handle. */
static uint32_t parse_handle(const struct known_runs *runs, const char *word)
{
	char *end;
	if (!text_starts_with(word, "run-") || word[4] < '1' || word[4] > '9')
		return 0;
	unsigned long number = strtoul(word + 4, &end, 10);
	return *end == '\0' && number <= runs->count ? (uint32_t)number : 0;
}

static void drop_oldest(struct known_runs *runs)
{
	struct known_run *oldest = NULL;
	uint32_t loaded = 0;
	for (uint32_t i = 0; i < runs->count; i++) {
		struct known_run *run = &runs->items[i];
		if (!run->profile)
			continue;
		loaded++;
		if (!oldest || run->used < oldest->used)
			oldest = run;
	}
	if (loaded < RUNS_MAX_LOADED)
		return;
	profile_free(oldest->profile);
	oldest->profile = NULL;
}

static bool is_current(const struct known_run *run, const struct stat *now)
{
	return run->profile && run->size == now->st_size &&
	       run->modified.tv_sec == now->st_mtim.tv_sec &&
	       run->modified.tv_nsec == now->st_mtim.tv_nsec;
}

const struct profile *known_runs_get(struct known_runs *runs, const char *word, uint32_t *number,
				     struct err *err)
{
	struct stat now;
	uint32_t found = parse_handle(runs, word);
	if (!found && text_starts_with(word, "run-") && stat(word, &now) != 0) {
		err_set(err, ERR_NOT_FOUND, "there is no '%.40s' in this session; list_runs names those "
					    "that there are", word);
		return NULL;
	}
	const char *path = found ? runs->items[found - 1].path : word;
	bool is_there = stat(path, &now) == 0;
	if (is_there && !S_ISREG(now.st_mode)) {
		/* A pipe would hold the server until somebody writes to it. */
		err_set(err, ERR_USAGE, "'%.200s' is not a file", path);
		return NULL;
	}
	if (found && is_there && is_current(&runs->items[found - 1], &now)) {
		runs->items[found - 1].used = ++runs->clock;
		*number = found;
		return runs->items[found - 1].profile;
	}
	struct profile *profile = profile_read(path, err);
	if (profile && !found)
		found = add_run(runs, path, err);
	if (!profile || !found) {
		profile_free(profile);
		return NULL;
	}
	struct known_run *run = &runs->items[found - 1];
	profile_free(run->profile);
	run->profile = NULL;
	drop_oldest(runs);
	*run = (struct known_run){.path = run->path, .profile = profile, .modified = now.st_mtim,
				  .size = now.st_size, .used = ++runs->clock};
	*number = found;
	return profile;
}
