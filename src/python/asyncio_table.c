/* asyncio_table.c - see asyncio_table.h.
 *
 * The files are the user's: sizes and offsets in them are checked before
 * anything is read by them. */
#include "python/asyncio_table.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECTION_NAME ".AsyncioDebug"
#define SECTIONS_MAX 128u

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return offset < 1ull << 40 && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool is_named(int fd, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	char name[sizeof(SECTION_NAME)];

	return section->sh_name < names->sh_size &&
	       read_at(fd, name, sizeof(name), names->sh_offset + section->sh_name) &&
	       memcmp(name, SECTION_NAME, sizeof(name)) == 0;
}

static bool read_section(int fd, uint64_t words[ASYNCIO_TABLE_WORDS])
{
	Elf64_Ehdr head;
	Elf64_Shdr sections[SECTIONS_MAX];

	if (!read_at(fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(sections[0]) ||
	    head.e_shnum > SECTIONS_MAX || head.e_shstrndx >= head.e_shnum ||
	    !read_at(fd, sections, head.e_shnum * sizeof(sections[0]), head.e_shoff))
		return false;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		if (is_named(fd, &sections[head.e_shstrndx], &sections[i]))
			return sections[i].sh_size >= ASYNCIO_TABLE_WORDS * sizeof(words[0]) &&
			       read_at(fd, words, ASYNCIO_TABLE_WORDS * sizeof(words[0]),
				       sections[i].sh_offset);
	}
	return false;
}

/* Whether the module may be in this file. */
static bool is_candidate(const char *path)
{
	const char *name = strrchr(path, '/');

	return name != NULL && (strncmp(name, "/_asyncio.", 10) == 0 ||
				strncmp(name, "/python", 7) == 0 ||
				strncmp(name, "/libpython", 10) == 0);
}

static bool read_file(const char *path, uint64_t words[ASYNCIO_TABLE_WORDS])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && read_section(fd, words);

	if (fd >= 0)
		close(fd);
	return found;
}

static bool read_process_file(pid_t pid, const char *path, uint64_t words[ASYNCIO_TABLE_WORDS])
{
	char rooted[4200];

	/* The process may see another tree of files than we do.  A chroot's files
	 * are named by where they are for us. */
	snprintf(rooted, sizeof(rooted), "/proc/%d/root%s", (int)pid, path);
	return read_file(rooted, words) || read_file(path, words);
}

bool asyncio_table_read(pid_t pid, uint64_t words[ASYNCIO_TABLE_WORDS])
{
	char name[40], line[4200], last[4200] = "";
	FILE *maps;
	bool found = false;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	maps = fopen(name, "re");
	if (maps == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), maps) != NULL) {
		char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (path == NULL || !is_candidate(path) || strcmp(path, last) == 0)
			continue;
		snprintf(last, sizeof(last), "%s", path);
		found = read_process_file(pid, path, words);
	}
	fclose(maps);
	return found;
}

bool asyncio_table_search(char *const *paths, uint32_t count, uint64_t words[ASYNCIO_TABLE_WORDS])
{
	for (uint32_t i = 0; i < count; i++) {
		if (is_candidate(paths[i]) && read_file(paths[i], words))
			return true;
	}
	return false;
}
