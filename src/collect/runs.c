/* runs.c - see runs.h.  What is in a folder is another process's word: it has
 * to be ours by owner, and every field is checked before it is used. */
#include "collect/runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/procfs.h"
#include "base/text.h"
#include "collect/folder.h"
#include "wire/record.h"

#define RUNS_MAX 1024u
#define ANCESTORS_MAX 64
#define WRITE_TIMEOUT_NS 30000000000ull
#define WRITE_POLL_NS 5000000

static struct control *map_control(int folder_fd)
{
	struct stat status;
	int fd = openat(folder_fd, CONTROL_FILE, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	void *page = MAP_FAILED;
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    status.st_size == (off_t)sizeof(struct control))
		page = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

static bool is_sound(const struct control *control)
{
	return control->magic == CONTROL_MAGIC && control->wire_version == WIRE_VERSION &&
	       memchr(control->program, 0, sizeof(control->program)) != NULL &&
	       memchr(control->outfile, 0, sizeof(control->outfile)) != NULL;
}

/* Calls for each ring: its process's number. */
static uint32_t each_ring(const char *folder, bool (*is_it)(pid_t pid, pid_t wanted), pid_t wanted)
{
	uint32_t count = 0;
	DIR *entries = opendir(folder);
	struct dirent *entry;
	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		if (text_starts_with(entry->d_name, RING_FILE_PREFIX))
			count += is_it((pid_t)strtol(entry->d_name + strlen(RING_FILE_PREFIX), NULL, 10),
				       wanted);
	}
	if (entries != NULL)
		closedir(entries);
	return count;
}

static bool is_any(pid_t pid, pid_t wanted)
{
	(void)wanted;
	return pid > 0;
}

static bool is_wanted(pid_t pid, pid_t wanted)
{
	return pid == wanted;
}

static void add_run(struct runs *runs, const char *place, const char *name)
{
	char *folder = path_join(place, name);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct control *control = fd < 0 ? NULL : map_control(fd);
	if (fd >= 0)
		close(fd);
	if (control == NULL || !is_sound(control)) {
		if (control != NULL)
			munmap(control, sizeof(*control));
		free(folder);
		return;
	}
	struct run_entry entry = {
		.folder = folder,
		.control = control,
		.is_alive = procfs_is_alive(atomic_load(&control->collector_pid),
					  atomic_load(&control->collector_start)) ||
			    procfs_is_alive(atomic_load(&control->front_pid),
					  atomic_load(&control->front_start)),
		.processes = each_ring(folder, is_any, 0),
	};
	vec_push(&runs->entries, entry);
}

static int by_start(const void *left, const void *right)
{
	const struct run_entry *a = left, *b = right;
	return a->control->start_ns < b->control->start_ns ? -1 : 1;
}

void runs_init(struct runs *runs)
{
	memset(runs, 0, sizeof(*runs));
	const char *places[FOLDER_PLACES];
	unsigned count = folder_places(places);
	for (unsigned i = 0; i < count; i++) {
		DIR *entries = opendir(places[i]);
		struct dirent *entry;
		while (entries != NULL && (entry = readdir(entries)) != NULL &&
		       runs->entries.count < RUNS_MAX) {
			if (text_starts_with(entry->d_name, FOLDER_PREFIX))
				add_run(runs, places[i], entry->d_name);
		}
		if (entries != NULL)
			closedir(entries);
	}
	if (runs->entries.count > 1)
		qsort(runs->entries.items, runs->entries.count, sizeof(*runs->entries.items), by_start);
}

void runs_fini(struct runs *runs)
{
	for (uint32_t i = 0; i < runs->entries.count; i++) {
		free(runs->entries.items[i].folder);
		munmap(runs->entries.items[i].control, sizeof(struct control));
	}
	vec_free(&runs->entries);
}

bool runs_have_lost(const struct runs *runs)
{
	for (uint32_t i = 0; i < runs->entries.count; i++) {
		if (!runs->entries.items[i].is_alive)
			return true;
	}
	return false;
}

static struct run_entry *find_exactly(struct runs *runs, pid_t pid)
{
	for (uint32_t i = 0; i < runs->entries.count; i++) {
		struct run_entry *run = &runs->entries.items[i];
		const struct control *control = run->control;
		if (run->is_alive && (atomic_load(&control->front_pid) == pid ||
				      atomic_load(&control->program_pid) == pid ||
				      atomic_load(&control->collector_pid) == pid ||
				      each_ring(run->folder, is_wanted, pid) > 0))
			return run;
	}
	return NULL;
}

struct run_entry *runs_find(struct runs *runs, pid_t pid)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		struct run_entry *run = find_exactly(runs, pid);
		struct procfs_stat stat;
		if (run != NULL || !procfs_stat(pid, &stat))
			return run;
		pid = stat.parent_pid;
	}
	return NULL;
}

void runs_set_off(struct run_entry *run, bool is_off)
{
	atomic_store(&run->control->is_off, is_off);
}

int runs_write(struct run_entry *run, struct err *err)
{
	struct control *control = run->control;
	if (control->outfile[0] == '\0')
		return err_set(err, ERR_USAGE,
			       "'%s' profiles itself with heatline.start(): its profile is what "
			       "heatline.stop() returns there",
			       control->program);
	uint32_t ticket = atomic_fetch_add(&control->writes_wanted, 1) + 1;
	uint64_t deadline_ns = clock_monotonic_ns() + WRITE_TIMEOUT_NS;
	while ((int32_t)(atomic_load(&control->writes_done) - ticket) < 0) {
		const struct timespec pause = {0, WRITE_POLL_NS};
		if (clock_monotonic_ns() > deadline_ns ||
		    !procfs_is_alive(atomic_load(&control->collector_pid), 0))
			return err_set(err, ERR_TARGET, "the run of '%s' does not answer",
				       control->program);
		nanosleep(&pause, NULL);
	}
	if (atomic_load(&control->is_write_failed) != 0)
		return err_set(err, ERR_SYSTEM, "the profile could not be written to '%s'",
			       control->outfile);
	return 0;
}

void runs_want_show(struct run_entry *run)
{
	struct control *control = run->control;
	uint32_t done = atomic_load(&control->shows_done);
	atomic_compare_exchange_strong(&control->shows_wanted, &done, done + 1);
}

uint32_t runs_shows(const struct run_entry *run)
{
	return atomic_load(&run->control->shows_done);
}

char *runs_show_path(const struct run_entry *run)
{
	return path_join(run->folder, CONTROL_SHOW_FILE);
}

bool runs_is_over(const struct run_entry *run)
{
	const struct control *control = run->control;
	if (procfs_is_alive(atomic_load(&control->collector_pid),
			  atomic_load(&control->collector_start)))
		return false;
	return atomic_load(&control->has_ended) != 0 ||
	       !procfs_is_alive(atomic_load(&control->front_pid), 0);
}
