/* binary.c - look into an executable before it is started.
 *
 * The reference is heatline's own executable: what has the same machine type
 * and the same dynamic linker can load the agent, which was built with it. */
#include "cli/binary.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"

#define MAX_PROGRAM_HEADERS 256

/* What matters of an ELF file. */
struct elf_facts {
	unsigned char class; /* ELFCLASS64 */
	unsigned char order; /* ELFDATA2LSB */
	uint16_t machine;    /* EM_X86_64; only valid when class and order are our own */
	char linker[PATH_MAX]; /* PT_INTERP; "" when static */
};

static bool read_at(int fd, void *data, size_t size, off_t offset)
{
	return pread(fd, data, size, offset) == (ssize_t)size;
}

/* Finds PT_INTERP.  Headers that make no sense are left to exec to refuse. */
static void read_linker(int fd, const ElfW(Ehdr) *header, struct elf_facts *facts)
{
	ElfW(Phdr) part;

	for (unsigned i = 0; i < header->e_phnum && i < MAX_PROGRAM_HEADERS; i++) {
		if (!read_at(fd, &part, sizeof(part), (off_t)(header->e_phoff + i * sizeof(part))))
			return;
		if (part.p_type != PT_INTERP || part.p_filesz >= sizeof(facts->linker))
			continue;
		if (!read_at(fd, facts->linker, part.p_filesz, (off_t)part.p_offset))
			facts->linker[0] = '\0';
		return;
	}
}

/* False when the file is no ELF file or cannot be read. */
static bool read_elf(const char *path, struct elf_facts *facts)
{
	ElfW(Ehdr) header;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_elf = fd >= 0 && read_at(fd, &header, sizeof(header), 0) &&
		      memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;

	memset(facts, 0, sizeof(*facts));
	if (is_elf) {
		facts->class = header.e_ident[EI_CLASS];
		facts->order = header.e_ident[EI_DATA];
		facts->machine = header.e_machine;
		if (facts->class == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
			read_linker(fd, &header, facts);
	}
	if (fd >= 0)
		close(fd);
	return is_elf;
}

static size_t read_head(const char *path, char *head, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t size = fd >= 0 ? read(fd, head, room - 1) : 0;

	if (fd >= 0)
		close(fd);
	if (size < 0)
		size = 0;
	head[size] = '\0';
	return (size_t)size;
}

enum binary_kind binary_kind(const char *path)
{
	char head[SHEBANG_BYTES];
	size_t size = read_head(path, head, sizeof(head));

	if (size >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		return BINARY_ELF;
	return size >= 2 && memcmp(head, "#!", 2) == 0 ? BINARY_SCRIPT : BINARY_OTHER;
}

bool binary_shebang(const char *path, char *interpreter, char *argument)
{
	char head[SHEBANG_BYTES];

	read_head(path, head, sizeof(head));
	if (strncmp(head, "#!", 2) != 0)
		return false;
	head[strcspn(head, "\n")] = '\0';
	char *name = head + 2 + strspn(head + 2, " \t");
	size_t name_size = strcspn(name, " \t\r");
	char *rest = name + name_size + strspn(name + name_size, " \t\r");
	size_t rest_size = strcspn(rest, " \t\r");

	memcpy(interpreter, name, name_size);
	interpreter[name_size] = '\0';
	memcpy(argument, rest, rest_size);
	argument[rest_size] = '\0';
	return name_size > 0;
}

/* Whether the system runs it with other rights than ours, and so without
 * preloading. */
static bool is_privileged(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return false;
	if ((info.st_mode & S_ISUID) && info.st_uid != geteuid())
		return true;
	if ((info.st_mode & S_ISGID) && (info.st_mode & S_IXGRP) && info.st_gid != getegid())
		return true;
	return geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

static int check_elf(const char *path, const struct elf_facts *facts, struct err *err)
{
	struct elf_facts own;
	bool knows_own = read_elf("/proc/self/exe", &own);

	if (knows_own && (facts->class != own.class || facts->order != own.order ||
			  facts->machine != own.machine))
		return err_set(err, ERR_UNSUPPORTED,
			       "'%s' is built for another kind of machine than this heatline; use "
			       "a heatline built for the same one",
			       path);
	if (!facts->linker[0])
		return err_set(err, ERR_UNSUPPORTED,
			       "'%s' is statically linked, so nothing can be preloaded into it; if "
			       "it starts a Python, name that command instead",
			       path);
	if (knows_own && own.linker[0] &&
	    !text_equal(path_basename(own.linker), path_basename(facts->linker)))
		return err_set(err, ERR_UNSUPPORTED,
			       "'%s' uses another C library (%s) than this heatline; use a "
			       "heatline built with the same one",
			       path, path_basename(facts->linker));
	if (is_privileged(path))
		return err_set(err, ERR_PERMISSION,
			       "'%s' runs with rights of its own, and then the system preloads "
			       "nothing; run heatline itself with these rights instead, as in "
			       "'sudo heatline run prog.py'",
			       path);
	return 0;
}

int binary_check(const char *path, struct err *err)
{
	struct elf_facts facts;
	char interpreter[SHEBANG_BYTES], argument[SHEBANG_BYTES];

	if (read_elf(path, &facts))
		return check_elf(path, &facts, err);
	if (!binary_shebang(path, interpreter, argument))
		return 0;
	if (access(interpreter, X_OK) != 0)
		return err_set_errno(err, errno, "cannot run '%s', whose first line names '%s'",
				     path, interpreter);
	if (read_elf(interpreter, &facts))
		return check_elf(interpreter, &facts, err);
	return 0;
}
