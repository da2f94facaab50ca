/* test_highlight.c - the colours of Python source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/highlight.h"
#include "report/style.h"

/* A letter for each paint, so that expectations can be written below the source. */
static char letter(uint8_t paint)
{
	switch (paint) {
	case PAINT_NONE:
		return '.';
	case PAINT_KEYWORD:
		return 'k';
	case PAINT_STRING:
		return 's';
	case PAINT_COMMENT:
		return 'c';
	case PAINT_NUMBER:
		return 'n';
	case PAINT_DECORATOR:
		return 'd';
	case PAINT_NAME:
		return 'N';
	default:
		return '?';
	}
}

static void expect(struct highlight *state, const char *line, const char *expected)
{
	uint8_t paints[200];
	char got[201] = "";
	size_t size = strlen(line);

	assert_true(size <= sizeof paints);
	highlight_line(state, line, size, paints);
	for (size_t i = 0; i < size; i++)
		got[i] = letter(paints[i]);
	assert_string_equal(got, expected);
}

static void expect_alone(const char *line, const char *expected)
{
	struct highlight state;

	highlight_begin(&state);
	expect(&state, line, expected);
	assert_int_equal(state.depth, 0);
}

static void test_words(void **unused)
{
	(void)unused;
	expect_alone("for x in range(10): # all", "kkk...kk.......nn...ccccc");
	expect_alone("async def go(self): pass", "kkkkk.kkk.NN........kkkk");
	expect_alone("class A(B): x = None", "kkkkk.N.........nnnn");
	expect_alone("form.for_ = classes", "...................");
	expect_alone("re.match(x).import", "..................");
	expect_alone("caf\xc3\xa9 = if_", "...........");
}

static void test_soft_keywords(void **unused)
{
	(void)unused;
	expect_alone("match point:", "kkkkk.......");
	expect_alone("    case (0, 1):", "....kkkk..n..n..");
	expect_alone("match = 1", "........n");
	expect_alone("match(x)", "........");
	expect_alone("case: int", ".........");
	expect_alone("type Pair = tuple", "kkkk.............");
	expect_alone("type(x)", ".......");
}

static void test_numbers(void **unused)
{
	(void)unused;
	expect_alone("1_000 + .5 + 0xfe+1 - 1e-3j", "nnnnn...nn...nnnn.n...nnnnn");
	expect_alone("x1 = a.b2", ".........");
}

static void test_decorators(void **unused)
{
	(void)unused;
	expect_alone("  @app.route('/')", "..dddddddddd.sss.");
	expect_alone("a @ b", ".....");
}

static void test_strings(void **unused)
{
	(void)unused;
	expect_alone("a = 'it\\'s' + rb\"\\\"\" # '", "....sssssss...ssssss.ccc");
	expect_alone("u'' '' bar'x'", "sss.ss....sss");
	expect_alone("'open", "sssss");
	expect_alone("x = '#' # '#'", "....sss.ccccc");
}

static void test_formatted_strings(void **unused)
{
	(void)unused;
	expect_alone("f\"a {x} b\"", "sss" "s..." "sss");
	expect_alone("f'{{x}}'", "ssssssss");
	expect_alone("f\"{d[\"k\"]}\"", "ss...sss..s");
	expect_alone("f'{x!r:>{w}} {1}'", "ss....." "s" "....s.n.s");
	expect_alone("f'{a if b else {1: 2}[1]}'", "ss...kk...kkkk..n..n..n..s");
	expect_alone("rf'\\{x}'", "ssss...s");
	expect_alone("f'\\N{DASH}{x}'", "ssssssssss...s");
	expect_alone("t'{x}'", "ss...s");
}

static void test_triple_quotes(void **unused)
{
	struct highlight state;

	(void)unused;
	highlight_begin(&state);
	expect(&state, "x = \"\"\"for 'a", "....sssssssss");
	expect(&state, "  \"\" def # no", "sssssssssssss");
	expect(&state, "", "");
	expect(&state, "end\"\"\"; return 1", "ssssss..kkkkkk.n");
	expect(&state, "f'''{", "ssss.");
	expect(&state, "  x + 1", "......n");
	expect(&state, "} '' '''", ".sssssss");
	assert_int_equal(state.depth, 0);
}

static void test_line_ends(void **unused)
{
	struct highlight state;

	(void)unused;
	highlight_begin(&state);
	expect(&state, "a = 'one \\", "....ssssss");
	expect(&state, "two' if b", "ssss.kk..");
	/* A string that nothing closes does not discolour what follows. */
	expect(&state, "f'{x + \"y", "ss.....ss");
	expect(&state, "if x:", "kk...");
}

static void test_deep_nesting(void **unused)
{
	struct highlight state;
	char line[1000];
	uint8_t paints[sizeof line];

	(void)unused;
	highlight_begin(&state);
	for (size_t i = 0; i + 3 <= sizeof line; i += 3)
		memcpy(line + i, "f'{", 3);
	highlight_line(&state, line, sizeof line, paints);
	assert_true(state.depth <= HIGHLIGHT_DEPTH);
}

/* Any bytes: each gets a paint, nothing beyond is touched, the state stays sound. */
static void test_hostile_bytes(void **unused)
{
	static const char alphabet[] = "f'\"{}[]():!\\#@ \tNrbx=.1e_\xc3\xa9\x00\xff\n";
	struct highlight state;
	uint32_t random = 12345;

	(void)unused;
	highlight_begin(&state);
	for (int round = 0; round < 20000; round++) {
		size_t size = random % 80;
		char *line = malloc(size + 1);
		uint8_t *paints = malloc(size + 1);

		memset(paints, 0xee, size + 1);
		for (size_t i = 0; i < size; i++) {
			random = random * 1664525 + 1013904223;
			line[i] = random >> 31 ? alphabet[(random >> 16) % sizeof alphabet]
					       : (char)(random >> 16);
		}
		highlight_line(&state, line, size, paints);
		for (size_t i = 0; i < size; i++)
			assert_in_range(paints[i], 0, PAINT_COUNT - 1);
		assert_int_equal(paints[size], 0xee);
		assert_true(state.depth <= HIGHLIGHT_DEPTH);
		free(line);
		free(paints);
		random = random * 1664525 + 1013904223;
	}
}

/* A line of a megabyte takes no more than a moment, whatever it holds. */
static void test_long_lines(void **unused)
{
	static const char *const pieces[] = {"f'{", "\\N{", "match ", "'''", "((", "a.", "1e+"};
	size_t size = 1 << 20;
	char *line = malloc(size);
	uint8_t *paints = malloc(size);

	(void)unused;
	for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
		struct highlight state;

		highlight_begin(&state);
		line[0] = 'f';
		line[1] = '"';
		for (size_t i = 2; i < size; i++)
			line[i] = pieces[p][i % strlen(pieces[p])];
		highlight_line(&state, line, size, paints);
		highlight_line(&state, line + 2, size - 2, paints);
	}
	free(line);
	free(paints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_soft_keywords),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_decorators),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_formatted_strings),
		cmocka_unit_test(test_triple_quotes),
		cmocka_unit_test(test_line_ends),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_hostile_bytes),
		cmocka_unit_test(test_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
