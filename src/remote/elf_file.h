/* elf_file.h - symbols and sections of a 64-bit ELF file.
 *
 * The file belongs to the target (it may lie in a container that somebody else
 * made), so every offset in it is checked before it is followed.  It is
 * mapped, not read: of an executable of 30 MB some pages are touched. */
#ifndef HEATLINE_REMOTE_ELF_FILE_H
#define HEATLINE_REMOTE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct elf_file {
	const unsigned char *bytes; /* mapped */
	size_t size;
};

/* A piece of the address space that the file describes, before it is moved to
 * where it was loaded. */
struct elf_piece {
	uint64_t address, size;
};

/* Returns 0 or -errno; -ENOEXEC when it is no ELF file of this machine's kind.
 * A file that is cut short while it is mapped would fault; it is kept open for
 * a moment only. */
int elf_open(struct elf_file *elf, const char *path);

/* The same for a file that a process has mapped, as the process sees it; path is what
 * /proc/PID/maps calls it.  One that was replaced or removed since can be opened if it is the
 * executable, or by root (CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; else -EPERM). */
int elf_open_of(struct elf_file *elf, pid_t pid, const char *path);
void elf_close(struct elf_file *elf);

/* Several variables by name, address 0 where there is none; first among those
 * that the loader sees, which survive stripping, then among all. */
void elf_find_symbols(const struct elf_file *elf, const char *const *names, struct elf_piece *found,
		      size_t count);

/* Hands every function of a table of names to found(); those that the loader sees first, then all,
 * so that most come twice.  Returns whether the file has the names of all, which stripping takes
 * away. */
bool elf_each_function(const struct elf_file *elf,
		       void (*found)(void *context, const char *name, struct elf_piece where),
		       void *context);

/* Where in the file lies what is loaded at this address; false when nothing is. */
bool elf_offset_of(const struct elf_file *elf, uint64_t address, uint64_t *offset);

/* The bytes of the file that are loaded at this address; NULL when it does not have so many. */
const unsigned char *elf_loaded(const struct elf_file *elf, uint64_t address, uint64_t size);

/* Goes through the pieces that are loaded from the file and can be written to: begin with *at = 0; false
 * after the last. */
bool elf_next_data(const struct elf_file *elf, uint32_t *at, struct elf_piece *piece);

/* Hands out each place in memory where the loader puts the address of something in the file itself, and
 * that address. */
void elf_each_address(const struct elf_file *elf,
		      void (*found)(void *context, uint64_t place, uint64_t address),
		      void *context);

/* The section of this name; false when there is none. */
bool elf_find_section(const struct elf_file *elf, const char *name, struct elf_piece *piece);

/* The first piece that is loaded: where it lies in the file and in memory,
 * both rounded down to a page. */
bool elf_first_load(const struct elf_file *elf, uint64_t *file_offset, uint64_t *address);

#endif
