/* store.h - the profiles that are served.
 *
 * A profile is a file, which is read again when it has been replaced (a run in
 * another window; one that is broken then is passed over), or what a running
 * program publishes.  The text is served as it is in the file, so that
 * nothing is lost of what a later version wrote; only Scalene's profiles are
 * turned into ours.
 *
 * Safe to use from several threads. */
#ifndef HEATLINE_SERVE_STORE_H
#define HEATLINE_SERVE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/blob.h"

#define STORE_MAX_PROFILES 2u /* the one that is shown, and one to compare it with */

struct profile;
struct store;

struct store *store_new(void);
void store_free(struct store *store); /* accepts NULL */

/* Adds the profile in a file; its number is how many there were. */
int store_add_file(struct store *store, const char *path, struct err *err);

/* Adds a profile that is published later. */
void store_add_published(struct store *store);

/* The profile's text is now this one, which was allocated and is taken over. */
void store_publish(struct store *store, uint32_t number, char *text, size_t size);

uint32_t store_count(const struct store *store);

/* The text, plain or gzipped, or NULL: no such profile, or nothing published
 * yet.  The caller drops the blob. */
struct blob *store_text(struct store *store, uint32_t number, bool is_gzipped);

/* Calls use with the profile whose text store_text gave last, while nobody else
 * uses the store.  False when there is none. */
bool store_use(struct store *store, uint32_t number,
	       void (*use)(void *closure, const struct profile *profile), void *closure);

/* The absolute path of a file of the profile: the one with this path, or, path
 * NULL, the one with this number, as the text lists them.  The caller frees.
 * NULL: no such file, or it is none on disk ("<string>"). */
char *store_file_path(struct store *store, uint32_t number, uint32_t file, const char *path);

/* The same of a file that still has the text that ran: NULL also when it was written
 * since the run began. */
char *store_source_path(struct store *store, uint32_t number, uint32_t file, const char *path);

#endif
