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

/* A code of these instructions, of which nothing is known yet. */
static struct code code_make(unsigned char *instructions, uint32_t size)
{
	struct code code = {.version = 0x0309, .bytecode = instructions, .bytecode_size = size};
	codes_count(&code, 0);
	return code;
}

#define CODE(instructions) code_make(instructions, sizeof(instructions))

/* An instruction's samples at so many places in turn. */
static void see_places(struct code *code, uint32_t offset, uint32_t samples, uint32_t places)
{
	for (uint32_t i = 0; i < samples; i++)
		spread_add(&codes_count(code, offset)->spread, i % places);
}

/* The bytecode is static. */
static void forget(struct code *code)
{
	code->bytecode = NULL;
	code_fini(code);
}

static void test_what_the_program_counter_says(void **state)
{
	(void)state;
	assert_int_equal(classify_image(IMAGE_EXTENSION, 0x0309, LOAD_FAST), VERDICT_NATIVE);
	assert_int_equal(classify_image(IMAGE_GENERATED, 0x0309, LOAD_FAST), VERDICT_NATIVE);
	assert_int_equal(classify_image(IMAGE_INTERPRETER, 0x0309, CALL_FUNCTION), VERDICT_OPEN);
	assert_int_equal(classify_image(IMAGE_SUPPORT, 0x0309, LOAD_FAST), VERDICT_OPEN);
}

static void test_long_operation_is_native(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	codes_count(&code, CONTAINS_AT)->leaf = 1000;
	assert_true(classify_is_native(&code, CONTAINS_AT));
	codes_count(&code, 0)->leaf = 1; /* one stray sample on a load beside it */
	assert_true(classify_is_native(&code, CONTAINS_AT));
	forget(&code);
}

static void test_short_operation_is_python(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	codes_count(&code, MULTIPLY_AT)->leaf = 1000;
	codes_count(&code, 8)->leaf = 60;
	codes_count(&code, 10)->leaf = 50;
	assert_false(classify_is_native(&code, MULTIPLY_AT));
	forget(&code);
}

/* try: table[key], which always raises; the handler stands at the end. */
static void test_raising_is_not_long(void **state)
{
	(void)state;
	static unsigned char raising[] = {LOAD_FAST, 0, LOAD_FAST, 1, BINARY_SUBSCR, 0, POP_TOP, 0,
					  JUMP_ABSOLUTE, 0, LOAD_GLOBAL, 0, JUMP_IF_NOT_EXC_MATCH, 0,
					  POP_TOP, 0, POP_EXCEPT, 0, JUMP_ABSOLUTE, 0};
	struct code code = CODE(raising);
	codes_count(&code, 4)->leaf = 500;
	assert_true(classify_is_native(&code, 4));
	codes_count(&code, 12)->leaf = 8;
	assert_false(classify_is_native(&code, 4));
	forget(&code);
}

static void test_two_long_operations_do_not_hide_each_other(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	codes_count(&code, CONTAINS_AT)->leaf = 500;
	codes_count(&code, MULTIPLY_AT)->leaf = 500;
	assert_true(classify_is_native(&code, CONTAINS_AT));
	assert_true(classify_is_native(&code, MULTIPLY_AT));
	forget(&code);
}

static void test_few_samples_stay_with_python(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	/* An operation as long as a hundred loads has so many and none beside it now and then. */
	codes_count(&code, CONTAINS_AT)->leaf = 60;
	assert_false(classify_is_native(&code, CONTAINS_AT));
	forget(&code);
}

/* for word in words: variant = word + str(len(seen) % 7); if variant not in seen: … (2 to 4 µs) has
 * some samples on the names beside it; so has an access to a large dictionary (half a
 * microsecond), which waits for memory at one place. */
static void test_moving_about_is_sooner_long(void **state)
{
	(void)state;
	static unsigned char search[] = {
		STORE_FAST, 0, LOAD_FAST, 0, LOAD_GLOBAL, 0, LOAD_GLOBAL, 1, LOAD_FAST, 1, CALL_FUNCTION, 1,
		LOAD_FAST, 1, STORE_FAST, 2, LOAD_FAST, 2, LOAD_FAST, 1, CONTAINS_OP, 1, POP_JUMP_IF_FALSE, 0,
	};
	struct code code = CODE(search);
	codes_count(&code, 4)->leaf = 3;
	codes_count(&code, 20)->leaf = 130;
	assert_false(classify_is_native(&code, 20)); /* nothing else is known of it */
	see_places(&code, 20, 130, 40);
	assert_true(classify_is_native(&code, 20));
	codes_count(&code, 6)->leaf = 10; /* 50 ns beside a quarter of a microsecond */
	assert_false(classify_is_native(&code, 20));
	forget(&code);
}

static void test_waiting_for_memory_is_not_long(void **state)
{
	(void)state;
	static unsigned char access[] = {LOAD_FAST, 0, LOAD_FAST, 1, BINARY_SUBSCR, 0, POP_TOP, 0, JUMP_ABSOLUTE, 0};
	struct code code = CODE(access);
	codes_count(&code, 4)->leaf = 3000;
	codes_count(&code, 0)->leaf = 12;
	assert_true(classify_is_native(&code, 4)); /* nothing else is known of it */
	see_places(&code, 4, 3000, 2);
	codes_count(&code, 2)->leaf = 8;
	assert_false(classify_is_native(&code, 4));
	codes_count(&code, 0)->leaf = codes_count(&code, 2)->leaf = 2; /* a copy of a long list waits, too */
	assert_true(classify_is_native(&code, 4));
	forget(&code);
}

static void test_call_is_native_unless_python_was_called(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	codes_count(&code, CALL_AT)->leaf = 40;
	assert_true(classify_is_native(&code, CALL_AT));
	codes_count(&code, CALL_AT)->callee = 300;
	assert_false(classify_is_native(&code, CALL_AT));
	forget(&code);
}

/* sorted(rows, key=f), as on 3.12: calling f is Python, sorting is not, and what both
 * need is theirs by lot. */
static void test_c_code_that_calls_python(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	struct code_op *call = codes_count(&code, CALL_AT);
	assert_false(classify_calls_back(&code, CALL_AT, call));
	call->callee = 10;
	assert_true(classify_calls_back(&code, CALL_AT, call));
	assert_false(classify_calls_back(&code, CONTAINS_AT, call)); /* no call, */
	call->calls_c = true; /* but where it was seen to call C */
	assert_true(classify_calls_back(&code, CONTAINS_AT, call));
	call->calls_c = false;
	assert_int_equal(classify_call_back(call, EVALUATOR_CHORES, true, 0), VERDICT_OPEN);
	for (uint32_t i = 0; i < 50; i++) {
		assert_int_equal(classify_call_back(call, EVALUATOR_RUNNING, true, i), VERDICT_PYTHON);
		assert_int_equal(classify_call_back(call, EVALUATOR_NONE, true, i), VERDICT_NATIVE);
	}
	call->running = 30;
	uint32_t pythons = 0;
	for (uint32_t i = 0; i < 80; i++)
		pythons += classify_call_back(call, EVALUATOR_CHORES, true, i) == VERDICT_PYTHON;
	assert_int_equal(pythons, 30);
	assert_int_equal(call->running + call->leaf, 80);
	assert_true(classify_is_native(&code, CALL_AT));
	call->makes = true; /* no C code: a class was called */
	assert_int_equal(classify_call_back(call, EVALUATOR_CHORES, true, 79), VERDICT_PYTHON);
	call->makes = false;
	call->callee = 2; /* a finaliser, once in a while */
	assert_false(classify_calls_back(&code, CALL_AT, call));
	forget(&code);
}

/* Of Point(x=1) in a short run no sample was in __init__, but some where nothing else leads to. */
static void test_call_that_was_seen_to_enter(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	struct code_op *call = codes_count(&code, CALL_AT);
	call->leaf = 3;
	classify_note_part(call, EVALUATOR_RUNNING);
	classify_note_part(call, EVALUATOR_CHORES);
	assert_false(classify_calls_back(&code, CALL_AT, call));
	assert_true(classify_is_native(&code, CALL_AT));
	classify_note_part(call, EVALUATOR_ENTERING);
	assert_true(classify_calls_back(&code, CALL_AT, call));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(classify_call_back(call, EVALUATOR_ENTERING, true, i), VERDICT_PYTHON);
	assert_false(classify_is_native(&code, CALL_AT));
	forget(&code);
}

/* In a stripped interpreter only some of what runs Python functions is known. */
static void test_c_code_that_calls_python_without_names(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	struct code_op *call = codes_count(&code, CALL_AT);
	call->callee = 40;
	for (uint32_t i = 0; i < 30; i++) {
		assert_int_equal(classify_call_back(call, EVALUATOR_RUNNING, false, i), VERDICT_PYTHON);
		assert_int_equal(classify_call_back(call, EVALUATOR_NONE, false, i), VERDICT_OPEN);
		classify_call_back(call, EVALUATOR_NONE, false, i);
	}
	assert_false(classify_is_native(&code, CALL_AT));
	call->leaf = 70;
	assert_true(classify_is_native(&code, CALL_AT));
	call->direct = 1; /* it is the Python function that was called, by f(*args) */
	assert_false(classify_is_native(&code, CALL_AT));
	call->direct = 0;
	call->makes = true; /* or a class, whose __init__ is short */
	call->callee = 2;
	assert_false(classify_is_native(&code, CALL_AT));
	call->leaf = 300;
	assert_true(classify_is_native(&code, CALL_AT));
	forget(&code);
}

/* black 26, compiled by mypyc, on Python 3.12: a third of its samples were in its own code, and
 * the Python functions that it calls made the rest Python. */
static void test_call_of_an_extension_that_calls_python(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	struct code_op *call = codes_count(&code, CALL_AT);
	call->leaf = 83;
	call->native = 37;
	call->callee = 45;
	assert_true(classify_is_native(&code, CALL_AT));
	/* It calls much besides. */
	assert_int_equal(classify_call_back(call, EVALUATOR_RUNNING, true, 0), VERDICT_OPEN);
	assert_int_equal(classify_call_back(call, EVALUATOR_CHORES, true, 0), VERDICT_OPEN);
	assert_int_equal(classify_call_back(call, EVALUATOR_NONE, true, 0), VERDICT_OPEN);
	assert_int_equal(classify_call_back(call, EVALUATOR_ENTERING, true, 0), VERDICT_PYTHON);
	assert_int_equal(call->leaf, 86);
	assert_int_equal(call->running, 1);
	assert_true(classify_is_native(&code, CALL_AT));
	call->leaf = 83;
	call->running = 0; /* nor are names known */
	call->callee = 300; /* most that is called there is Python */
	assert_false(classify_is_native(&code, CALL_AT));
	call->callee = 45; /* some of what is called there is no Python */
	call->native = 3;
	assert_false(classify_is_native(&code, CALL_AT));
	forget(&code);
}

static void test_extension_work_takes_the_rest_along(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	codes_count(&code, MULTIPLY_AT)->leaf = 30;
	codes_count(&code, MULTIPLY_AT)->native = 400;
	codes_count(&code, 8)->leaf = 30;
	assert_true(classify_is_native(&code, MULTIPLY_AT));
	forget(&code);
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
	struct code code = CODE(loop);
	codes_count(&code, 8)->leaf = 500;
	codes_count(&code, 12)->leaf = 70;
	codes_count(&code, 14)->leaf = 80;
	assert_false(classify_is_native(&code, 8));
	codes_count(&code, 12)->leaf = codes_count(&code, 14)->leaf = 0; /* an iterator that works for long */
	assert_true(classify_is_native(&code, 8));
	forget(&code);
}

/* return X * Y: names beside an operation tell sooner than plain loads do. */
static void test_names_are_short_too(void **state)
{
	(void)state;
	enum { RETURN_VALUE = 83 };
	static unsigned char product[] = {LOAD_GLOBAL, 0, LOAD_GLOBAL, 1, BINARY_MULTIPLY, 0, RETURN_VALUE, 0};
	struct code code = CODE(product);
	codes_count(&code, 4)->leaf = 80;
	assert_true(classify_is_native(&code, 4));
	codes_count(&code, 0)->leaf = codes_count(&code, 2)->leaf = 16; /* 50 ns beside two of 10 ns */
	assert_false(classify_is_native(&code, 4));
	assert_int_equal(classify_sample(&code, 0, 0), VERDICT_PYTHON);
	forget(&code);
}

static void test_outside_the_code(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	assert_false(classify_is_native(&code, 1u << 20));
	forget(&code);
	code = (struct code){.version = 0x0309, .bytecode = bytecode,
			     .bytecode_size = sizeof(bytecode)}; /* nothing was counted */
	assert_false(classify_is_native(&code, CONTAINS_AT));
	forget(&code);
}

static void test_verdict_of_one_sample(void **state)
{
	(void)state;
	struct code code = CODE(bytecode);
	assert_int_equal(classify_sample(&code, 0, 0), VERDICT_PYTHON);
	assert_int_equal(classify_sample(&code, CONTAINS_AT, 0), VERDICT_OPEN);
	assert_int_equal(classify_sample(&code, CALL_AT, 0), VERDICT_OPEN);
	forget(&code);
}

/* Python 3.11: what stands in an inline cache is no instruction, whatever its
 * bytes look like, and samples there are no neighbour's. */
static void test_caches_are_no_instructions(void **state)
{
	(void)state;
	enum { FAST = 124, ATTRIBUTE = 106, CONTAINS = 118, JUMP = 140 };
	static unsigned char cached[] = {
		FAST, 0, ATTRIBUTE, 0, FAST, 0, JUMP, 0, 0, 0, 0, 0, CONTAINS, 0, JUMP, 0,
	};
	struct code code = CODE(cached);
	code.version = 0x030b;
	assert_int_equal(py_op_caches(0x030b, ATTRIBUTE), 4);
	codes_count(&code, 12)->leaf = 1000;
	codes_count(&code, 4)->leaf = 1000; /* in the cache; it looks like a load */
	assert_true(classify_is_native(&code, 12));
	codes_count(&code, 0)->leaf = 1000;
	assert_false(classify_is_native(&code, 12));
	forget(&code);
}

/* A script without jumps: each sample is on another of its operations, none on a load. */
static void test_endless_straight_code(void **state)
{
	(void)state;
	static unsigned char straight[6 * 20000];
	for (uint32_t i = 0; i < sizeof(straight); i += 6) {
		straight[i] = LOAD_FAST;
		straight[i + 2] = LOAD_FAST;
		straight[i + 4] = BINARY_MULTIPLY;
	}
	struct code code = CODE(straight);
	for (uint32_t i = 0; i < 20000; i += 500)
		codes_count(&code, i * 6 + 4)->leaf = 1;
	for (uint32_t i = 0; i < 20000; i += 500)
		assert_false(classify_is_native(&code, i * 6 + 4));
	codes_count(&code, 6 * 7000 + 4)->leaf = 100;
	assert_true(classify_is_native(&code, 6 * 7000 + 4));
	forget(&code);
}

/* Against the plain way: from the code's start, every time. */
static bool is_native_plainly(const struct code *code, uint32_t op)
{
	uint64_t samples = 0, handled = 0, loads = 0, samples_before = 0, loads_before = 0;
	bool is_past = false;
	for (uint32_t i = 0; i < code->bytecode_size / 2;
	     i += 1 + py_op_caches(code->version, code->bytecode[i * 2])) {
		uint8_t opcode = code->bytecode[i * 2];
		enum py_op_kind kind = py_op_kind(code->version, opcode);
		const struct code_op *known = codes_find_op(code, i * 2);
		uint32_t leaf = known == NULL ? 0 : known->leaf;
		handled += kind == PY_OP_HANDLER ? leaf : 0;
		if (is_past)
			continue;
		samples += shape_loads(kind) > 0 ? leaf : 0;
		loads += shape_loads(kind);
		bool is_end = py_op_is_jump(code->version, opcode) || loads >= 200;
		if (is_end && i > op) {
			is_past = true;
		} else if (is_end) {
			samples_before = i == op ? samples : 0;
			loads_before = i == op ? loads : 0;
			samples = loads = 0;
		}
	}
	/* A jump: with what it ends, if that runs more often than what follows. */
	bool is_jump = py_op_is_jump(code->version, code->bytecode[op * 2]);
	if (is_jump && samples_before * loads > samples * loads_before) {
		samples = samples_before;
		loads = loads_before;
	}
	uint64_t own = codes_find_op(code, op * 2)->leaf;
	uint64_t beside = samples + handled > own / 200 ? samples + handled - own / 200 : 0;
	return own * loads > 400 + 800 * beside;
}

static bool is_any_call(const struct code *code, uint32_t op)
{
	enum py_op_kind kind = py_op_kind(code->version, code->bytecode[op * 2]);
	return kind == PY_OP_CALL || kind == PY_OP_CALL_C || kind == PY_OP_CALL_PYTHON;
}

static void test_any_code_as_plainly(void **state)
{
	(void)state;
	static const uint16_t versions[] = {0x0308, 0x030b, 0x030d, 0x030f, 0x0399};
	static unsigned char random_code[400];
	uint64_t random = 12345;
	uint32_t natives = 0;
	for (uint32_t round = 0; round < 400; round++) {
		for (uint32_t i = 0; i < sizeof(random_code); i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			random_code[i] = (unsigned char)(random >> 56);
		}
		struct code code = CODE(random_code);
		code.version = versions[round % 5];
		for (uint32_t i = 0; i < 12; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			codes_count(&code, (uint32_t)(random >> 33) % sizeof(random_code))->leaf =
				i % 3 == 0 ? 5000 : (uint32_t)(random >> 60) / 4;
		}
		for (uint32_t i = 0; i < code.op_count; i++) {
			uint32_t op = code.ops[i].op;
			if (is_any_call(&code, op))
				continue;
			bool is_native = classify_is_native(&code, op * 2);
			assert_int_equal(is_native, is_native_plainly(&code, op));
			natives += is_native;
		}
		forget(&code);
	}
	assert_true(natives > 100); /* both answers come up */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_program_counter_says),
		cmocka_unit_test(test_long_operation_is_native),
		cmocka_unit_test(test_short_operation_is_python),
		cmocka_unit_test(test_raising_is_not_long),
		cmocka_unit_test(test_two_long_operations_do_not_hide_each_other),
		cmocka_unit_test(test_few_samples_stay_with_python),
		cmocka_unit_test(test_moving_about_is_sooner_long),
		cmocka_unit_test(test_waiting_for_memory_is_not_long),
		cmocka_unit_test(test_call_is_native_unless_python_was_called),
		cmocka_unit_test(test_c_code_that_calls_python),
		cmocka_unit_test(test_call_that_was_seen_to_enter),
		cmocka_unit_test(test_c_code_that_calls_python_without_names),
		cmocka_unit_test(test_call_of_an_extension_that_calls_python),
		cmocka_unit_test(test_extension_work_takes_the_rest_along),
		cmocka_unit_test(test_loop_head_is_compared_with_the_body),
		cmocka_unit_test(test_names_are_short_too),
		cmocka_unit_test(test_outside_the_code),
		cmocka_unit_test(test_verdict_of_one_sample),
		cmocka_unit_test(test_caches_are_no_instructions),
		cmocka_unit_test(test_endless_straight_code),
		cmocka_unit_test(test_any_code_as_plainly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
