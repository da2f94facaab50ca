/* test_source.c - Python sources in any encoding, split into lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "profile/source.h"
#include "profile_sample.h"

static void check(const char *bytes, size_t size, const char *expected)
{
	size_t text_size;
	char *text = source_decode(bytes, size, &text_size);
	assert_string_equal(text, expected);
	assert_int_equal(text_size, strlen(expected));
	free(text);
}

#define CHECK(bytes, expected) check(bytes, sizeof(bytes) - 1, expected)

static void test_utf8(void **state)
{
	CHECK("", "");
	CHECK("a = 'é€🔥'\n", "a = 'é€🔥'\n");
	CHECK("\xef\xbb\xbf" "a = 1\n", "a = 1\n");
	CHECK("a = '\xff\xfe'\n", "a = '\xef\xbf\xbd\xef\xbf\xbd'\n");
	CHECK("cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd");
	CHECK("# -*- coding: utf-8 -*-\n'é'\n", "# -*- coding: utf-8 -*-\n'é'\n");
}

static void test_declared_encodings(void **state)
{
	CHECK("# -*- coding: latin-1 -*-\n'\xe9'\n", "# -*- coding: latin-1 -*-\n'é'\n");
	CHECK("#!/usr/bin/python\n# coding=ISO-8859-15\n'\xa4'\n",
	      "#!/usr/bin/python\n# coding=ISO-8859-15\n'€'\n");
	CHECK("# vim: set fileencoding=cp1252 :\n'\x80'\n",
	      "# vim: set fileencoding=cp1252 :\n'€'\n");
	CHECK("# coding: windows_1251\n'\xff'\n", "# coding: windows_1251\n'я'\n");
	CHECK("# coding: shift_jis\n'\x93\xfa'\n", "# coding: shift_jis\n'日'\n");
	/* 0x81 means nothing in cp1252. */
	CHECK("# coding: cp1252\n\x81z\n", "# coding: cp1252\n\xef\xbf\xbdz\n");
}

static void test_declarations_that_do_not_count(void **state)
{
	CHECK("x = 1\n# coding: latin-1\n'é'\n", "x = 1\n# coding: latin-1\n'é'\n");
	CHECK("\n\n# coding: latin-1\n'é'\n", "\n\n# coding: latin-1\n'é'\n");
	CHECK("x = 'coding: latin-1 é'\n", "x = 'coding: latin-1 é'\n");
	CHECK("# coding: klingon\n'é'\n", "# coding: klingon\n'é'\n");
	CHECK("# coding: iso8859-../../x\n'é'\n", "# coding: iso8859-../../x\n'é'\n");
	CHECK("# coding:", "# coding:");
}

static void test_line_ends_and_zeros(void **state)
{
	CHECK("a\r\nb\rc\n\r\n", "a\nb\nc\n\n");
	CHECK("a\0b", "a b");
	CHECK("# coding: latin-1\r\n'\xe9'\r\n", "# coding: latin-1\n'é'\n");
}

static void test_lines(void **state)
{
	struct source_lines lines;
	size_t size;
	source_lines_init(&lines, "one\n\nthree", 10);
	assert_int_equal(lines.count, 3);
	assert_memory_equal(source_line(&lines, 1, &size), "one", 3);
	assert_int_equal(size, 3);
	source_line(&lines, 2, &size);
	assert_int_equal(size, 0);
	assert_memory_equal(source_line(&lines, 3, &size), "three", 5);
	assert_int_equal(size, 5);
	source_line(&lines, 4, &size);
	assert_int_equal(size, 0);
	source_line(&lines, 0, &size);
	assert_int_equal(size, 0);
	source_lines_fini(&lines);
	source_lines_init(&lines, "", 0);
	assert_int_equal(lines.count, 0);
	source_lines_fini(&lines);
}

static void test_line_of_a_file(void **state)
{
	struct profile *profile = profile_sample_new();
	size_t size;
	const char *line = source_file_line(&profile->files[0], 7, &size);
	assert_int_equal(size, strlen("            total += i"));
	assert_memory_equal(line, "            total += i", size);
	source_file_line(&profile->files[0], 0, &size);
	assert_int_equal(size, 0);
	source_file_line(&profile->files[0], 11, &size);
	assert_int_equal(size, 0);
	source_file_line(&profile->files[1], 1, &size);
	assert_int_equal(size, 0);
	profile_free(profile);
}

static void test_load(void **state)
{
	char path[] = "/tmp/heatline-source-XXXXXX";
	size_t size;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, "x = 1\r\n", 7, NULL), 0);
	char *text = source_load(path, &size);
	assert_string_equal(text, "x = 1\n");
	free(text);
	unlink(path);
	assert_null(source_load(path, &size));
	assert_null(source_load("/tmp", &size));
	assert_null(source_load("/dev/zero", &size));
	assert_null(source_load("<string>", &size));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_declared_encodings),
		cmocka_unit_test(test_declarations_that_do_not_count),
		cmocka_unit_test(test_line_ends_and_zeros),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_line_of_a_file),
		cmocka_unit_test(test_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
