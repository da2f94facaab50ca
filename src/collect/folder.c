/* folder.c - see folder.h. */
#include "collect/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "wire/record.h"

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

static char *make_folder(void)
{
	const char *places[FOLDER_PLACES];
	unsigned count = folder_places(places);
	for (unsigned i = 0; i < count; i++) {
		char *path = path_join(places[i], FOLDER_PREFIX "XXXXXX");
		if (mkdtemp(path) != NULL)
			return path;
		free(path);
	}
	return NULL;
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
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

int folder_new(char **folder, struct control **control, struct err *err)
{
	char *path = make_folder();
	if (path == NULL)
		return err_set_errno(err, errno, "no folder for shared memory can be made in "
						 "/dev/shm or /tmp");
	struct control *page = make_control(path);
	if (page == NULL) {
		int status = err_set_errno(err, errno, "no shared memory can be made in '%s'", path);
		folder_remove(path, NULL);
		return status;
	}
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
