/* core_notes.c - threads, signal, files and names, from the notes of a core.
 *
 * Notes are gone through one by one; only those that are wanted are read, at
 * most NOTE_BYTES of each.  Structures come as the kernel writes them for this
 * very machine, which core.c has made sure of. */
#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "python/bits.h"
#include "remote/core.h"

#define NOTES_MAX (1u << 20)
#define NOTE_BYTES (8u << 20) /* twice what the kernel writes at most */
#define THREADS_MAX 65536u
#define FILES_MAX 50000u
#define SYSCALL_MAX 1024

/* ---- threads ---- */

#ifdef __x86_64__
/* What a call that was broken off has as its result: it is to be made again, or
 * it says that a signal came. */
static bool is_broken_off(uint64_t result)
{
	int64_t error = -(int64_t)result;

	return error == 4 || (error >= 512 && error <= 516);
}

static void read_registers(const struct elf_prstatus *status, struct core_thread *thread)
{
	struct user_regs_struct registers;

	_Static_assert(sizeof(registers) == sizeof(status->pr_reg), "the registers of a core");
	memcpy(&registers, status->pr_reg, sizeof(registers));
	thread->pthread_id = registers.fs_base;
	thread->is_blocked = registers.orig_rax < SYSCALL_MAX && is_broken_off(registers.rax);
	thread->call = (struct blocked_call){ (long)registers.orig_rax, { registers.rdi, registers.rsi } };
}
#else
/* The first argument of a call is lost with its result, so what a thread
 * waits for is not known. */
static void read_registers(const struct elf_prstatus *status, struct core_thread *thread)
{
	(void)status;
	(void)thread;
}
#endif

/* Signals that make a core; others only mean that a debugger has stopped the
 * process to write one. */
static bool is_deadly(int number)
{
	static const int deadly[] = { SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV,
				      SIGXCPU, SIGXFSZ, SIGSYS, SIGTRAP };

	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		if (deadly[i] == number)
			return true;
	}
	return false;
}

static void read_status(struct core *core, const unsigned char *bytes, size_t size)
{
	struct elf_prstatus status;
	struct core_thread thread = { 0 };

	if (size < sizeof(status) || core->threads.count >= THREADS_MAX)
		return;
	memcpy(&status, bytes, sizeof(status));
	thread.tid = status.pr_pid;
	read_registers(&status, &thread);
	if (core->threads.count == 0) {
		core->pid = status.pr_pid; /* unless another note knows better */
		core->signal = is_deadly(status.pr_cursig) ? status.pr_cursig : 0;
	}
	vec_push(&core->threads, thread);
}

/* More about the signal: where, or from whom. */
static void read_signal(struct core *core, const unsigned char *bytes, size_t size)
{
	if (size < 24 || core->threads.count != 1 || core->signal == 0 ||
	    (int)load_u32(bytes) != core->signal)
		return;
	int code = (int)load_u32(bytes + 8);
	if (code > 0 && code != SI_KERNEL && (core->signal == SIGSEGV || core->signal == SIGBUS)) {
		core->has_address = true;
		core->address = load_u64(bytes + 16);
	} else if (code == SI_USER || code == SI_TKILL) {
		core->sender_pid = (pid_t)load_u32(bytes + 16);
	}
}

/* ---- the process ---- */

static void read_process(struct core *core, const unsigned char *bytes, size_t size)
{
	struct elf_prpsinfo info;

	if (size < sizeof(info))
		return;
	memcpy(&info, bytes, sizeof(info));
	if (info.pr_pid > 0)
		core->pid = info.pr_pid;
	snprintf(core->command, sizeof(core->command), "%.*s", (int)sizeof(info.pr_psargs), info.pr_psargs);
	for (size_t end = strlen(core->command); end > 0 && core->command[end - 1] == ' '; end--)
		core->command[end - 1] = '\0';
}

static void read_vector(struct core *core, const unsigned char *bytes, size_t size)
{
	for (size_t at = 0; size - at >= 16 && load_u64(bytes + at) != AT_NULL; at += 16) {
		if (load_u64(bytes + at) == AT_ENTRY)
			core->entry = load_u64(bytes + at + 8);
	}
}

static bool is_executable_at(const struct core *core, uint64_t start)
{
	const struct core_segment *segment = core_segment_before(core, start);

	return segment != NULL && segment->start == start && segment->is_executable;
}

/* Adds a range of the file of this name, in the root folder if it is there.  A
 * debugger outside of a container writes names as they are for us. */
static void add_file(struct core *core, uint64_t start, uint64_t end, uint64_t offset, const char *name)
{
	char *rooted = core->root == NULL ? NULL : path_join(core->root, name + 1);
	bool is_rooted = rooted != NULL && access(rooted, F_OK) == 0;

	maps_add(&core->maps, start, end, offset, is_executable_at(core, start), is_rooted ? rooted : name);
	free(rooted);
}

/* How many ranges, the unit of offsets, each range's start, end and offset, and
 * then their names. */
static void read_files(struct core *core, const unsigned char *bytes, size_t size)
{
	uint64_t count = size < 16 ? 0 : load_u64(bytes), unit = count == 0 ? 0 : load_u64(bytes + 8);

	if (count > FILES_MAX || (size - 16) / 24 < count || unit == 0 || unit > 1u << 20)
		return;
	const char *name = (const char *)bytes + 16 + count * 24, *end = (const char *)bytes + size;
	for (uint64_t i = 0; i < count; i++) {
		const unsigned char *row = bytes + 16 + i * 24;
		const char *stop = memchr(name, '\0', (size_t)(end - name));
		uint64_t start = load_u64(row), last = load_u64(row + 8), offset = load_u64(row + 16);

		if (stop == NULL)
			break;
		if (*name == '/' && start < last && offset < INT64_MAX / unit)
			add_file(core, start, last, offset * unit, name);
		name = stop + 1;
	}
	maps_sort(&core->maps);
}

/* ---- one after the other ---- */

static const struct {
	uint32_t type;
	void (*read)(struct core *core, const unsigned char *bytes, size_t size);
} kinds[] = {
	{ NT_PRSTATUS, read_status },
	{ NT_SIGINFO, read_signal },
	{ NT_PRPSINFO, read_process },
	{ NT_AUXV, read_vector },
	{ NT_FILE, read_files },
};

static void read_note(struct core *core, uint32_t type, uint64_t offset, uint32_t size)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].type != type || size > NOTE_BYTES)
			continue;
		unsigned char *bytes = mem_alloc(size);

		if (core_read_file(core, offset, bytes, size))
			kinds[i].read(core, bytes, size);
		free(bytes);
	}
}

void core_read_notes(struct core *core, uint64_t offset, uint64_t size)
{
	uint64_t end = size > core->size || offset > core->size - size ? core->size : offset + size;

	for (uint32_t i = 0; i < NOTES_MAX && offset < end; i++) {
		char owner[8] = "";
		Elf64_Nhdr note;

		if (!core_read_file(core, offset, &note, sizeof(note)))
			return;
		uint64_t name = offset + sizeof(note);
		uint64_t body = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		if (note.n_namesz == sizeof("CORE") && core_read_file(core, name, owner, sizeof("CORE")) &&
		    memcmp(owner, "CORE", sizeof("CORE")) == 0)
			read_note(core, note.n_type, body, note.n_descsz);
		offset = body + ((uint64_t)note.n_descsz + 3) / 4 * 4;
	}
}
