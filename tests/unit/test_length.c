/* test_length.c - long operations and short ones, by where in the interpreter they are met. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/length.h"

/* Python 3.9: no inline caches, numbers from its opcode module. */
enum {
	LOAD_FAST = 124,
	STORE_FAST = 125,
	BINARY_MULTIPLY = 20,
	BINARY_ADD = 23,
	BINARY_SUBSCR = 25,
	FOR_ITER = 93,
	POP_JUMP_IF_FALSE = 114,
	JUMP_ABSOLUTE = 113,
};

static struct code code_make(unsigned char *instructions, uint32_t size)
{
	struct code code = {.version = 0x0309, .bytecode = instructions, .bytecode_size = size};
	codes_count(&code, 0);
	return code;
}

#define CODE(instructions) code_make(instructions, sizeof(instructions))

/* The bytecode is static. */
static void forget(struct code *code)
{
	code->bytecode = NULL;
	code_fini(code);
}

static bool is_long(struct code *code, uint32_t offset)
{
	return length_is_long(code, codes_count(code, offset));
}

/* So many samples of an instruction, at so many places in turn of a function that loops. */
static void see_work(struct code *code, uint32_t offset, uint32_t samples, uint32_t places)
{
	struct code_op *op = codes_count(code, offset);
	op->leaf += samples;
	op->placed += samples;
	op->working += samples;
	for (uint32_t i = 0; i < samples; i++)
		spread_add(&op->spread, i * 7919 % places);
}

/* The same in functions that look up. */
static void see_lookups(struct code *code, uint32_t offset, uint32_t samples, uint32_t places)
{
	see_work(code, offset, samples, places);
	struct code_op *op = codes_count(code, offset);
	op->working -= samples;
	op->common += samples;
}

/* Or in the evaluation loop. */
static void see_loop(struct code *code, uint32_t offset, uint32_t samples)
{
	see_lookups(code, offset, samples, 50);
	codes_count(code, offset)->inside += samples;
}

/* for _ in range(50): x = items * 3, of 20 000 items, Python 3.11: both the repeating and the freeing of the
 * old list are loops of few machine instructions; one sample strayed. */
static unsigned char repeat[] = {
	FOR_ITER, 0, STORE_FAST, 0, LOAD_FAST, 1, LOAD_FAST, 2, BINARY_MULTIPLY, 0, STORE_FAST, 3, JUMP_ABSOLUTE, 0,
};
#define REPEAT_AT 8u
#define FREE_AT 10u

static void test_tight_loops_are_long(void **state)
{
	(void)state;
	struct code code = CODE(repeat);
	see_work(&code, REPEAT_AT, 165, 4);
	see_work(&code, FREE_AT, 303, 1);
	see_loop(&code, 4, 1);
	see_loop(&code, REPEAT_AT, 1);
	assert_true(is_long(&code, REPEAT_AT));
	assert_true(is_long(&code, FREE_AT));
	forget(&code);
}

/* An access to a large dictionary stands as still, but looks up. */
static void test_lookups_are_short(void **state)
{
	(void)state;
	struct code code = CODE(repeat);
	see_lookups(&code, REPEAT_AT, 165, 3);
	assert_false(is_long(&code, REPEAT_AT));
	see_lookups(&code, FREE_AT, 60, 1);
	assert_false(is_long(&code, REPEAT_AT));
	assert_false(is_long(&code, FREE_AT));
	forget(&code);
}

static void test_where_nothing_is_known_of_places(void **state)
{
	(void)state;
	struct code code = CODE(repeat);
	codes_count(&code, REPEAT_AT)->leaf = 165;
	codes_count(&code, 4)->leaf = 1;
	assert_false(is_long(&code, REPEAT_AT));
	forget(&code);
}

/* A spigot for pi, 1.2 s at 170 samples a second: none of its products has more than some. */
static unsigned char products[4 * 10 + 2];

static void make_products(void)
{
	for (uint32_t i = 0; i < 10; i++) {
		products[i * 4] = LOAD_FAST;
		products[i * 4 + 2] = i % 2 == 0 ? BINARY_MULTIPLY : BINARY_ADD;
	}
	products[40] = JUMP_ABSOLUTE;
}

static void test_operators_are_judged_together(void **state)
{
	(void)state;
	static const uint32_t samples[] = {11, 8, 9, 30, 7, 7, 3, 12, 4, 5};
	make_products();
	struct code code = CODE(products);
	see_work(&code, 3 * 4 + 2, 7, 5);
	assert_false(is_long(&code, 3 * 4 + 2)); /* too few to tell */
	see_work(&code, 3 * 4 + 2, 23, 5);
	for (uint32_t i = 0; i < 10; i++) {
		if (i != 3)
			see_work(&code, i * 4 + 2, samples[i], 5);
	}
	for (uint32_t i = 0; i < 10; i++)
		assert_true(is_long(&code, i * 4 + 2));
	see_loop(&code, 4 * 4 + 2, 6); /* products of small numbers */
	see_loop(&code, 6 * 4, 6);
	for (uint32_t i = 0; i < 10; i++)
		assert_false(is_long(&code, i * 4 + 2));
	forget(&code);
}

/* A sample on each of many operators says nothing of any. */
static void test_few_samples_say_nothing_together(void **state)
{
	(void)state;
	make_products();
	struct code code = CODE(products);
	for (uint32_t i = 0; i < 10; i++)
		see_work(&code, i * 4 + 2, 1, 1);
	for (uint32_t i = 0; i < 10; i++)
		assert_false(is_long(&code, i * 4 + 2));
	forget(&code);
}

/* What a load frees is none of its own time: for i in range(n), where it lets go of the last i. */
static void test_only_the_loop_is_the_loads(void **state)
{
	(void)state;
	struct code code = CODE(repeat);
	see_work(&code, REPEAT_AT, 465, 6);
	see_lookups(&code, 4, 20, 5);
	assert_true(is_long(&code, REPEAT_AT));
	see_loop(&code, 4, 20);
	assert_false(is_long(&code, REPEAT_AT));
	forget(&code);
}

/* An item that misses the caches, in the evaluation loop itself, is no measure for others. */
static void test_work_in_the_loop(void **state)
{
	(void)state;
	static unsigned char items[] = {LOAD_FAST, 0, LOAD_FAST, 1, BINARY_SUBSCR, 0, LOAD_FAST, 2,
					BINARY_MULTIPLY, 0, STORE_FAST, 3, JUMP_ABSOLUTE, 0};
	struct code code = CODE(items);
	see_loop(&code, 4, 30);
	see_work(&code, 8, 400, 30);
	assert_true(is_long(&code, 8));
	assert_false(is_long(&code, 4));
	forget(&code);
}

/* if a == b, of two long texts, in one instruction with its jump: it runs as often as what is before. */
static void test_jump_goes_with_what_runs_more_often(void **state)
{
	(void)state;
	static unsigned char branch[] = {LOAD_FAST, 0, LOAD_FAST, 1, LOAD_FAST, 2, POP_JUMP_IF_FALSE, 0,
					 LOAD_FAST, 3, JUMP_ABSOLUTE, 0};
	struct code code = CODE(branch);
	codes_count(&code, 6)->leaf = 500;
	codes_count(&code, 0)->leaf = codes_count(&code, 2)->leaf = 40;
	assert_false(is_long(&code, 6));
	codes_count(&code, 0)->leaf = codes_count(&code, 2)->leaf = 0;
	codes_count(&code, 8)->leaf = 40;
	assert_false(is_long(&code, 6)); /* or it is a loop's head */
	codes_count(&code, 8)->leaf = 0;
	assert_true(is_long(&code, 6));
	forget(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tight_loops_are_long),
		cmocka_unit_test(test_lookups_are_short),
		cmocka_unit_test(test_where_nothing_is_known_of_places),
		cmocka_unit_test(test_operators_are_judged_together),
		cmocka_unit_test(test_few_samples_say_nothing_together),
		cmocka_unit_test(test_only_the_loop_is_the_loads),
		cmocka_unit_test(test_work_in_the_loop),
		cmocka_unit_test(test_jump_goes_with_what_runs_more_often),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
