/* Long operations are told from short ones by the counts beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "collect/classify.h"

/* Python 3.9: no inline caches, numbers from its opcode module. */
enum {
	LOAD_FAST = 124,
	STORE_FAST = 125,
	CONTAINS_OP = 118,
	BINARY_MULTIPLY = 20,
	BINARY_SUBSCR = 25,
	LOAD_GLOBAL = 116,
	JUMP_IF_NOT_EXC_MATCH = 121,
	POP_EXCEPT = 89,
	CALL_FUNCTION = 131,
	POP_TOP = 1,
	POP_JUMP_IF_FALSE = 114,
	JUMP_ABSOLUTE = 113,
};

/* A loop body between two jumps, and a second one behind it. */
static unsigned char bytecode[] = {
	LOAD_FAST, 0, LOAD_FAST, 1, CONTAINS_OP, 0, POP_JUMP_IF_FALSE, 0,
	LOAD_FAST, 0, LOAD_FAST, 0, BINARY_MULTIPLY, 0, STORE_FAST, 2, JUMP_ABSOLUTE, 0,
	LOAD_FAST, 0, CALL_FUNCTION, 0, POP_TOP, 0, JUMP_ABSOLUTE, 0,
};
#define CONTAINS_AT 4u
#define MULTIPLY_AT 12u
#define CALL_AT 20u

static struct op_count ops[sizeof(bytecode) / 2];

static struct code code_make(void)
{
	memset(ops, 0, sizeof(ops));
	return (struct code){.version = 0x0309,
			     .bytecode = bytecode,
			     .bytecode_size = sizeof(bytecode),
			     .ops = ops};
}

static void test_long_operation_is_native(void **state)
{
	(void)state;
	struct code code = code_make();
	ops[CONTAINS_AT / 2].leaf = 1000;
	assert_true(classify_is_native(&code, CONTAINS_AT));
	ops[0].leaf = 1; /* one stray sample on a load beside it */
	assert_true(classify_is_native(&code, CONTAINS_AT));
}

static void test_short_operation_is_python(void **state)
{
	(void)state;
	struct code code = code_make();
	ops[MULTIPLY_AT / 2].leaf = 1000;
	ops[8 / 2].leaf = 60;
	ops[10 / 2].leaf = 50;
	assert_false(classify_is_native(&code, MULTIPLY_AT));
}

/* try: table[key], which always raises; the handler stands at the end. */
static void test_raising_is_not_long(void **state)
{
	(void)state;
	static unsigned char raising[] = {LOAD_FAST, 0, LOAD_FAST, 1, BINARY_SUBSCR, 0, POP_TOP, 0,
					  JUMP_ABSOLUTE, 0, LOAD_GLOBAL, 0, JUMP_IF_NOT_EXC_MATCH, 0,
					  POP_TOP, 0, POP_EXCEPT, 0, JUMP_ABSOLUTE, 0};
	static struct op_count counts[sizeof(raising) / 2];
	struct code code = {.version = 0x0309,
			    .bytecode = raising,
			    .bytecode_size = sizeof(raising),
			    .ops = counts};
	counts[2].leaf = 500;
	assert_true(classify_is_native(&code, 4));
	counts[6].leaf = 8;
	assert_false(classify_is_native(&code, 4));
}

static void test_two_long_operations_do_not_hide_each_other(void **state)
{
	(void)state;
	struct code code = code_make();
	ops[CONTAINS_AT / 2].leaf = 500;
	ops[MULTIPLY_AT / 2].leaf = 500;
	assert_true(classify_is_native(&code, CONTAINS_AT));
	assert_true(classify_is_native(&code, MULTIPLY_AT));
}

static void test_few_samples_stay_with_python(void **state)
{
	(void)state;
	struct code code = code_make();
	ops[CONTAINS_AT / 2].leaf = 10;
	assert_false(classify_is_native(&code, CONTAINS_AT));
}

static void test_call_is_native_unless_python_was_called(void **state)
{
	(void)state;
	struct code code = code_make();
	ops[CALL_AT / 2].leaf = 40;
	assert_true(classify_is_native(&code, CALL_AT));
	ops[CALL_AT / 2].callee = 300;
	assert_false(classify_is_native(&code, CALL_AT));
}

static void test_extension_work_takes_the_rest_along(void **state)
{
	(void)state;
	struct code code = code_make();
	ops[MULTIPLY_AT / 2] = (struct op_count){.leaf = 30, .native = 400};
	ops[8 / 2].leaf = 30;
	assert_true(classify_is_native(&code, MULTIPLY_AT));
}

/* for x in xs: total += x, where the loop's head is jumped to. */
static void test_loop_head_is_compared_with_the_body(void **state)
{
	(void)state;
	enum { GET_ITER = 68, FOR_ITER = 93, INPLACE_ADD = 55 };
	static unsigned char loop[] = {
		LOAD_FAST, 0, LOAD_FAST, 1, LOAD_FAST, 2, GET_ITER, 0, FOR_ITER, 10,
		STORE_FAST, 1, LOAD_FAST, 2, LOAD_FAST, 1, INPLACE_ADD, 0, STORE_FAST, 2,
		JUMP_ABSOLUTE, 8,
	};
	struct code code = code_make();
	code.bytecode = loop;
	code.bytecode_size = sizeof(loop);
	ops[8 / 2].leaf = 500;
	ops[12 / 2].leaf = 70;
	ops[14 / 2].leaf = 80;
	assert_false(classify_is_native(&code, 8));
	ops[12 / 2].leaf = ops[14 / 2].leaf = 0; /* an iterator that works for long */
	assert_true(classify_is_native(&code, 8));
}

/* return X * Y: names beside an operation tell sooner than plain loads do. */
static void test_names_are_short_too(void **state)
{
	(void)state;
	enum { RETURN_VALUE = 83 };
	static unsigned char product[] = {LOAD_GLOBAL, 0, LOAD_GLOBAL, 1, BINARY_MULTIPLY, 0, RETURN_VALUE, 0};
	struct code code = code_make();
	code.bytecode = product;
	code.bytecode_size = sizeof(product);
	ops[4 / 2].leaf = 40;
	assert_true(classify_is_native(&code, 4));
	ops[0].leaf = ops[2 / 2].leaf = 8; /* 50 ns beside two of 10 ns */
	assert_false(classify_is_native(&code, 4));
	assert_int_equal(classify_sample(&code, 0, 0), VERDICT_PYTHON);
}

static void test_outside_the_code(void **state)
{
	(void)state;
	struct code code = code_make();
	assert_false(classify_is_native(&code, 1u << 20));
	code.ops = NULL;
	assert_false(classify_is_native(&code, CONTAINS_AT));
}

static void test_verdict_of_one_sample(void **state)
{
	(void)state;
	struct code code = code_make();
	assert_int_equal(classify_sample(&code, 0, 0), VERDICT_PYTHON);
	assert_int_equal(classify_sample(&code, CONTAINS_AT, 0), VERDICT_OPEN);
	assert_int_equal(classify_sample(&code, CALL_AT, 0), VERDICT_OPEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_operation_is_native),
		cmocka_unit_test(test_short_operation_is_python),
		cmocka_unit_test(test_raising_is_not_long),
		cmocka_unit_test(test_two_long_operations_do_not_hide_each_other),
		cmocka_unit_test(test_few_samples_stay_with_python),
		cmocka_unit_test(test_call_is_native_unless_python_was_called),
		cmocka_unit_test(test_extension_work_takes_the_rest_along),
		cmocka_unit_test(test_loop_head_is_compared_with_the_body),
		cmocka_unit_test(test_names_are_short_too),
		cmocka_unit_test(test_outside_the_code),
		cmocka_unit_test(test_verdict_of_one_sample),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
