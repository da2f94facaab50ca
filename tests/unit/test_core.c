/* test_core.c - a core made by hand: whole, cut at every length, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <elf.h>
#include <signal.h>
#include <sys/procfs.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "base/file.h"
#include "remote/core.h"

#define PAGE 4096u
#define FILE_AT 0x10000u  /* two pages of a file, of which the core has the first */
#define HEAP_AT 0x20000u  /* a page of its own */
#define PARTS 4u
#define NOTES_AT (sizeof(Elf64_Ehdr) + PARTS * sizeof(Elf64_Phdr))

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

struct made {
	unsigned char bytes[8 * PAGE];
	size_t size, notes_end;
	char core[40], mapped[40]; /* where they are */
};

static void put(struct made *made, const void *bytes, size_t size)
{
	assert_true(made->size + size <= sizeof(made->bytes));
	memcpy(made->bytes + made->size, bytes, size);
	made->size += size;
}

static void put_note(struct made *made, uint32_t type, const void *bytes, size_t size)
{
	Elf64_Nhdr note = { 5, (Elf64_Word)size, type };

	put(made, &note, sizeof(note));
	put(made, "CORE\0\0\0", 8);
	put(made, bytes, size);
	made->size = (made->size + 3) / 4 * 4;
}

static void put_thread(struct made *made, pid_t tid, int number, long call)
{
	struct elf_prstatus status = { .pr_cursig = (short)number, .pr_pid = tid };
#ifdef __x86_64__
	struct user_regs_struct registers = { .fs_base = 0x7000u + (unsigned)tid, .rdi = 17,
					      .orig_rax = (unsigned long)call,
					      .rax = call < 0 ? 0 : (unsigned long)-514 };

	memcpy(status.pr_reg, &registers, sizeof(registers));
#endif
	put_note(made, NT_PRSTATUS, &status, sizeof(status));
}

static void put_notes(struct made *made)
{
	struct elf_prpsinfo info = { .pr_pid = 77, .pr_psargs = "python prog.py  " };
	uint64_t vector[] = { AT_ENTRY, FILE_AT + 10, AT_NULL, 0 };
	uint64_t files[] = { 1, PAGE, FILE_AT, FILE_AT + 2 * PAGE, 0 };
	unsigned char note[sizeof(files) + sizeof(made->mapped)];
	siginfo_t signal_info = { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR };

	signal_info.si_addr = (void *)0x18;
	memcpy(note, files, sizeof(files));
	memcpy(note + sizeof(files), made->mapped, sizeof(made->mapped));
	put_thread(made, 78, SIGSEGV, -1);
	put_note(made, NT_PRPSINFO, &info, sizeof(info));
	put_note(made, NT_SIGINFO, &signal_info, sizeof(signal_info));
	put_note(made, NT_AUXV, vector, sizeof(vector));
	put_note(made, NT_FILE, note, sizeof(files) + strlen(made->mapped) + 1);
	put_thread(made, 77, 0, SYS_read);
}

/* Pages of the letters a (file, kept), b (file, left out), c (heap). */
static void make(struct made *made)
{
	Elf64_Ehdr head = { .e_type = ET_CORE, .e_machine = MACHINE, .e_phoff = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = PARTS };
	Elf64_Phdr parts[PARTS] = {
		{ .p_type = PT_LOAD, .p_vaddr = HEAP_AT, .p_filesz = PAGE, .p_memsz = PAGE },
		{ .p_type = PT_NOTE, .p_offset = NOTES_AT },
		{ .p_type = PT_LOAD, .p_vaddr = FILE_AT, .p_filesz = PAGE, .p_memsz = PAGE },
		{ .p_type = PT_LOAD, .p_vaddr = FILE_AT + PAGE, .p_memsz = PAGE, .p_flags = PF_X },
	};
	unsigned char page[PAGE];
	char mapped[2 * PAGE];
	int fd;

	memset(made, 0, sizeof(*made));
	snprintf(made->core, sizeof(made->core), "/tmp/heatline-core-XXXXXX");
	snprintf(made->mapped, sizeof(made->mapped), "/tmp/heatline-file-XXXXXX");
	fd = mkstemp(made->core);
	assert_true(fd >= 0 && close(fd) == 0);
	fd = mkstemp(made->mapped);
	assert_true(fd >= 0 && close(fd) == 0);
	memset(mapped, 'a', PAGE);
	memset(mapped + PAGE, 'b', PAGE);
	assert_int_equal(file_write(made->mapped, mapped, sizeof(mapped), NULL), 0);
	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	made->size = NOTES_AT;
	put_notes(made);
	made->notes_end = made->size;
	parts[1].p_filesz = made->size - NOTES_AT;
	parts[2].p_offset = made->size;
	memset(page, 'a', PAGE);
	put(made, page, PAGE);
	parts[0].p_offset = made->size;
	memset(page, 'c', PAGE);
	put(made, page, PAGE);
	memcpy(made->bytes, &head, sizeof(head));
	memcpy(made->bytes + sizeof(head), parts, sizeof(parts));
}

static void unmake(struct made *made)
{
	unlink(made->core);
	unlink(made->mapped);
}

static int open_bytes(struct made *made, const unsigned char *bytes, size_t size, struct core *core,
		      struct err *err)
{
	assert_int_equal(file_write(made->core, bytes, size, NULL), 0);
	return core_open(core, made->core, NULL, err);
}

static bool reads(const struct mem_reader *reader, py_addr addr, const char *expected)
{
	char text[32] = "";

	return reader->read(reader, addr, text, strlen(expected)) && strcmp(text, expected) == 0;
}

static void test_whole(void **unused)
{
	(void)unused;
	struct made made;
	struct mem_reader reader;
	struct core core;
	struct err err;

	make(&made);
	assert_int_equal(open_bytes(&made, made.bytes, made.size, &core, &err), 0);
	core_init_reader(&core, &reader);
	assert_int_equal(core.pid, 77);
	assert_string_equal(core.command, "python prog.py");
	assert_int_equal(core.signal, SIGSEGV);
	assert_true(core.has_address && core.address == 0x18);
	assert_int_equal(core.threads.items[0].tid, 78);
	assert_int_equal(core.cut_bytes, 0);
	assert_string_equal(core_executable(&core), made.mapped);
	const struct core_thread *reading = core_find_thread(&core, 77);
#ifdef __x86_64__
	assert_true(reading->is_blocked && reading->call.number == SYS_read);
	assert_int_equal(reading->call.arguments[0], 17);
	assert_int_equal(reading->pthread_id, 0x7000 + 77);
	assert_false(core.threads.items[0].is_blocked);
#endif
	assert_non_null(reading);
	assert_true(reads(&reader, HEAP_AT, "cccc"));
	assert_true(reads(&reader, FILE_AT + PAGE - 2, "aabb")); /* half of it from the file */
	assert_false(reads(&reader, HEAP_AT + PAGE - 2, "cccc"));
	assert_false(reads(&reader, FILE_AT - 2, "aaaa"));
	assert_false(reads(&reader, UINT64_MAX - 1, "aaaa"));
	core_close(&core);
	unmake(&made);
}

/* Another file under the same name: nothing is read from it. */
static void test_other_file(void **unused)
{
	(void)unused;
	struct made made;
	struct mem_reader reader;
	struct core core;
	char other[2 * PAGE];

	make(&made);
	memset(other, 'x', sizeof(other));
	assert_int_equal(file_write(made.mapped, other, sizeof(other), NULL), 0);
	assert_int_equal(open_bytes(&made, made.bytes, made.size, &core, NULL), 0);
	core_init_reader(&core, &reader);
	assert_int_equal(core_find_file(&core, core_executable(&core)), CORE_FILE_OTHER);
	assert_true(reads(&reader, FILE_AT, "aaaa"));
	assert_false(reads(&reader, FILE_AT + PAGE, "xxxx"));
	core_close(&core);
	unlink(made.mapped);
	assert_int_equal(open_bytes(&made, made.bytes, made.size, &core, NULL), 0);
	assert_int_equal(core_find_file(&core, core_executable(&core)), CORE_FILE_MISSING);
	core_close(&core);
	unmake(&made);
}

static void look_everywhere(struct core *core)
{
	struct mem_reader reader;
	char bytes[64];

	core_init_reader(core, &reader);
	for (uint64_t at = 0; at < 0x40000; at += 0x7f0)
		reader.read(&reader, at, bytes, sizeof(bytes));
	core_executable(core);
	core_find_thread(core, 77);
}

static void test_cut(void **unused)
{
	(void)unused;
	struct made made;
	struct mem_reader reader;
	struct core core;
	struct err err;

	make(&made);
	for (size_t size = 0; size < made.size; size += size < made.notes_end ? 1 : 97) {
		if (open_bytes(&made, made.bytes, size, &core, &err) != 0) {
			assert_non_null(strstr(err.message, made.core));
			continue;
		}
		look_everywhere(&core);
		core_init_reader(&core, &reader);
		assert_false(reads(&reader, HEAP_AT + PAGE - 4, "cccc"));
		assert_true(core.cut_bytes > 0);
		core_close(&core);
	}
	unmake(&made);
}

static void test_damaged(void **unused)
{
	(void)unused;
	struct made made;
	struct core core;
	uint64_t state = 1;

	make(&made);
	unsigned char *bytes = malloc(made.size);
	for (int i = 0; i < 1500; i++) {
		memcpy(bytes, made.bytes, made.size);
		for (int b = 0; b < 1 + i % 4; b++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			bytes[(state >> 33) % made.notes_end] = (unsigned char)(i % 3 ? state >> 20 : 255);
		}
		if (open_bytes(&made, bytes, made.size, &core, NULL) == 0) {
			look_everywhere(&core);
			core_close(&core);
		}
	}
	free(bytes);
	unmake(&made);
}

static void expect_refused(struct made *made, const void *bytes, size_t size, const char *words)
{
	struct core core;
	struct err err;

	assert_true(open_bytes(made, bytes, size, &core, &err) < 0);
	if (strstr(err.message, words) == NULL)
		fail_msg("'%s' is not in: %s", words, err.message);
}

static void test_refused(void **unused)
{
	(void)unused;
	struct made made;
	struct core core;
	struct err err;
	Elf64_Ehdr head;

	make(&made);
	expect_refused(&made, "", 0, "is empty");
	expect_refused(&made, "hello", 5, "is no core file");
	expect_refused(&made, "\x28\xb5\x2f\xfd....", 8, "unzstd");
	expect_refused(&made, "\x1f\x8b....", 6, "gunzip");
	expect_refused(&made, made.bytes, 40, "cut short");
	expect_refused(&made, made.bytes, sizeof(head) + 10, "headers are not there");
	expect_refused(&made, made.bytes, NOTES_AT, "names no thread");
	memcpy(&head, made.bytes, sizeof(head));
	head.e_machine = EM_S390;
	memcpy(made.bytes, &head, sizeof(head));
	expect_refused(&made, made.bytes, made.size, "another kind");
	head.e_machine = MACHINE;
	head.e_type = ET_EXEC;
	memcpy(made.bytes, &head, sizeof(head));
	expect_refused(&made, made.bytes, made.size, "not a core file");
	head.e_type = ET_CORE;
	head.e_phnum = PN_XNUM;
	memcpy(made.bytes, &head, sizeof(head));
	expect_refused(&made, made.bytes, made.size, "headers are not there");
	assert_true(core_open(&core, "/nowhere/core", NULL, &err) < 0);
	assert_true(core_open(&core, "/tmp", NULL, &err) < 0);
	unmake(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),   cmocka_unit_test(test_other_file),
		cmocka_unit_test(test_cut),     cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
