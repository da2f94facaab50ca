/* test_elf_file.c - symbols of this very program, whole and damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "remote/elf_file.h"

int elf_test_variable[3] = { 1, 2, 3 };

static const char *const names[] = { "elf_test_variable", "there_is_no_such_variable" };

struct seen {
	uint64_t address; /* of see_function; 0: not found */
	uint64_t count;
};

static void see_function(void *context, const char *name, struct elf_piece where)
{
	struct seen *seen = context;

	seen->count++;
	if (strcmp(name, "see_function") == 0)
		seen->address = where.address;
}

static void test_own_functions(void **unused)
{
	(void)unused;
	struct elf_file elf, same;
	struct seen seen = { 0, 0 };
	uint64_t offset;

	assert_int_equal(elf_open_of(&elf, getpid(), "/proc/self/exe"), 0);
	assert_true(elf_each_function(&elf, see_function, &seen));
	assert_true(seen.address != 0 && seen.count > 10);
	assert_true(elf_offset_of(&elf, seen.address, &offset));
	assert_memory_equal(elf.bytes + offset, (const void *)(uintptr_t)see_function, 16);
	assert_false(elf_offset_of(&elf, UINT64_MAX, &offset));
	assert_int_equal(elf_open_of(&same, getpid(), "/nowhere/at-all"), -ENOENT);
	elf_close(&elf);
}

static void test_own_symbols(void **unused)
{
	(void)unused;
	struct elf_piece found[2], section;
	struct elf_file elf;
	uint64_t offset, address;

	assert_int_equal(elf_open(&elf, "/proc/self/exe"), 0);
	elf_find_symbols(&elf, names, found, 2);
	assert_true(found[0].address != 0);
	assert_int_equal(found[0].size, sizeof(elf_test_variable));
	assert_int_equal(found[1].address, 0);
	assert_true(elf_find_section(&elf, ".data", &section));
	assert_true(found[0].address >= section.address &&
		    found[0].address < section.address + section.size);
	assert_false(elf_find_section(&elf, ".PyRuntime", &section));
	assert_true(elf_first_load(&elf, &offset, &address));
	elf_close(&elf);
}

/* Each copy has some bytes of its tables changed, or its end cut off. */
static void test_damaged(void **unused)
{
	(void)unused;
	char path[] = "/tmp/heatline-elf-XXXXXX";
	struct elf_piece found[2], section;
	struct elf_file elf;
	uint64_t offset, address, state = 1;
	struct seen seen = { 0, 0 };
	size_t size;
	char *bytes;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_read("/proc/self/exe", 64u << 20, &bytes, &size, NULL), 0);
	for (int i = 0; i < 60; i++) {
		char kept[64];
		size_t end = i % 4 == 0 ? size / (size_t)(i + 2) : size;

		memcpy(kept, bytes, sizeof(kept));
		for (int b = 0; b < 3; b++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			bytes[16 + (state >> 33) % 48] = (char)(state >> 20);
		}
		assert_int_equal(file_write(path, bytes, end, NULL), 0);
		memcpy(bytes, kept, sizeof(kept));
		if (elf_open(&elf, path) != 0)
			continue;
		elf_find_symbols(&elf, names, found, 2);
		elf_find_section(&elf, ".bss", &section);
		elf_first_load(&elf, &offset, &address);
		elf_each_function(&elf, see_function, &seen);
		elf_offset_of(&elf, 0x1000, &offset);
		elf_close(&elf);
	}
	unlink(path);
	free(bytes);
}

static void test_no_elf(void **unused)
{
	(void)unused;
	struct elf_file elf;

	assert_true(elf_open(&elf, "/dev/null") < 0);
	assert_true(elf_open(&elf, "/proc/self/status") < 0);
	assert_true(elf_open(&elf, "/nonexistent") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_symbols),
		cmocka_unit_test(test_own_functions),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_no_elf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
