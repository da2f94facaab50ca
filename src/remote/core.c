/* core.c - see core.h. */
#include "remote/core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/starts.h"

#define SEGMENTS_MAX 262144u /* four times what Linux lets a process have */
#define HEAD_BYTES 4096u     /* of a mapped file that are compared */

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

/* ---- the file ---- */

bool core_read_file(const struct core *core, uint64_t offset, void *to, size_t size)
{
	return offset <= core->size && core->size - offset >= size &&
	       pread(core->fd, to, size, (off_t)offset) == (ssize_t)size;
}

static int open_file(struct core *core, const char *path, struct err *err)
{
	struct stat status;

	/* Never wait for somebody's pipe or terminal. */
	core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (core->fd < 0 || fstat(core->fd, &status) != 0)
		return err_set_errno(err, errno, "cannot read '%s'", path);
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is no core file", path);
	core->size = (uint64_t)status.st_size;
	return 0;
}

/* What kind of file it is instead, by its first bytes. */
static int refuse_kind(const unsigned char *head, const char *path, struct err *err)
{
	static const struct {
		const char *bytes, *name, *command;
		size_t size;
	} packed[] = {
		{ "\x28\xb5\x2f\xfd", "zstd", "unzstd", 4 },
		{ "\x04\x22\x4d\x18", "lz4", "unlz4", 4 },
		{ "\xfd""7zXZ", "xz", "unxz", 5 },
		{ "\x1f\x8b", "gzip", "gunzip", 2 },
	};

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		if (memcmp(head, packed[i].bytes, packed[i].size) == 0)
			return err_set(err, ERR_FORMAT, "'%s' is packed with %s; unpack it first: %s '%s'",
				       path, packed[i].name, packed[i].command, path);
	}
	return err_set(err, ERR_FORMAT, "'%s' is no core file", path);
}

static int read_head(const struct core *core, const char *path, Elf64_Ehdr *head, struct err *err)
{
	unsigned char first[EI_NIDENT] = { 0 };

	if (core->size == 0)
		return err_set(err, ERR_FORMAT, "'%s' is empty", path);
	core_read_file(core, 0, first, core->size < sizeof(first) ? (size_t)core->size : sizeof(first));
	if (memcmp(first, ELFMAG, SELFMAG) != 0)
		return refuse_kind(first, path, err);
	if (!core_read_file(core, 0, head, sizeof(*head)))
		return err_set(err, ERR_FORMAT, "'%s' is cut short: it ends in its first bytes", path);
	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
	    head->e_machine != MACHINE)
		return err_set(err, ERR_UNSUPPORTED,
			       "'%s' comes from a machine of another kind; look at it on one like that", path);
	if (head->e_type != ET_CORE)
		return err_set(err, ERR_FORMAT, "'%s' is a program or a library, not a core file", path);
	return 0;
}

/* How many pieces it says to have; beyond 65534 another place says it. */
static uint32_t count_parts(const struct core *core, const Elf64_Ehdr *head)
{
	Elf64_Shdr section;

	if (head->e_phnum != PN_XNUM)
		return head->e_phnum;
	return core_read_file(core, head->e_shoff, &section, sizeof(section)) ? section.sh_info : 0;
}

/* ---- the address space ---- */

/* How many bytes of the piece lie beyond the file's end. */
static uint64_t missing_bytes(const struct core *core, const Elf64_Phdr *part)
{
	if (part->p_offset > core->size)
		return part->p_filesz;
	return part->p_filesz > core->size - part->p_offset ? part->p_filesz - (core->size - part->p_offset)
							     : 0;
}

static void add_segment(struct core *core, const Elf64_Phdr *part)
{
	if (part->p_memsz == 0 || part->p_filesz > part->p_memsz ||
	    part->p_vaddr > UINT64_MAX - part->p_memsz || part->p_filesz > INT64_MAX ||
	    part->p_offset > INT64_MAX - part->p_filesz)
		return;
	vec_push(&core->segments, ((struct core_segment){
		.start = part->p_vaddr, .end = part->p_vaddr + part->p_memsz,
		.offset = part->p_offset, .kept = part->p_filesz,
		.is_executable = (part->p_flags & PF_X) != 0,
	}));
	core->cut_bytes += missing_bytes(core, part);
}

static int read_parts(struct core *core, const char *path, const Elf64_Ehdr *head, struct err *err)
{
	uint32_t count = count_parts(core, head);
	Elf64_Phdr part;
	bool has_notes = false;

	if (count == 0 || count > SEGMENTS_MAX || head->e_phentsize != sizeof(part) ||
	    head->e_phoff > core->size || (core->size - head->e_phoff) / sizeof(part) < count)
		return err_set(err, ERR_FORMAT, "'%s' is cut short or damaged: its headers are not there", path);
	/* The notes last: they need the pieces in order. */
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < count; i++) {
			if (!core_read_file(core, head->e_phoff + (uint64_t)i * sizeof(part), &part,
					    sizeof(part)))
				break;
			if (pass == 0 && part.p_type == PT_LOAD)
				add_segment(core, &part);
			if (pass == 1 && part.p_type == PT_NOTE && !has_notes) {
				core_read_notes(core, part.p_offset, part.p_filesz);
				core->cut_bytes += missing_bytes(core, &part);
				has_notes = true;
			}
		}
		starts_sort(core->segments.items, core->segments.count,
			    sizeof(core->segments.items[0]));
	}
	return 0;
}

const struct core_segment *core_segment_before(const struct core *core, uint64_t addr)
{
	uint32_t count = starts_until(core->segments.items, core->segments.count,
				      sizeof(core->segments.items[0]), addr);

	return count > 0 ? &core->segments.items[count - 1] : NULL;
}

/* ---- mapped files ---- */

/* Opens the file; false when it is not the one that was mapped at start. */
static bool is_same_file(const struct core *core, int fd, const char *path)
{
	unsigned char ours[HEAD_BYTES], theirs[HEAD_BYTES];

	for (uint32_t i = 0; i < core->maps.ranges.count; i++) {
		const struct map_range *range = &core->maps.ranges.items[i];
		const struct core_segment *segment;

		if (range->path != path || range->offset != 0 ||
		    (segment = core_segment_before(core, range->start)) == NULL ||
		    segment->start != range->start || segment->kept < HEAD_BYTES ||
		    !core_read_file(core, segment->offset, theirs, HEAD_BYTES))
			continue;
		return pread(fd, ours, HEAD_BYTES, 0) == (ssize_t)HEAD_BYTES &&
		       memcmp(ours, theirs, HEAD_BYTES) == 0;
	}
	return true; /* the core does not tell */
}

static void open_mapped(struct core *core, struct core_mapped *mapped, const char *path)
{
	struct stat status;

	mapped->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	mapped->state = CORE_FILE_MISSING;
	if (mapped->fd >= 0 && fstat(mapped->fd, &status) == 0 && S_ISREG(status.st_mode))
		mapped->state = is_same_file(core, mapped->fd, path) ? CORE_FILE_SAME : CORE_FILE_OTHER;
	if (mapped->fd >= 0 && mapped->state != CORE_FILE_SAME) {
		close(mapped->fd);
		mapped->fd = -1;
	}
}

static struct core_mapped *find_mapped(struct core *core, const char *path)
{
	uint32_t i = 0;

	while (i < core->maps.paths.count && core->maps.paths.items[i] != path)
		i++;
	if (i == core->maps.paths.count)
		return NULL;
	if (core->mapped[i].state == CORE_FILE_UNKNOWN)
		open_mapped(core, &core->mapped[i], path);
	return &core->mapped[i];
}

enum core_file core_find_file(struct core *core, const char *path)
{
	const struct core_mapped *mapped = find_mapped(core, path);

	return mapped == NULL ? CORE_FILE_MISSING : mapped->state;
}

const char *core_executable(const struct core *core)
{
	const struct map_range *range = core->entry == 0 ? NULL : maps_find(&core->maps, core->entry);

	return range == NULL ? NULL : range->path;
}

/* ---- reading ---- */

/* Copies the first of the bytes at addr that lie in one place; returns how many. */
static size_t read_some(struct core *core, py_addr addr, void *to, size_t size)
{
	const struct core_segment *segment = core_segment_before(core, addr);
	uint64_t place, left = size;
	ssize_t got;

	if (segment != NULL && addr - segment->start < segment->kept) {
		place = addr - segment->start;
		if (left > segment->kept - place)
			left = segment->kept - place;
		got = pread(core->fd, to, left, (off_t)(segment->offset + place));
		return got > 0 ? (size_t)got : 0;
	}
	const struct map_range *range = maps_find(&core->maps, addr);
	const struct core_mapped *mapped = range == NULL ? NULL : find_mapped(core, range->path);
	if (mapped == NULL || mapped->state != CORE_FILE_SAME)
		return 0;
	place = range->offset + (addr - range->start);
	if (left > range->end - addr)
		left = range->end - addr;
	/* A piece that the core has may lie within the file's. */
	const struct core_segment *next = segment == NULL ? core->segments.items : segment + 1;
	if (next < core->segments.items + core->segments.count && left > next->start - addr)
		left = next->start - addr;
	got = place <= INT64_MAX - left ? pread(mapped->fd, to, left, (off_t)place) : 0;
	return got > 0 ? (size_t)got : 0;
}

static bool core_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	unsigned char *to = dst;

	while (size > 0) {
		size_t got = read_some(reader->context, addr, to, size);

		if (got == 0 || addr > UINT64_MAX - got)
			return false;
		addr += got;
		to += got;
		size -= got;
	}
	return true;
}

void core_init_reader(struct core *core, struct mem_reader *reader)
{
	*reader = (struct mem_reader){
		.read = core_read, .read_many = mem_reader_read_each,
		.pid = -1, .pipe_read_fd = -1, .pipe_write_fd = -1, .context = core,
	};
}

const struct core_thread *core_find_thread(const struct core *core, pid_t tid)
{
	for (uint32_t i = 0; i < core->threads.count; i++) {
		if (core->threads.items[i].tid == tid)
			return &core->threads.items[i];
	}
	return NULL;
}

/* ---- the whole ---- */

int core_open(struct core *core, const char *path, const char *root, struct err *err)
{
	Elf64_Ehdr head;
	int status;

	memset(core, 0, sizeof(*core));
	core->fd = -1;
	core->root = root;
	status = open_file(core, path, err);
	if (status == 0)
		status = read_head(core, path, &head, err);
	if (status == 0)
		status = read_parts(core, path, &head, err);
	if (status == 0 && core->threads.count == 0)
		status = err_set(err, ERR_FORMAT, "'%s' is cut short or damaged: it names no thread", path);
	if (status != 0)
		core_close(core);
	else
		core->mapped = mem_zalloc(core->maps.paths.count, sizeof(*core->mapped));
	return status;
}

void core_close(struct core *core)
{
	for (uint32_t i = 0; core->mapped != NULL && i < core->maps.paths.count; i++) {
		if (core->mapped[i].state == CORE_FILE_SAME)
			close(core->mapped[i].fd);
	}
	free(core->mapped);
	core->mapped = NULL;
	vec_free(&core->segments);
	vec_free(&core->threads);
	maps_fini(&core->maps);
	if (core->fd >= 0)
		close(core->fd);
	core->fd = -1;
}
