/* test_nameless.c - the functions of a library that was stripped of their names; whole and damaged. */
#include <dlfcn.h>
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
#include "remote/elf_functions.h"
#include "remote/nameless.h"

/* In the order of fake_functions. */
enum {
	VECTORCALL, PUSH_FRAME, CALL_HELPER, GEN_ITERNEXT, SLOT_CALL, METHOD_VECTORCALL,
	OBJECT_VACALL, OBJECT_MALLOC, TUPLE_ALLOC, COMMON, WRAP_CALL, LONG_ADD, LIST_SORT, COUNT,
};

struct fake {
	uint64_t functions[COUNT]; /* addresses before it was loaded */
	enum evaluator_part parts[COUNT];
	uint32_t others; /* found, but none of these */
};

static void open_fake(struct fake *fake)
{
	void *library = dlopen(FAKE_INTERPRETER, RTLD_NOW);
	const uint64_t *functions;
	Dl_info where;

	assert_non_null(library);
	functions = dlsym(library, "fake_functions");
	assert_non_null(functions);
	assert_true(dladdr(functions, &where) != 0);
	memset(fake, 0, sizeof(*fake));
	for (int i = 0; i < COUNT; i++)
		fake->functions[i] = functions[i] - (uint64_t)(uintptr_t)where.dli_fbase;
	dlclose(library);
}

static void note(void *context, enum evaluator_part part, struct elf_piece where)
{
	struct fake *fake = context;

	for (int i = 0; i < COUNT; i++) {
		if (fake->functions[i] == where.address) {
			fake->parts[i] = part;
			return;
		}
	}
	fake->others++;
}

static void test_functions(void **unused)
{
	(void)unused;
	struct fake fake;
	struct elf_file elf;
	struct elf_functions functions;

	open_fake(&fake);
	assert_int_equal(elf_open(&elf, FAKE_INTERPRETER), 0);
	assert_true(elf_functions_read(&functions, &elf));
	for (int i = 0; i < COUNT; i++) {
		uint32_t number = elf_functions_starting_at(&functions, fake.functions[i]);

		assert_true(number != NO_FUNCTION);
		assert_int_equal(elf_functions_at(&functions, fake.functions[i] + 1), number);
		assert_int_equal(elf_functions_starting_at(&functions, fake.functions[i] + 1), NO_FUNCTION);
		assert_int_equal(elf_functions_piece(&functions, number).address, fake.functions[i]);
		assert_true(elf_functions_piece(&functions, number).size > 1);
	}
	assert_int_equal(elf_functions_at(&functions, 0), NO_FUNCTION);
	assert_int_equal(elf_functions_at(&functions, UINT64_MAX), NO_FUNCTION);
	elf_functions_fini(&functions);
	elf_close(&elf);
}

#ifdef __x86_64__
static void test_parts(void **unused)
{
	(void)unused;
	static const enum evaluator_part wanted[COUNT] = {
		[VECTORCALL] = EVALUATOR_ENTERING,	  /* what makes functions takes its address */
		[PUSH_FRAME] = EVALUATOR_ENTERING,	  /* helps it */
		[CALL_HELPER] = EVALUATOR_ENTERING,	  /* helps that */
		[GEN_ITERNEXT] = EVALUATOR_ENTERING,	  /* a type's field */
		[SLOT_CALL] = EVALUATOR_ENTERING,	  /* the table of special methods */
		[METHOD_VECTORCALL] = EVALUATOR_RUNNING, /* what makes methods takes its address */
		[OBJECT_VACALL] = EVALUATOR_RUNNING,	  /* helps one that has a name */
		[OBJECT_MALLOC] = EVALUATOR_CHORES,	  /* the table of allocators */
		[TUPLE_ALLOC] = EVALUATOR_CHORES,	  /* helps one that has a name */
		[COMMON] = EVALUATOR_CHORES,		  /* helps calls, but many others, too */
		[WRAP_CALL] = EVALUATOR_NONE,
		[LONG_ADD] = EVALUATOR_NONE, /* the evaluation loop calls it */
		[LIST_SORT] = EVALUATOR_NONE,
	};
	struct fake fake;
	struct elf_file elf;

	open_fake(&fake);
	assert_int_equal(elf_open(&elf, FAKE_INTERPRETER), 0);
	assert_true(nameless_each(&elf, note, &fake));
	elf_close(&elf);
	for (int i = 0; i < COUNT; i++) {
		if (fake.parts[i] != wanted[i])
			fail_msg("function %d: %d instead of %d", i, fake.parts[i], wanted[i]);
	}
	assert_int_equal(fake.others, 0);
}
#endif

/* This program has no interpreter's functions. */
static void test_no_interpreter(void **unused)
{
	(void)unused;
	struct fake fake = { .others = 0 };
	struct elf_file elf;

	assert_int_equal(elf_open(&elf, "/proc/self/exe"), 0);
	assert_false(nameless_each(&elf, note, &fake));
	assert_int_equal(fake.others, 0);
	elf_close(&elf);
}

/* Each copy has some bytes changed, in the tables at both ends of the file or in the index of functions. */
static void test_damaged(void **unused)
{
	(void)unused;
	char path[] = "/tmp/heatline-nameless-XXXXXX";
	struct fake fake = { .others = 0 };
	struct elf_piece section;
	struct elf_file elf;
	uint64_t offset, state = 1;
	char *bytes;
	size_t size;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(elf_open(&elf, FAKE_INTERPRETER), 0);
	assert_true(elf_find_section(&elf, ".eh_frame_hdr", &section));
	assert_true(elf_offset_of(&elf, section.address, &offset));
	elf_close(&elf);
	for (int i = 0; i < 600; i++) {
		assert_int_equal(file_read(FAKE_INTERPRETER, 64u << 20, &bytes, &size, NULL), 0);
		for (int b = 0; b < 3; b++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			uint64_t at = state >> 33;
			uint64_t places[] = { 20 + at % 600, size - 1 - at % 2400, offset + at % 64, at % size };

			bytes[places[i % 4]] = (char)(state >> 20);
		}
		assert_int_equal(file_write(path, bytes, size, NULL), 0);
		free(bytes);
		if (elf_open(&elf, path) != 0)
			continue;
		nameless_each(&elf, note, &fake);
		elf_close(&elf);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
#ifdef __x86_64__
		cmocka_unit_test(test_parts),
#endif
		cmocka_unit_test(test_no_interpreter),
		cmocka_unit_test(test_damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
