/* test_glyph.c - text from outside on the terminal: safe, and of known width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/glyph.h"

static struct style plain = {.has_utf8 = true, .columns = 80, .is_cut = true};

/* What glyph_put writes, which the caller frees; *cells is what it returns. */
static char *put(const char *text, size_t size, uint32_t limit, uint32_t *cells)
{
	char *result;
	size_t result_size;
	FILE *out = open_memstream(&result, &result_size);

	*cells = glyph_put(out, &plain, text, size, limit);
	fclose(out);
	return result;
}

static void expect(const char *text, uint32_t limit, const char *expected, uint32_t width)
{
	uint32_t cells;
	char *result = put(text, strlen(text), limit, &cells);

	assert_string_equal(result, expected);
	assert_int_equal(cells, width);
	free(result);
}

static void test_escapes(void **unused)
{
	(void)unused;
	expect("a\033[2Jb", 80, "a\\x1b[2Jb", 9);
	expect("bell\a del\x7f", 80, "bell\\x07 del\\x7f", 16);
	expect("\xc2\x9b" "31m", 80, "\\x9b31m", 7); /* a one-character CSI */
	expect("a\rb\nc", 80, "a\\x0db\\x0ac", 11);
	expect("x\xe2\x80\xae" "y", 80, "x\\u202ey", 8);       /* right-to-left override */
	expect("\xef\xbb\xbf", 80, "\\ufeff", 6);
	expect("\xff\xc3", 80, "\\xff\\xc3", 8);               /* no UTF-8 */
	expect("\xed\xa0\x80", 80, "\\xed\\xa0\\x80", 12);     /* a surrogate */
	expect("\xf3\xa0\x80\xa1", 80, "\\U000e0021", 10);     /* an invisible tag */
}

static void test_widths(void **unused)
{
	(void)unused;
	expect("日本", 80, "日本", 4);
	expect("e\xcc\x81", 80, "e\xcc\x81", 1); /* combining acute */
	expect("\tx\ty", 80, "    x   y", 9);
	expect("🙂", 80, "🙂", 2);
}

static void test_cuts(void **unused)
{
	(void)unused;
	expect("abcdef", 6, "abcdef", 6);
	expect("abcdef", 5, "abcd…", 5);
	expect("日本語", 5, "日本…", 5);
	expect("日本語", 4, "日…", 3); /* half a character is not shown */
	expect("a\033b", 4, "a…", 2);  /* nor half an escape */
	expect("abc", 1, "…", 1);
	expect("abc", 0, "", 0);
	expect("", 5, "", 0);
}

static void test_stacked_marks(void **unused)
{
	char text[1 + 2 * 100 + 1] = "x";
	uint32_t cells;
	char *result;

	(void)unused;
	for (int i = 0; i < 100; i++)
		memcpy(text + 1 + 2 * i, "\xcc\x81", 2);
	result = put(text, sizeof text - 1, 80, &cells);
	assert_true(strlen(result) < 20);
	assert_int_equal(cells, 1);
	free(result);
}

static void test_ascii_only(void **unused)
{
	struct glyph glyph;

	(void)unused;
	glyph_read("\xc3\xa9", 2, 0, false, &glyph);
	assert_int_equal(glyph.input_size, 2);
	assert_memory_equal(glyph.text, "\\xe9", 4);
	assert_int_equal(glyph.width, 4);
}

static void test_tail(void **unused)
{
	char *result;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	(void)unused;
	assert_int_equal(glyph_put_tail(out, &plain, "/a/long/path/file.py", 10), 10);
	fputc('|', out);
	assert_int_equal(glyph_put_tail(out, &plain, "short", 10), 5);
	fputc('|', out);
	assert_int_equal(glyph_put_tail(out, &plain, "abc", 0), 0);
	fclose(out);
	assert_string_equal(result, "…h/file.py|short|");
	free(result);
}

static void test_short_path(void **unused)
{
	struct style style = plain;

	(void)unused;
	assert_string_equal(glyph_short_path(&style, "/a/b.py"), "/a/b.py");
	style.folder = "/a/";
	assert_string_equal(glyph_short_path(&style, "/a/b.py"), "b.py");
	assert_string_equal(glyph_short_path(&style, "/ab/c.py"), "/ab/c.py");
	assert_string_equal(glyph_short_path(&style, "/a/"), "/a/");
	style.folder = "/";
	assert_string_equal(glyph_short_path(&style, "/a/b.py"), "/a/b.py");
	style.folder = "";
	assert_string_equal(glyph_short_path(&style, "<string>"), "<string>");
}

static void test_wrapping(void **unused)
{
	struct style style = plain;
	char *result;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	(void)unused;
	style.columns = 20;
	glyph_put_wrapped(out, &style, "one two  three four five six-and-much-too-long-a-word", 2);
	fclose(out);
	assert_string_equal(result,
			    "one two three four\n  five\n  six-and-much-too-long-a-word\n");
	free(result);
}

static void test_painted(void **unused)
{
	static const uint8_t paints[] = {PAINT_KEYWORD, PAINT_KEYWORD, PAINT_NONE, PAINT_NONE};
	struct style style = plain;
	char *result;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	(void)unused;
	style.has_color = true;
	glyph_put_painted(out, &style, "if x", 4, 80, paints, 3, 4);
	fclose(out);
	assert_string_equal(result, "\033[0;35mif\033[0m \033[0;39;4mx\033[0m");
	free(result);
}

/* Whatever goes in, nothing that a terminal obeys comes out, within the limit. */
static void test_hostile_bytes(void **unused)
{
	uint32_t random = 99;

	(void)unused;
	for (int round = 0; round < 20000; round++) {
		char text[24];
		uint32_t limit = random % 30;
		uint32_t cells;
		char *result;

		for (size_t i = 0; i < sizeof text; i++) {
			random = random * 1664525 + 1013904223;
			text[i] = (char)(random >> 24 & (random >> 20 & 1 ? 0xff : 0x9f));
		}
		result = put(text, random % sizeof text, limit, &cells);
		assert_true(cells <= limit);
		for (const char *c = result; *c; c++) {
			assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
			assert_false(*c == '\xc2' && (unsigned char)c[1] < 0xa0);
		}
		free(result);
	}
}

static int set_locale(void **unused)
{
	struct style style;

	(void)unused;
	setenv("LC_ALL", "C.UTF-8", 1);
	style_init(&style, -1, STYLE_COLOR_NEVER);
	return style.has_utf8 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),      cmocka_unit_test(test_widths),
		cmocka_unit_test(test_cuts),         cmocka_unit_test(test_stacked_marks),
		cmocka_unit_test(test_ascii_only),   cmocka_unit_test(test_tail),
		cmocka_unit_test(test_short_path),   cmocka_unit_test(test_wrapping),
		cmocka_unit_test(test_painted),      cmocka_unit_test(test_hostile_bytes),
	};

	return cmocka_run_group_tests(tests, set_locale, NULL);
}
