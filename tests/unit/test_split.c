/* test_split.c - the time of lines, split as the samples of the CPU clock say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collect/split.h"

#define MS 1000000ull

/* Python 3.9; one line each, since there is no table of lines: the code's first. */
enum { LOAD_FAST = 124, BINARY_ADD = 23, CALL_FUNCTION = 131 };
static const unsigned char bytecode[] = {LOAD_FAST, 0, LOAD_FAST, 0, BINARY_ADD, 0, CALL_FUNCTION, 0};
#define LOAD_AT 0u
#define ADD_AT 4u
#define CALL_AT 6u

struct fixture {
	struct intern *strings;
	struct codes codes;
	struct tree tree;
	struct split split;
};

static struct fixture *begin(void)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	assert_non_null(fixture);
	fixture->strings = intern_new();
	codes_init(&fixture->codes, fixture->strings);
	tree_init(&fixture->tree);
	split_init(&fixture->split);
	return fixture;
}

static void end(struct fixture *fixture)
{
	split_fini(&fixture->split);
	tree_fini(&fixture->tree);
	codes_fini(&fixture->codes);
	intern_free(fixture->strings);
	free(fixture);
}

static uint32_t add_code(struct fixture *fixture, const char *name)
{
	bool is_new;
	const struct code_info info = {.filename = "a.py", .filename_size = 4, .qualname = name, .qualname_size = 1,
				       .first_line = 7, .bytecode = bytecode, .bytecode_size = sizeof(bytecode)};
	return codes_add(&fixture->codes, &info, 0x0309, &is_new);
}

static struct tree_weights *weights(struct fixture *fixture, uint32_t code, uint32_t offset)
{
	return tree_weights(&fixture->tree, tree_add(&fixture->tree, &(struct tree_frame){code, offset}, 1, 0));
}

static void sample(struct fixture *fixture, uint32_t code, uint32_t offset, enum split_kind kind, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		split_add(&fixture->split, &fixture->codes, (struct tree_frame){code, offset}, kind);
}

static void apply(struct fixture *fixture, bool is_complete)
{
	split_apply(&fixture->split, &fixture->codes, &fixture->tree, is_complete);
}

static void near(uint64_t ns, uint64_t expected_ms, uint64_t within_ms)
{
	assert_in_range(ns / MS + within_ms, expected_ms, expected_ms + 2 * within_ms);
}

static void test_system_time_comes_from_work_in_c(void **state)
{
	(void)state;
	struct fixture *fixture = begin();
	uint32_t code = add_code(fixture, "f");
	weights(fixture, code, LOAD_AT)->python_ns = 400 * MS;
	weights(fixture, code, CALL_AT)->native_ns = 600 * MS;
	sample(fixture, code, CALL_AT, SPLIT_SYSTEM, 50);
	sample(fixture, code, CALL_AT, SPLIT_INTERPRETER, 10);
	sample(fixture, code, LOAD_AT, SPLIT_INTERPRETER, 40);
	apply(fixture, true);
	near(weights(fixture, code, LOAD_AT)->python_ns, 400, 1);
	near(weights(fixture, code, CALL_AT)->native_ns, 100, 5);
	near(weights(fixture, code, CALL_AT)->system_ns, 500, 5);
	end(fixture);
}

static void test_what_is_more_comes_from_the_interpreter(void **state)
{
	(void)state;
	struct fixture *fixture = begin();
	uint32_t code = add_code(fixture, "f");
	weights(fixture, code, LOAD_AT)->python_ns = 900 * MS;
	weights(fixture, code, CALL_AT)->native_ns = 100 * MS;
	sample(fixture, code, LOAD_AT, SPLIT_SYSTEM, 50);
	sample(fixture, code, LOAD_AT, SPLIT_INTERPRETER, 50);
	apply(fixture, true);
	near(weights(fixture, code, CALL_AT)->system_ns, 100, 2);
	near(weights(fixture, code, LOAD_AT)->system_ns, 400, 5);
	near(weights(fixture, code, LOAD_AT)->python_ns, 500, 5);
	end(fixture);
}

static void test_lines_keep_their_own(void **state)
{
	(void)state;
	struct fixture *fixture = begin();
	uint32_t reads = add_code(fixture, "f"), hashes = add_code(fixture, "g");
	weights(fixture, reads, CALL_AT)->native_ns = 500 * MS;
	weights(fixture, hashes, CALL_AT)->native_ns = 500 * MS;
	sample(fixture, reads, CALL_AT, SPLIT_SYSTEM, 40);
	sample(fixture, hashes, CALL_AT, SPLIT_NATIVE, 40);
	apply(fixture, true);
	assert_true(weights(fixture, reads, CALL_AT)->system_ns > 495 * MS);
	assert_true(weights(fixture, hashes, CALL_AT)->system_ns < 5 * MS);
	assert_true(split_system_share(&fixture->split, &fixture->codes, (struct tree_frame){reads, CALL_AT}) > 0.99);
	end(fixture);
}

static void test_an_extension_behind_an_operator(void **state)
{
	(void)state;
	struct fixture *fixture = begin();
	uint32_t code = add_code(fixture, "f");
	weights(fixture, code, ADD_AT)->open_ns = 600 * MS;
	weights(fixture, code, LOAD_AT)->python_ns = 400 * MS;
	sample(fixture, code, ADD_AT, SPLIT_NATIVE, 8);
	sample(fixture, code, ADD_AT, SPLIT_INTERPRETER, 4);
	sample(fixture, code, LOAD_AT, SPLIT_INTERPRETER, 8);
	apply(fixture, true);
	near(weights(fixture, code, ADD_AT)->native_ns, 600, 1);
	near(weights(fixture, code, LOAD_AT)->python_ns, 400, 1);
	assert_int_equal(weights(fixture, code, ADD_AT)->open_ns, 0);
	end(fixture);
}

/* They are like the others only if the others were all seen. */
static void test_lines_without_samples(void **state)
{
	(void)state;
	for (int is_complete = 0; is_complete < 2; is_complete++) {
		struct fixture *fixture = begin();
		uint32_t seen = add_code(fixture, "f"), unseen = add_code(fixture, "g");
		weights(fixture, seen, CALL_AT)->native_ns = 500 * MS;
		weights(fixture, unseen, CALL_AT)->native_ns = 100 * MS;
		sample(fixture, seen, CALL_AT, SPLIT_SYSTEM, 20);
		sample(fixture, seen, CALL_AT, SPLIT_INTERPRETER, 20);
		apply(fixture, is_complete != 0);
		near(weights(fixture, unseen, CALL_AT)->system_ns, is_complete ? 50 : 0, 1);
		end(fixture);
	}
}

static void test_nothing_is_made_or_lost(void **state)
{
	(void)state;
	struct fixture *fixture = begin();
	uint32_t code = add_code(fixture, "f");
	struct tree_weights *only = weights(fixture, code, ADD_AT);
	*only = (struct tree_weights){.open_ns = 333, .python_ns = 777, .native_ns = 11, .samples = 3};
	apply(fixture, true); /* no sample: as it was */
	assert_int_equal(only->open_ns, 333);
	sample(fixture, code, ADD_AT, SPLIT_SYSTEM, 3);
	apply(fixture, true);
	assert_int_equal(only->open_ns + only->python_ns + only->native_ns + only->system_ns, 333 + 777 + 11);
	assert_int_equal(only->samples, 3);
	end(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_time_comes_from_work_in_c),
		cmocka_unit_test(test_what_is_more_comes_from_the_interpreter),
		cmocka_unit_test(test_lines_keep_their_own),
		cmocka_unit_test(test_an_extension_behind_an_operator),
		cmocka_unit_test(test_lines_without_samples),
		cmocka_unit_test(test_nothing_is_made_or_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
