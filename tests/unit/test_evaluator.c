/* test_evaluator.c - functions by name; this very program has some that are called as an interpreter's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/images.h"
#include "remote/evaluator.h"

int _PyEval_EvalFrameDefault(int value);
int PyTuple_New(int value);
int list_sort_impl(int value);

__attribute__((noinline)) int _PyEval_EvalFrameDefault(int value)
{
	return value * 3 + getpid();
}

__attribute__((noinline)) int PyTuple_New(int value)
{
	return value * 5 + getpid();
}

__attribute__((noinline)) int list_sort_impl(int value)
{
	return value * 7 + getpid();
}

static void test_names(void **unused)
{
	(void)unused;
	assert_int_equal(evaluator_part_of("_PyEval_EvalFrameDefault"), EVALUATOR_LOOP);
	assert_int_equal(evaluator_part_of("_PyEval_EvalFrameDefault.cold"), EVALUATOR_LOOP);
	assert_int_equal(evaluator_part_of("vectorcall_unbound"), EVALUATOR_ENTERING);
	assert_int_equal(evaluator_part_of("slot_tp_richcompare"), EVALUATOR_ENTERING);
	assert_int_equal(evaluator_part_of("_TAIL_CALL_LOAD_FAST"), EVALUATOR_LOOP);
	assert_int_equal(evaluator_part_of("PyDict_New"), EVALUATOR_CHORES);
	assert_int_equal(evaluator_part_of("tuple_alloc.isra.0"), EVALUATOR_CHORES);
	assert_int_equal(evaluator_part_of("tupledealloc"), EVALUATOR_CHORES);
	assert_int_equal(evaluator_part_of("PyObject_Vectorcall"), EVALUATOR_RUNNING);
	assert_int_equal(evaluator_part_of("lookdict"), EVALUATOR_READING);
	assert_int_equal(evaluator_part_of("list_sort_impl"), EVALUATOR_NONE);
	assert_int_equal(evaluator_part_of("_PyEval_EvalFrame"), EVALUATOR_ENTERING);
	assert_int_equal(evaluator_part_of("_PyEval_EvalFrameDefaults"), EVALUATOR_NONE);
	assert_int_equal(evaluator_part_of(""), EVALUATOR_NONE);
	assert_int_equal(evaluator_part_of(".cold"), EVALUATOR_NONE);
}

static enum evaluator_part part_at(const struct evaluator *evaluator, struct images *images,
				   int (*function)(int))
{
	uint64_t address = (uint64_t)(uintptr_t)function;

	assert_int_equal(images_find(images, getpid(), address, 1), IMAGE_INTERPRETER);
	return evaluator_find(evaluator, images_offset(images, address));
}

/* From an address in a process to its place in the file, and to the name that is there. */
static void test_own_functions(void **unused)
{
	(void)unused;
	struct evaluator evaluator;
	struct images images;

	images_init(&images, (uint64_t)(uintptr_t)test_own_functions);
	images_find(&images, getpid(), (uint64_t)(uintptr_t)test_own_functions, 1);
	assert_non_null(images.interpreter_path);
	evaluator_read(&evaluator, getpid(), images.interpreter_path);
	assert_true(evaluator.is_complete);
	assert_int_equal(part_at(&evaluator, &images, _PyEval_EvalFrameDefault), EVALUATOR_LOOP);
	assert_int_equal(part_at(&evaluator, &images, PyTuple_New), EVALUATOR_CHORES);
	assert_int_equal(part_at(&evaluator, &images, list_sort_impl), EVALUATOR_NONE);
	assert_int_equal(evaluator_find(&evaluator, UINT64_MAX), EVALUATOR_NONE);
	assert_true(images_offset(&images, 16) == UINT64_MAX);
	for (uint32_t i = 1; i < evaluator.pieces.count; i++)
		assert_true(evaluator.pieces.items[i].start >= evaluator.pieces.items[i - 1].end);
	evaluator_fini(&evaluator);
	images_fini(&images);
}

static void test_no_file(void **unused)
{
	(void)unused;
	struct evaluator evaluator;

	evaluator_read(&evaluator, getpid(), "/nowhere/libpython3.so");
	assert_int_equal(evaluator.pieces.count, 0);
	assert_int_equal(evaluator_find(&evaluator, 0), EVALUATOR_NONE);
	evaluator_fini(&evaluator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_own_functions),
		cmocka_unit_test(test_no_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
