/* tables.c - see tables.h.
 *
 * What an entry held is kept in a list of its own, for the way back.  A library
 * may have been unloaded meanwhile and its addresses given to something else:
 * entries are looked for anew, and only one that still holds our function is
 * written to. */
#include "agent/tables.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/agent.h"

#if defined(__x86_64__)
#define IS_ENTRY(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#else
#define IS_ENTRY(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#endif

#define KEPT_MAX 16384u

/* An entry that was changed. */
struct kept {
	void **entry;
	void *before;
};

static struct kept *kept; /* mapped when first needed */
static size_t kept_count;

/* A pass over all libraries. */
struct pass {
	const struct table_hook *hooks;
	size_t count;
	bool is_back;
	size_t changed;
};

/* What the dynamic section of a library says of its tables. */
struct library {
	ElfW(Addr) base;
	const char *strings;
	const ElfW(Sym) *symbols;
	const uint32_t *names; /* DT_GNU_HASH: where a name's symbol is */
	const ElfW(Rela) *calls, *others; /* DT_JMPREL, DT_RELA */
	size_t calls_bytes, others_bytes;
	ElfW(Addr) sealed, sealed_end; /* made read-only after loading (RELRO), whole pages */
	ElfW(Addr) start, end;         /* all of it */
};

static void *entry_before(void **entry)
{
	for (size_t i = 0; i < kept_count; i++) {
		if (kept[i].entry == entry)
			return kept[i].before;
	}
	return NULL;
}

static bool keep(void **entry)
{
	for (size_t i = 0; i < kept_count; i++) {
		if (kept[i].entry == entry) {
			kept[i].before = *entry;
			return true;
		}
	}
	if (kept == NULL)
		kept = agent_map(KEPT_MAX * sizeof(*kept));
	if (kept == NULL || kept_count == KEPT_MAX)
		return false;
	kept[kept_count++] = (struct kept){entry, *entry};
	return true;
}

/* Writes one word; the page is made writable for it where it is not. */
static bool write_entry(const struct library *library, void **entry, void *value)
{
	ElfW(Addr) at = (ElfW(Addr))(uintptr_t)entry;
	long page = sysconf(_SC_PAGESIZE);
	void *start = (void *)(uintptr_t)(at & ~(ElfW(Addr))(page - 1)); /* NOLINT: an address */
	bool is_sealed = at >= library->sealed && at < library->sealed_end;
	if (is_sealed && mprotect(start, (size_t)page, PROT_READ | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(entry, value, __ATOMIC_RELEASE);
	if (is_sealed)
		mprotect(start, (size_t)page, PROT_READ);
	return true;
}

static bool has_address(const struct library *library, const void *place)
{
	ElfW(Addr) at = (ElfW(Addr))(uintptr_t)place;
	return at >= library->start && at < library->end;
}

static bool is_wanted(const struct table_hook *hook, const struct library *library, void **entry)
{
	if (hook->only_in != NULL && !has_address(library, hook->only_in))
		return false;
	return *entry == hook->real || (*entry != hook->ours && has_address(library, *entry));
}

static void visit_entry(struct pass *pass, const struct library *library, void **entry,
			const char *name)
{
	for (size_t i = 0; i < pass->count; i++) {
		const struct table_hook *hook = &pass->hooks[i];
		if (strcmp(hook->name, name) != 0)
			continue;
		if (pass->is_back) {
			void *before = *entry == hook->ours ? entry_before(entry) : NULL;
			if (before != NULL)
				pass->changed += write_entry(library, entry, before);
		} else if (is_wanted(hook, library, entry) && keep(entry)) {
			pass->changed += write_entry(library, entry, hook->ours);
		}
		return;
	}
}

static void visit_table(struct pass *pass, const struct library *library, const ElfW(Rela) *table,
			size_t bytes)
{
	for (size_t i = 0; table != NULL && i < bytes / sizeof(*table); i++) {
		if (!IS_ENTRY(ELF64_R_TYPE(table[i].r_info)))
			continue;
		const ElfW(Sym) *symbol = &library->symbols[ELF64_R_SYM(table[i].r_info)];
		void **entry = (void **)(uintptr_t)(library->base + table[i].r_offset); /* NOLINT */
		visit_entry(pass, library, entry, library->strings + symbol->st_name);
	}
}

/* The loader has made addresses of these, but not in every library (vDSO). */
static const void *address(const struct library *library, ElfW(Addr) value)
{
	return (const void *)(uintptr_t)(value < library->base ? value + library->base : value);
}

static void read_dynamic(struct library *library, const ElfW(Dyn) *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		ElfW(Addr) value = dynamic->d_un.d_ptr;
		switch (dynamic->d_tag) {
		case DT_STRTAB:
			library->strings = address(library, value);
			break;
		case DT_SYMTAB:
			library->symbols = address(library, value);
			break;
		case DT_GNU_HASH:
			library->names = address(library, value);
			break;
		case DT_JMPREL:
			library->calls = address(library, value);
			break;
		case DT_PLTRELSZ:
			library->calls_bytes = value;
			break;
		case DT_RELA:
			library->others = address(library, value);
			break;
		case DT_RELASZ:
			library->others_bytes = value;
			break;
		default:
			break;
		}
	}
}

/* Our own calls stay as they are, and the loader has its own allocator. */
static bool is_left_out(const struct dl_phdr_info *info)
{
	const char *name = info->dlpi_name == NULL ? "" : info->dlpi_name;
	const char *file = strrchr(name, '/');
	file = file == NULL ? name : file + 1;
	return strncmp(file, "ld-", 3) == 0 || strncmp(file, "linux-vdso", 10) == 0 ||
	       strstr(file, "libheatline-agent") != NULL;
}

static struct library read_library(const struct dl_phdr_info *info)
{
	struct library library = {.base = info->dlpi_addr, .start = UINTPTR_MAX};
	ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		ElfW(Addr) at = info->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_LOAD && at < library.start)
			library.start = at;
		if (part->p_type == PT_LOAD && at + part->p_memsz > library.end)
			library.end = at + part->p_memsz;
		if (part->p_type == PT_DYNAMIC)
			read_dynamic(&library, (const ElfW(Dyn) *)(uintptr_t)at); /* NOLINT */
		if (part->p_type == PT_GNU_RELRO) {
			library.sealed = at & ~(page - 1);
			library.sealed_end = (at + part->p_memsz) & ~(page - 1);
		}
	}
	return library;
}

static int visit_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct pass *pass = data;
	(void)size;
	if (is_left_out(info))
		return 0;
	struct library library = read_library(info);
	if (library.strings != NULL && library.symbols != NULL) {
		visit_table(pass, &library, library.calls, library.calls_bytes);
		visit_table(pass, &library, library.others, library.others_bytes);
	}
	return 0;
}

size_t tables_redirect(const struct table_hook *hooks, size_t count)
{
	struct pass pass = {.hooks = hooks, .count = count};
	dl_iterate_phdr(visit_library, &pass);
	return pass.changed;
}

void tables_restore(const struct table_hook *hooks, size_t count)
{
	struct pass pass = {.hooks = hooks, .count = count, .is_back = true};
	dl_iterate_phdr(visit_library, &pass);
	kept_count = 0;
}

/* --- by name --- */

/* How the part of a library that has this address is mapped. */
static int protection_of(const char *base, const void *address)
{
	const ElfW(Ehdr) *head = (const void *)base;
	const ElfW(Phdr) *parts = (const ElfW(Phdr) *)(const void *)(base + head->e_phoff);
	uintptr_t offset = (uintptr_t)address - (uintptr_t)base;
	for (int i = 0; i < head->e_phnum; i++) {
		if (parts[i].p_type == PT_LOAD && offset >= parts[i].p_vaddr &&
		    offset - parts[i].p_vaddr < parts[i].p_memsz)
			return PROT_READ | ((parts[i].p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
			       ((parts[i].p_flags & PF_X) != 0 ? PROT_EXEC : 0);
	}
	return PROT_NONE;
}

bool tables_rename(void *base, ElfW(Sym) *symbol, const void *ours)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	int protection = protection_of(base, symbol);
	void *start = (char *)&symbol->st_value - (uintptr_t)&symbol->st_value % page;
	if (protection == PROT_NONE || mprotect(start, page, protection | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(&symbol->st_value, (ElfW(Addr))ours - (ElfW(Addr))base, __ATOMIC_RELEASE);
	mprotect(start, page, protection);
	return true;
}

static const ElfW(Sym) *find_symbol(const struct library *library, const char *name)
{
	uint32_t hash = 5381; /* these sums and the table's form are the loader's */
	for (const char *letter = name; *letter != '\0'; letter++)
		hash = hash * 33 + (unsigned char)*letter;
	const uint32_t *table = library->names;
	uint32_t bucket_count = table[0], first = table[1], filter_words = table[2];
	const uint32_t *buckets = table + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(*table));
	const uint32_t *chains = buckets + bucket_count;
	for (uint32_t i = buckets[hash % bucket_count]; i >= first; i++) {
		const ElfW(Sym) *symbol = &library->symbols[i];
		if (((chains[i - first] ^ hash) >> 1) == 0 &&
		    strcmp(library->strings + symbol->st_name, name) == 0)
			return symbol;
		if ((chains[i - first] & 1) != 0)
			break;
	}
	return NULL;
}

/* A function that is to be found in the place of another. */
struct replacement {
	const char *name;
	const void *real, *ours;
};

static int replace_in(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct replacement *wanted = data;
	struct library library = read_library(info);
	(void)size;
	if (!has_address(&library, wanted->real))
		return 0;
	if (library.names == NULL || library.strings == NULL || library.symbols == NULL)
		return 1;
	const ElfW(Sym) *symbol = find_symbol(&library, wanted->name);
	if (symbol != NULL && library.base + symbol->st_value == (ElfW(Addr))wanted->real)
		tables_rename((void *)library.base, (ElfW(Sym) *)(uintptr_t)symbol, wanted->ours); /* NOLINT */
	return 1;
}

void tables_replace(const char *name, const void *real, const void *ours)
{
	struct replacement wanted = {name, real, ours};
	if (real != NULL)
		dl_iterate_phdr(replace_in, &wanted);
}
