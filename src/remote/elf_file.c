/* elf_file.c - see elf_file.h.
 *
 * What must hold: a pointer into the file comes from elf_at(), which knows the
 * file's size. */
#include "remote/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "remote/maps.h"

#define SECTIONS_MAX 4096u
#define SYMBOLS_MAX 4000000u
#define PAGE_BYTES ((uint64_t)sysconf(_SC_PAGESIZE))

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#define RELATIVE R_AARCH64_RELATIVE
#else
#define MACHINE EM_X86_64
#define RELATIVE R_X86_64_RELATIVE
#endif

/* size bytes of the file at offset, or NULL when it does not have them. */
static const void *elf_at(const struct elf_file *elf, uint64_t offset, uint64_t size)
{
	if (offset > elf->size || elf->size - offset < size)
		return NULL;
	return elf->bytes + offset;
}

static const Elf64_Ehdr *head_of(const struct elf_file *elf)
{
	return (const Elf64_Ehdr *)(const void *)elf->bytes;
}

static bool is_elf(const struct elf_file *elf)
{
	const Elf64_Ehdr *head = elf_at(elf, 0, sizeof(*head));

	return head != NULL && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == ELFDATA2LSB &&
	       head->e_machine == MACHINE && head->e_shoff % 8 == 0 && head->e_phoff % 8 == 0;
}

int elf_open(struct elf_file *elf, const char *path)
{
	struct stat status;
	/* Never wait for somebody's pipe or terminal. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
		close(fd);
		return -ENOEXEC;
	}
	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int error = errno;
	close(fd);
	if (bytes == MAP_FAILED)
		return -error;
	*elf = (struct elf_file){ bytes, (size_t)status.st_size };
	if (is_elf(elf))
		return 0;
	elf_close(elf);
	return -ENOEXEC;
}

/* The file behind a range of the process, whatever has its name now. */
static int open_mapped(struct elf_file *elf, pid_t pid, const char *path)
{
	char name[80];
	struct maps maps;
	int status = maps_read(&maps, pid);

	for (uint32_t i = 0; status == 0 && i < maps.ranges.count; i++) {
		const struct map_range *range = &maps.ranges.items[i];

		if (strcmp(range->path, path) != 0)
			continue;
		snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", (int)pid,
			 (unsigned long long)range->start, (unsigned long long)range->end);
		status = elf_open(elf, name);
		maps_fini(&maps);
		return status;
	}
	maps_fini(&maps);
	return status != 0 ? status : -ENOENT;
}

/* A file that has no name any more, replaced by a newer version for instance. */
static int open_nameless(struct elf_file *elf, pid_t pid, const char *path)
{
	char exe[4096], name[40];

	if (!procfs_link(pid, "exe", exe, sizeof(exe)) || strcmp(exe, path) != 0)
		return open_mapped(elf, pid, path);
	snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	return elf_open(elf, name);
}

int elf_open_of(struct elf_file *elf, pid_t pid, const char *path)
{
	char *full = mem_alloc(strlen(path) + 40);
	int status;

	snprintf(full, strlen(path) + 40, "/proc/%d/root%s", (int)pid, path);
	status = elf_open(elf, full);
	free(full);
	/* A chroot's files are named by where they are for us. */
	if (status != 0)
		status = elf_open(elf, path);
	return status != 0 && maps_is_nameless(path) ? open_nameless(elf, pid, path) : status;
}

void elf_close(struct elf_file *elf)
{
	if (elf->bytes != NULL)
		munmap((void *)(uintptr_t)elf->bytes, elf->size);
	*elf = (struct elf_file){ NULL, 0 };
}

/* Section number index, or NULL. */
static const Elf64_Shdr *section_at(const struct elf_file *elf, uint32_t index)
{
	const Elf64_Ehdr *head = head_of(elf);

	if (index >= head->e_shnum || index >= SECTIONS_MAX || head->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	return elf_at(elf, head->e_shoff + (uint64_t)index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

/* The name at offset in a section of strings; "" when there is none. */
static const char *string_at(const struct elf_file *elf, const Elf64_Shdr *strings, uint64_t offset)
{
	const char *at;

	if (strings == NULL || strings->sh_type != SHT_STRTAB || offset >= strings->sh_size)
		return "";
	at = elf_at(elf, strings->sh_offset + offset, strings->sh_size - offset);
	if (at == NULL || memchr(at, '\0', strings->sh_size - offset) == NULL)
		return "";
	return at;
}

/* One table of symbols. */
struct symbols {
	const Elf64_Sym *first;
	uint64_t count;
	const Elf64_Shdr *strings;
};

/* False when the file does not have all of it. */
static bool symbols_of(const struct elf_file *elf, const Elf64_Shdr *table, struct symbols *symbols)
{
	symbols->strings = section_at(elf, table->sh_link);
	symbols->count = table->sh_size / sizeof(Elf64_Sym);
	symbols->first = table->sh_offset % 8 == 0
				 ? elf_at(elf, table->sh_offset, symbols->count * sizeof(Elf64_Sym))
				 : NULL;
	return symbols->strings != NULL && symbols->first != NULL && symbols->count <= SYMBOLS_MAX;
}

static bool is_defined(const Elf64_Sym *symbol, unsigned type)
{
	return symbol->st_value != 0 && symbol->st_shndx != SHN_UNDEF &&
	       ELF64_ST_TYPE(symbol->st_info) == type;
}

/* Looks through one table for the names that have not been found yet. */
static void search_table(const struct elf_file *elf, const Elf64_Shdr *table,
			 const char *const *names, struct elf_piece *found, size_t count)
{
	struct symbols symbols;

	if (!symbols_of(elf, table, &symbols))
		return;
	for (uint64_t i = 0; i < symbols.count; i++) {
		const Elf64_Sym *symbol = &symbols.first[i];

		if (!is_defined(symbol, STT_OBJECT))
			continue;
		const char *name = string_at(elf, symbols.strings, symbol->st_name);

		for (size_t n = 0; n < count; n++) {
			if (found[n].address == 0 && strcmp(names[n], name) == 0)
				found[n] = (struct elf_piece){ symbol->st_value, symbol->st_size };
		}
	}
}

bool elf_each_function(const struct elf_file *elf,
		       void (*found)(void *context, const char *name, struct elf_piece where),
		       void *context)
{
	const Elf64_Shdr *section;
	struct symbols symbols;
	bool has_all = false;

	for (uint32_t i = 0; (section = section_at(elf, i)) != NULL; i++) {
		if ((section->sh_type != SHT_DYNSYM && section->sh_type != SHT_SYMTAB) ||
		    !symbols_of(elf, section, &symbols))
			continue;
		for (uint64_t n = 0; n < symbols.count; n++) {
			const Elf64_Sym *symbol = &symbols.first[n];

			if (!is_defined(symbol, STT_FUNC) || symbol->st_size == 0)
				continue;
			has_all = has_all || section->sh_type == SHT_SYMTAB;
			found(context, string_at(elf, symbols.strings, symbol->st_name),
			      (struct elf_piece){ symbol->st_value, symbol->st_size });
		}
	}
	return has_all;
}

void elf_find_symbols(const struct elf_file *elf, const char *const *names, struct elf_piece *found,
		      size_t count)
{
	static const uint32_t kinds[] = { SHT_DYNSYM, SHT_SYMTAB };

	memset(found, 0, count * sizeof(*found));
	for (size_t kind = 0; kind < 2; kind++) {
		const Elf64_Shdr *section;
		size_t known = 0;

		while (known < count && found[known].address != 0)
			known++;
		for (uint32_t i = 0; known < count && (section = section_at(elf, i)) != NULL; i++) {
			if (section->sh_type == kinds[kind])
				search_table(elf, section, names, found, count);
		}
	}
}

bool elf_find_section(const struct elf_file *elf, const char *name, struct elf_piece *piece)
{
	const Elf64_Shdr *names = section_at(elf, head_of(elf)->e_shstrndx);
	const Elf64_Shdr *section;

	for (uint32_t i = 0; (section = section_at(elf, i)) != NULL; i++) {
		if (strcmp(string_at(elf, names, section->sh_name), name) == 0) {
			*piece = (struct elf_piece){ section->sh_addr, section->sh_size };
			return true;
		}
	}
	return false;
}

/* Part number index of what is loaded, or NULL. */
static const Elf64_Phdr *part_at(const struct elf_file *elf, uint32_t index)
{
	const Elf64_Ehdr *head = head_of(elf);

	if (index >= head->e_phnum || head->e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	return elf_at(elf, head->e_phoff + (uint64_t)index * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
}

bool elf_first_load(const struct elf_file *elf, uint64_t *file_offset, uint64_t *address)
{
	const Elf64_Phdr *part;

	for (uint32_t i = 0; (part = part_at(elf, i)) != NULL; i++) {
		if (part->p_type == PT_LOAD) {
			*file_offset = part->p_offset & ~(PAGE_BYTES - 1);
			*address = part->p_vaddr & ~(PAGE_BYTES - 1);
			return true;
		}
	}
	return false;
}

bool elf_offset_of(const struct elf_file *elf, uint64_t address, uint64_t *offset)
{
	const Elf64_Phdr *part;

	for (uint32_t i = 0; (part = part_at(elf, i)) != NULL; i++) {
		if (part->p_type == PT_LOAD && address >= part->p_vaddr &&
		    address - part->p_vaddr < part->p_filesz) {
			*offset = part->p_offset + (address - part->p_vaddr);
			return true;
		}
	}
	return false;
}

const unsigned char *elf_loaded(const struct elf_file *elf, uint64_t address, uint64_t size)
{
	uint64_t offset;

	return elf_offset_of(elf, address, &offset) ? elf_at(elf, offset, size) : NULL;
}

bool elf_next_data(const struct elf_file *elf, uint32_t *at, struct elf_piece *piece)
{
	const Elf64_Phdr *part;

	while ((part = part_at(elf, (*at)++)) != NULL) {
		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0) {
			*piece = (struct elf_piece){ part->p_vaddr, part->p_filesz };
			return true;
		}
	}
	return false;
}

void elf_each_address(const struct elf_file *elf,
		      void (*found)(void *context, uint64_t place, uint64_t address),
		      void *context)
{
	const Elf64_Shdr *section;

	for (uint32_t i = 0; (section = section_at(elf, i)) != NULL; i++) {
		uint64_t count = section->sh_size / sizeof(Elf64_Rela);
		const Elf64_Rela *places =
			section->sh_type == SHT_RELA && section->sh_offset % 8 == 0
				? elf_at(elf, section->sh_offset, section->sh_size)
				: NULL;

		for (uint64_t n = 0; places != NULL && n < count; n++) {
			if (ELF64_R_TYPE(places[n].r_info) == RELATIVE)
				found(context, places[n].r_offset, (uint64_t)places[n].r_addend);
		}
	}
}
