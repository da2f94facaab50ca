/* test_socket.c - a socket's other end, from the kernel's tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "remote/socket.h"

static const char established[] =
	"   0: 0100007F:1F90 0700000A:1538 01 00000000:00000000 00:00000000 00000000     0        0 4711 1 x\n";
static const char listening[] =
	"  12: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 42 1 x\n";
static const char version_6[] =
	"   1: 00000000000000000000000001000000:0050 00000000000000000000000001000000:C001 01 "
	"00000000:00000000 00:00000000 00000000     0        0 7 1 x\n";

static void test_lines(void **unused)
{
	(void)unused;
	char text[100] = "";

	assert_true(socket_parse_internet(established, false, 4711, text, sizeof(text)));
	assert_string_equal(text, "to 10.0.0.7:5432");
	assert_true(socket_parse_internet(listening, false, 42, text, sizeof(text)));
	assert_string_equal(text, "at 0.0.0.0:8000");
	assert_true(socket_parse_internet(version_6, true, 7, text, sizeof(text)));
	assert_string_equal(text, "to [::1]:49153");
}

static void test_others(void **unused)
{
	(void)unused;
	char text[100] = "untouched", cut[sizeof(established)];

	assert_false(socket_parse_internet(established, false, 4712, text, sizeof(text)));
	assert_false(socket_parse_internet(established, true, 4711, text, sizeof(text)));
	assert_false(socket_parse_internet(version_6, false, 7, text, sizeof(text)));
	assert_false(socket_parse_internet("  sl  local_address rem_address   st\n", false, 0, text,
					   sizeof(text)));
	for (size_t size = 0; size < sizeof(cut) - 8; size++) {
		memcpy(cut, established, size);
		cut[size] = '\0';
		assert_false(socket_parse_internet(cut, false, 4711, text, sizeof(text)));
	}
	assert_string_equal(text, "untouched");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lines), cmocka_unit_test(test_others) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
