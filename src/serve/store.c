/* store.c - hold profiles as text, gzipped text and model, each made when asked for. */
#include "serve/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/read.h"
#include "profile/write.h"
#include "serve/gzip.h"

/* What tells whether a file is still the one that was read. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct entry {
	char *path; /* owned; NULL: published */
	struct stamp stamp;
	struct blob *text, *gzip; /* held; NULL: not there, or not made yet */
	struct profile *profile;  /* owned; of text; NULL: not made yet */
};

struct store {
	pthread_mutex_t lock; /* guards all below */
	struct entry entries[STORE_MAX_PROFILES];
	uint32_t count;
};

struct store *store_new(void)
{
	struct store *store = mem_zalloc(1, sizeof(*store));

	pthread_mutex_init(&store->lock, NULL);
	return store;
}

static void forget_text(struct entry *entry)
{
	blob_drop(entry->text);
	blob_drop(entry->gzip);
	profile_free(entry->profile);
	entry->text = entry->gzip = NULL;
	entry->profile = NULL;
}

void store_free(struct store *store)
{
	for (uint32_t i = 0; store && i < store->count; i++) {
		forget_text(&store->entries[i]);
		free(store->entries[i].path);
	}
	if (store)
		pthread_mutex_destroy(&store->lock);
	free(store);
}

static bool take_stamp(const char *path, struct stamp *stamp)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	*stamp = (struct stamp){status.st_dev, status.st_ino, status.st_size, status.st_mtim};
	return true;
}

static bool is_same_stamp(const struct stamp *a, const struct stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Scalene's profile as one of ours, with all of its files. */
static char *rewrite(struct profile **profile, size_t *size)
{
	struct write_options options = WRITE_OPTIONS_DEFAULT;

	options.cpu_percent_threshold = 0;
	options.malloc_threshold = 0;
	char *text = profile_write_text(*profile, &options, size);
	/* The order of the files is that of the new text. */
	profile_free(*profile);
	*profile = profile_read_text(text, *size, "profile", NULL);
	return text;
}

/* Reads the file; on failure the entry is as it was. */
static int load(struct entry *entry, struct err *err)
{
	struct stamp stamp = {0};
	char *text;
	size_t size;

	/* Before reading: a file replaced in between is read again next time. */
	take_stamp(entry->path, &stamp);
	int status = file_read_within(entry->path, READ_MAX_BYTES, FILE_PATIENCE_MS, &text, &size,
				      err);
	if (status)
		return status;
	struct profile *profile = profile_read_text(text, size, entry->path, err);
	if (!profile) {
		free(text);
		entry->stamp = stamp;
		return -ERR_FORMAT;
	}
	if (profile->from_scalene) {
		free(text);
		text = rewrite(&profile, &size);
	}
	forget_text(entry);
	entry->stamp = stamp;
	entry->text = blob_new(text, size);
	entry->profile = profile;
	return 0;
}

int store_add_file(struct store *store, const char *path, struct err *err)
{
	struct entry entry = {.path = mem_copy_text(path)};
	int status = load(&entry, err);

	if (status) {
		free(entry.path);
		return status;
	}
	pthread_mutex_lock(&store->lock);
	store->entries[store->count++] = entry;
	pthread_mutex_unlock(&store->lock);
	return 0;
}

void store_add_published(struct store *store)
{
	pthread_mutex_lock(&store->lock);
	store->entries[store->count++] = (struct entry){.path = NULL};
	pthread_mutex_unlock(&store->lock);
}

void store_publish(struct store *store, uint32_t number, char *text, size_t size)
{
	struct blob *blob = blob_new(text, size);

	pthread_mutex_lock(&store->lock);
	forget_text(&store->entries[number]);
	store->entries[number].text = blob;
	pthread_mutex_unlock(&store->lock);
}

uint32_t store_count(const struct store *store)
{
	return store->count;
}

static void refresh(struct entry *entry)
{
	struct stamp stamp;

	if (entry->path && take_stamp(entry->path, &stamp) &&
	    !is_same_stamp(&stamp, &entry->stamp))
		load(entry, NULL);
}

struct blob *store_text(struct store *store, uint32_t number, bool is_gzipped)
{
	struct blob *found = NULL;

	if (number >= store->count)
		return NULL;
	struct entry *entry = &store->entries[number];
	pthread_mutex_lock(&store->lock);
	refresh(entry);
	if (is_gzipped && entry->text && !entry->gzip) {
		size_t size;
		char *gzip = gzip_compress(entry->text->data, entry->text->size, &size);

		entry->gzip = gzip ? blob_new(gzip, size) : NULL;
	}
	found = is_gzipped ? entry->gzip : entry->text;
	if (found)
		blob_hold(found);
	pthread_mutex_unlock(&store->lock);
	return found;
}

bool store_use(struct store *store, uint32_t number,
	       void (*use)(void *closure, const struct profile *profile), void *closure)
{
	if (number >= store->count)
		return false;
	struct entry *entry = &store->entries[number];
	pthread_mutex_lock(&store->lock);
	if (!entry->profile && entry->text)
		entry->profile =
			profile_read_text(entry->text->data, entry->text->size, "profile", NULL);
	const struct profile *profile = entry->profile;
	if (profile)
		use(closure, profile);
	pthread_mutex_unlock(&store->lock);
	return profile != NULL;
}

struct file_query {
	uint32_t file;
	const char *wanted; /* NULL: by number */
	char *path;         /* the caller's */
	double start_s;     /* when the run began, since 1970; 0: not known */
};

static void find_path(void *closure, const struct profile *profile)
{
	struct file_query *query = closure;
	const struct profile_file *file = NULL;

	if (query->wanted)
		file = profile_find_file(profile, query->wanted);
	else if (query->file < profile->file_count)
		file = &profile->files[query->file];
	if (file && file->path[0] == '/')
		query->path = mem_copy_text(file->path);
	query->start_s = profile->start_time_epoch_s;
}

char *store_file_path(struct store *store, uint32_t number, uint32_t file, const char *path)
{
	struct file_query query = {.file = file, .wanted = path};

	store_use(store, number, find_path, &query);
	return query.path;
}

char *store_source_path(struct store *store, uint32_t number, uint32_t file, const char *path)
{
	struct file_query query = {.file = file, .wanted = path};
	struct stat info;

	store_use(store, number, find_path, &query);
	if (query.path && query.start_s > 0 && stat(query.path, &info) == 0 &&
	    (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec > query.start_s) {
		free(query.path);
		query.path = NULL;
	}
	return query.path;
}
