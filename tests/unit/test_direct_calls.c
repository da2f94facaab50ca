/* test_direct_calls.c - instructions that were written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "remote/direct_calls.h"

#define START 0x400000u
#define ROOM  8u

struct seen {
	enum direct_kind kinds[ROOM];
	uint64_t targets[ROOM];
	unsigned count;
};

static void see(void *context, enum direct_kind kind, uint64_t target)
{
	struct seen *seen = context;

	assert_true(seen->count < ROOM);
	seen->kinds[seen->count] = kind;
	seen->targets[seen->count++] = target;
}

static void see_reference(void *context, uint64_t target)
{
	struct seen *seen = context;

	seen->count += target == START + 0x1007 || target == 0x00612345;
}

#ifdef __x86_64__
static void test_calls(void **unused)
{
	(void)unused;
	static const unsigned char bytes[] = {
		0xe8, 0xfb, 0x0f, 0, 0,       /* call 0x1000 bytes from the beginning */
		0x90,                         /* no matter */
		0x0f, 0x84, 0xf4, 0x1f, 0, 0, /* jump there if equal: 0x2000 */
		0x0f, 0x05,                   /* no jump */
		0xe9, 0xf0, 0xff, 0xff, 0xff, /* jump to the call: inside */
		0xe9, 0xe3, 0xff, 0xff, 0xff, /* jump before the beginning: -5 */
		0xc3, 0xe8, 0, 0,             /* a call that is cut off */
	};
	const struct direct_code code = { bytes, START, sizeof(bytes) };
	struct seen seen = { .count = 0 };

	direct_calls(&code, see, &seen);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.kinds[0], DIRECT_CALL);
	assert_int_equal(seen.targets[0], START + 0x1000);
	assert_int_equal(seen.kinds[1], DIRECT_JUMP);
	assert_int_equal(seen.targets[1], START + 0x2000);
	assert_int_equal(seen.kinds[2], DIRECT_JUMP);
	assert_int_equal(seen.targets[2], START - 5);
}

static void test_references(void **unused)
{
	(void)unused;
	static const unsigned char bytes[] = {
		0x48, 0x8d, 0x05, 0x00, 0x10, 0, 0,             /* take the address 0x1007 bytes from here */
		0x48, 0xc7, 0x43, 0x70, 0x45, 0x23, 0x61, 0x00, /* store a number */
		0x48, 0x8d, 0x45, 0x00, 0x10, 0, 0,             /* the address of something on the stack */
	};
	const struct direct_code code = { bytes, START, sizeof(bytes) };
	struct seen seen = { .count = 0 };

	direct_references(&code, see_reference, &seen);
	assert_int_equal(seen.count, 2);
}
#endif

static void test_nothing(void **unused)
{
	(void)unused;
	const struct direct_code code = { (const unsigned char *)"\xe8\xe8", START, 2 };
	struct seen seen = { .count = 0 };

	direct_calls(&code, see, &seen);
	direct_references(&code, see_reference, &seen);
	assert_int_equal(seen.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_references),
#endif
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
