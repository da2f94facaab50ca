/* test_opcodes.c - which instructions a caller can stand at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "python/opcodes.h"

static void test_may_call(void **unused)
{
	(void)unused;
	/* 3.13: CALL, CALL_KW, FOR_ITER, SEND, LOAD_ATTR_PROPERTY, INSTRUMENTED_LINE */
	static const uint8_t calling[] = { 53, 57, 72, 104, 200, 254 };
	/* 3.13: POP_TOP, RETURN_VALUE, LOAD_FAST, STORE_FAST, YIELD_VALUE, LOAD_NAME */
	static const uint8_t others[] = { 32, 36, 85, 110, 118, 92 };

	for (size_t i = 0; i < sizeof(calling); i++)
		assert_true(py_op_may_call(0x030d, calling[i]));
	for (size_t i = 0; i < sizeof(others); i++)
		assert_false(py_op_may_call(0x030d, others[i]));
	/* 3.8: CALL_FUNCTION; STORE_FAST may free; RETURN_VALUE, LOAD_FAST */
	assert_true(py_op_may_call(0x0308, 131));
	assert_true(py_op_may_call(0x0308, 125));
	assert_false(py_op_may_call(0x0308, 83));
	assert_false(py_op_may_call(0x0308, 124));
	/* Nothing is known of this version. */
	assert_true(py_op_may_call(0x0399, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_may_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
