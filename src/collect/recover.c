/* recover.c - see recover.h. */
#include "collect/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/descriptors.h"
#include "collect/folder.h"
#include "collect/link.h"

#define WORDS_FILE "command"
#define WORDS_MAX_BYTES ((size_t)4 << 20)
#define SWEEP_AGE_S 60

/* --- the command line --- */

void recover_note_words(const char *folder, char **words)
{
	char *cwd = getcwd(NULL, 0);
	char *path = path_join(folder, WORDS_FILE);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct buf text;
	buf_init(&text, WORDS_MAX_BYTES);
	if (cwd != NULL)
		buf_append(&text, cwd, strlen(cwd) + 1);
	for (char **word = words; *word != NULL; word++)
		buf_append(&text, *word, strlen(*word) + 1);
	bool is_whole = fd >= 0 && cwd != NULL && !buf_is_cut(&text) &&
			write(fd, text.data, text.size) == (ssize_t)text.size;
	if (fd >= 0)
		close(fd);
	if (!is_whole)
		unlink(path);
	buf_fini(&text);
	free(path);
	free(cwd);
}

int recover_words(const struct run_entry *run, char ***words, const char **cwd, struct err *err)
{
	char *path = path_join(run->folder, WORDS_FILE);
	char *text;
	size_t size;
	int status = file_read(path, WORDS_MAX_BYTES, &text, &size, NULL);
	free(path);
	if (status != 0)
		return err_set(err, ERR_FORMAT, "how '%s' was started is not known any more",
			       run->control->program);
	size_t count = 0;
	for (size_t i = 0; i < size; i++)
		count += text[i] == '\0';
	char **list = mem_alloc((count + 1) * sizeof(*list) + size + 1);
	char *copy = (char *)(list + count + 1);
	memcpy(copy, text, size + 1);
	free(text);
	size_t at = 0;
	for (size_t i = 0; i < count; i++) {
		list[i] = copy + at;
		at += strlen(copy + at) + 1;
	}
	list[count] = NULL;
	*cwd = count > 0 ? list[0] : "/";
	if (count > 0)
		memmove(list, list + 1, count * sizeof(*list));
	*words = list;
	return 0;
}

/* --- the profile --- */

/* Only one may recover it: the one that takes the dead collector's place. */
static bool claim(struct control *control)
{
	int32_t dead = atomic_load(&control->collector_pid);
	if (procfs_is_alive(dead, atomic_load(&control->collector_start)) ||
	    !atomic_compare_exchange_strong(&control->collector_pid, &dead, getpid()))
		return false;
	atomic_store(&control->collector_start, procfs_start(getpid()));
	return true;
}

static struct control *map_again(const char *folder)
{
	char *path = path_join(folder, CONTROL_FILE);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return NULL;
	void *page = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

static uint32_t count_living(const char *folder)
{
	uint32_t count = 0;
	DIR *entries = opendir(folder);
	struct dirent *entry;
	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		if (text_starts_with(entry->d_name, RING_FILE_PREFIX))
			count += procfs_is_alive(
				(pid_t)strtol(entry->d_name + strlen(RING_FILE_PREFIX), NULL, 10), 0);
	}
	if (entries != NULL)
		closedir(entries);
	return count;
}

static void collect(const struct run_entry *run, const struct run_options *options,
		    struct run_result *result, struct err *err)
{
	struct link nobody = {{-1, -1}, {-1, -1}};
	struct control *control = map_again(run->folder);
	if (control != NULL)
		collector_run(options, mem_copy_text(run->folder), control, &nobody, result, err);
}

int collect_recover(const struct run_entry *run, const struct run_options *options,
		    struct run_result *result, struct err *err)
{
	*result = (struct run_result){.role = RUN_FRONT, .link_fd = -1};
	uint32_t living = count_living(run->folder);
	pid_t pid = living == 0 ? getpid() : fork();
	if (pid < 0)
		return err_set_errno(err, errno, "no process can be made");
	if (pid > 0 && living != 0) {
		result->still_running = living;
		return 0;
	}
	if (living != 0) {
		result->role = RUN_COLLECTOR;
		setsid();
		descriptors_close_all_but(NULL, 0);
		for (int fd = 0; fd <= STDERR_FILENO; fd++)
			descriptors_silence(fd);
	}
	if (!claim(run->control))
		return err_set(err, ERR_TARGET, "'%s' is being recovered by another heatline",
			       run->control->program);
	collect(run, options, result, err);
	return 0;
}

/* --- what is left over --- */

void recover_discard(const struct run_entry *run)
{
	folder_remove(mem_copy_text(run->folder), NULL);
}

static void sweep_folder(const char *place, const char *name)
{
	struct stat status;
	char *folder = path_join(place, name);
	char *path = path_join(folder, CONTROL_FILE);
	bool is_old = lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
		      status.st_uid == geteuid() && status.st_mtime < time(NULL) - SWEEP_AGE_S;
	bool is_ours = stat(path, &status) == 0 && status.st_size == (off_t)sizeof(struct control);
	free(path);
	if (is_old && !is_ours && count_living(folder) == 0)
		folder_remove(folder, NULL);
	else
		free(folder);
}

void recover_sweep(void)
{
	const char *places[FOLDER_PLACES];
	unsigned count = folder_places(places);
	for (unsigned i = 0; i < count; i++) {
		DIR *entries = opendir(places[i]);
		struct dirent *entry;
		while (entries != NULL && (entry = readdir(entries)) != NULL) {
			if (text_starts_with(entry->d_name, FOLDER_PREFIX) &&
			    strlen(entry->d_name) == strlen(FOLDER_PREFIX "XXXXXX"))
				sweep_folder(places[i], entry->d_name);
		}
		if (entries != NULL)
			closedir(entries);
	}
}
