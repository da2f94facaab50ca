/* folder.c - see folder.h. */
#include "collect/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "wire/record.h"

/* Shared memory is the program's as well (semaphores, arrays, what workers hand over), and a run may
 * come to need 32 MB there and 2 MB more for each process: of a container's 64 MB too
 * much.  So a place that has plenty comes first; the least is 512 KB, since journal and rings begin
 * with some 300. */
#define PLENTY_BYTES ((uint64_t)192 << 20)
#define ROOM_BYTES ((uint64_t)512 << 10)

unsigned folder_places(const char *places[FOLDER_PLACES])
{
	const char *temporary = getenv("TMPDIR");
	unsigned count = 0;
	places[count++] = "/dev/shm";
	places[count++] = "/tmp";
	if (temporary != NULL && temporary[0] == '/' && strcmp(temporary, "/tmp") != 0 &&
	    strcmp(temporary, "/dev/shm") != 0)
		places[count++] = temporary;
	return count;
}

static struct control *make_control(const char *folder)
{
	char *path = path_join(folder, CONTROL_FILE);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	free(path);
	if (fd < 0)
		return NULL;
	void *page = MAP_FAILED;
	/* Room is taken at once: writing to a mapping without it would kill us. */
	if (fallocate(fd, 0, 0, sizeof(struct control)) == 0)
		page = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int failure = errno;
	close(fd);
	errno = failure;
	return page == MAP_FAILED ? NULL : page;
}

/* Where nobody says how much there is (ramfs), there is enough. */
static bool has_room(const char *place, uint64_t bytes)
{
	struct statvfs disk;
	return statvfs(place, &disk) != 0 || disk.f_blocks == 0 ||
	       (uint64_t)disk.f_bavail * disk.f_frsize >= bytes;
}

/* Makes both in this place, or nothing that stays: NULL with errno set. */
static char *make_in(const char *place, struct control **control)
{
	char *path = path_join(place, FOLDER_PREFIX "XXXXXX");
	if (mkdtemp(path) == NULL) {
		int failure = errno;
		free(path);
		errno = failure;
		return NULL;
	}
	*control = make_control(path);
	if (*control == NULL) {
		int failure = errno;
		folder_remove(path, NULL);
		errno = failure;
		return NULL;
	}
	return path;
}

/* In the first place with plenty, or with room; where none has enough, in the first where it can be made
 * at all: what is lost then is counted and told.  NULL with the best place's errno. */
static char *make_somewhere(struct control **control)
{
	const char *places[FOLDER_PLACES];
	unsigned count = folder_places(places);
	char *path = NULL;
	for (unsigned i = 0; i < 2 * count && path == NULL; i++) {
		if (has_room(places[i % count], i < count ? PLENTY_BYTES : ROOM_BYTES))
			path = make_in(places[i % count], control);
	}
	int failure = 0;
	for (unsigned i = 0; i < count && path == NULL; i++) {
		path = make_in(places[i], control);
		if (path == NULL && failure == 0)
			failure = errno;
	}
	errno = failure;
	return path;
}

int folder_new(char **folder, struct control **control, struct err *err)
{
	struct control *page;
	char *path = make_somewhere(&page);
	if (path == NULL && errno == EFBIG)
		return err_set(err, ERR_SYSTEM, "the limit on the size of files is too small for "
						"heatline's own; raise it with 'ulimit -f'");
	if (path == NULL)
		return err_set_errno(err, errno, "no shared memory can be made in /dev/shm or /tmp");
	page->collector_pid = getpid();
	page->wire_version = WIRE_VERSION;
	page->magic = CONTROL_MAGIC;
	*folder = path;
	*control = page;
	return 0;
}

void folder_remove(char *folder, struct control *control)
{
	if (control != NULL)
		munmap(control, sizeof(*control));
	DIR *entries = folder == NULL ? NULL : opendir(folder);
	if (entries != NULL) {
		struct dirent *entry;
		while ((entry = readdir(entries)) != NULL)
			unlinkat(dirfd(entries), entry->d_name, 0);
		closedir(entries);
		rmdir(folder);
	}
	free(folder);
}

char *folder_agent_path(const char *folder, const char *agent)
{
	if (strpbrk(agent, " :\t\n") == NULL)
		return mem_copy_text(agent);
	char *link = path_join(folder, "agent.so");
	if (symlink(agent, link) != 0) {
		free(link);
		return mem_copy_text(agent);
	}
	return link;
}
