/* The parser of a command's words, with a table of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"

struct settings {
	const char *file, *words, *color, *text;
	double number;
	long integer;
	bool is_flag, is_quiet, has_stacks;
};

#define FIELD(name) .offset = offsetof(struct settings, name)

static const struct option table[] = {
	{.name = "outfile", .letter = 'o', .alias = "output", .kind = OPTION_FILE, .value = "FILE",
	 .help = "", FIELD(file)},
	{.name = "words", .kind = OPTION_LIST, .help = "", FIELD(words)},
	{.name = "color", .kind = OPTION_CHOICE, .choices = "auto|always|never", .help = "",
	 FIELD(color)},
	{.name = "text-value", .kind = OPTION_TEXT, .help = "", FIELD(text)},
	{.name = "number", .letter = 'n', .kind = OPTION_NUMBER, .low = 0.5, .high = 2, .help = "",
	 FIELD(number)},
	{.name = "integer", .kind = OPTION_INTEGER, .help = "", FIELD(integer)},
	{.name = "flag", .letter = 'f', .kind = OPTION_FLAG, .help = "", FIELD(is_flag)},
	{.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .help = "", FIELD(is_quiet)},
	{.name = "stacks", .kind = OPTION_SWITCH, .help = "", FIELD(has_stacks)},
	{.letter = 'm', .kind = OPTION_PROGRAM, .value = "MODULE", .help = ""},
	OPTIONS_COMMON,
	{0},
};

static const struct command mixed = {.name = "test", .options = table};
static const struct command stopping = {.name = "test", .options = table, .stops_at_operand = true};

#define WORDS_MAX 12

/* One parse: words in, everything out. */
struct parse {
	char *words[WORDS_MAX + 1];
	int count;
	int status;
	struct settings settings;
	struct options_result result;
	struct err err;
};

static void parse_by(struct parse *parse, const struct command *command, const char *const *words)
{
	memset(parse, 0, sizeof(*parse));
	parse->settings.has_stacks = true;
	while (words[parse->count]) {
		assert_true(parse->count < WORDS_MAX);
		parse->words[parse->count] = (char *)words[parse->count];
		parse->count++;
	}
	parse->status = options_parse(command, parse->count, parse->words, &parse->settings,
				      &parse->result, &parse->err);
}

#define PARSE(parse, command, ...) \
	parse_by(parse, command, (const char *const[]){__VA_ARGS__, NULL})

static void expect_error(const char *word, const char *next, const char *sentence)
{
	struct parse parse;

	PARSE(&parse, &mixed, word, next);
	assert_true(parse.status < 0);
	assert_string_equal(parse.err.message, sentence);
	options_result_fini(&parse.result);
}

static void values_of_every_kind(void **state)
{
	struct parse parse;

	PARSE(&parse, &mixed, "--outfile=a.json", "--color", "never", "-n1.5", "--integer", "-7",
	      "--text-value", "", "-fq", "--no-stacks");
	assert_int_equal(parse.status, 0);
	assert_string_equal(parse.settings.file, "a.json");
	assert_string_equal(parse.settings.color, "never");
	assert_string_equal(parse.settings.text, "");
	assert_true(parse.settings.number == 1.5);
	assert_int_equal(parse.settings.integer, -7);
	assert_true(parse.settings.is_flag && parse.settings.is_quiet);
	assert_false(parse.settings.has_stacks);
	assert_int_equal(parse.result.operand_count, 0);
	options_result_fini(&parse.result);
}

static void names_have_aliases_and_underscores(void **state)
{
	struct parse parse;

	PARSE(&parse, &mixed, "--output", "b", "--text_value=x=y", "--no_stacks");
	assert_int_equal(parse.status, 0);
	assert_string_equal(parse.settings.file, "b");
	assert_string_equal(parse.settings.text, "x=y");
	assert_false(parse.settings.has_stacks);
	assert_int_equal(parse.result.given, 1u << 0 | 1u << 3 | 1u << 8);
	options_result_fini(&parse.result);
}

static void lists_grow(void **state)
{
	struct parse parse;

	PARSE(&parse, &mixed, "--words", "a,b", "--words=c");
	assert_int_equal(parse.status, 0);
	assert_string_equal(parse.settings.words, "a,b,c");
	options_result_fini(&parse.result);
}

static void operands_stand_anywhere(void **state)
{
	struct parse parse;

	PARSE(&parse, &mixed, "one", "-q", "two", "-o", "x", "--", "--flag", "-");
	assert_int_equal(parse.status, 0);
	assert_int_equal(parse.result.operand_count, 4);
	assert_string_equal(parse.result.operands[0], "one");
	assert_string_equal(parse.result.operands[1], "two");
	assert_string_equal(parse.result.operands[2], "--flag");
	assert_string_equal(parse.result.operands[3], "-");
	assert_null(parse.result.operands[4]);
	assert_false(parse.settings.is_flag);
}

static void a_program_keeps_its_words(void **state)
{
	struct parse parse;

	PARSE(&parse, &stopping, "-q", "prog.py", "--flag", "-o");
	assert_int_equal(parse.status, 0);
	assert_int_equal(parse.result.operand_count, 3);
	assert_string_equal(parse.result.operands[0], "prog.py");
	assert_string_equal(parse.result.operands[2], "-o");
	assert_false(parse.settings.is_flag);

	PARSE(&parse, &stopping, "-m", "module", "-q");
	assert_int_equal(parse.result.operand_count, 3);
	assert_string_equal(parse.result.operands[0], "-m");
	assert_false(parse.settings.is_quiet);

	PARSE(&parse, &stopping, "-q", "---", "--weird.py", "-q");
	assert_int_equal(parse.result.operand_count, 2);
	assert_string_equal(parse.result.operands[0], "--weird.py");

	PARSE(&parse, &stopping, NULL);
	assert_int_equal(parse.result.operand_count, 0);
	assert_null(parse.result.operands[0]);
}

static void help_ends_the_parsing(void **state)
{
	struct parse parse;

	PARSE(&parse, &mixed, "-h", "--nonsense");
	assert_int_equal(parse.status, 0);
	assert_int_equal(parse.result.help, OPTION_HELP);
	PARSE(&parse, &mixed, "--help-advanced");
	assert_int_equal(parse.result.help, OPTION_HELP_ADVANCED);
}

static void unknown_options_name_the_nearest(void **state)
{
	expect_error("--outfil=x", NULL, "unknown option '--outfil'; did you mean '--outfile'?");
	expect_error("--out", NULL, "unknown option '--out'; did you mean '--outfile'?");
}

static void unknown_options_without_a_neighbour(void **state)
{
	expect_error("--zzzzzz", NULL,
		     "unknown option '--zzzzzz'; "
		     "'heatline test --help' shows those that there are");
	expect_error("-x", NULL,
		     "unknown option '-x'; 'heatline test --help' shows those that there are");
	expect_error("-qx", NULL,
		     "unknown option '-qx'; 'heatline test --help' shows those that there are");
}

static void values_are_checked(void **state)
{
	expect_error("--outfile", NULL, "--outfile needs a FILE after it");
	expect_error("-o", "--flag", "-o needs a FILE, not the option --flag");
	expect_error("--outfile=", NULL,
		     "--outfile needs the name of a file, and got an empty one");
	expect_error("--number", "3", "--number takes a number from 0.5 to 2, not '3'");
	expect_error("--number", "nan", "--number takes a number from 0.5 to 2, not 'nan'");
	expect_error("--number", "1x", "--number takes a number from 0.5 to 2, not '1x'");
	expect_error("--number=", NULL, "--number takes a number from 0.5 to 2, not ''");
	expect_error("--integer", "1.5", "--integer takes a whole number, not '1.5'");
	expect_error("--integer", "99999999999999999999",
		     "--integer takes a whole number, not '99999999999999999999'");
	expect_error("--color", "alw", "--color takes one of auto|always|never, not 'alw'");
	expect_error("--color", "", "--color takes one of auto|always|never, not ''");
	expect_error("--flag=1", NULL, "--flag takes no value");
}

static void long_words_are_no_names(void **state)
{
	char word[4096];
	struct parse parse;

	memset(word, 'a', sizeof(word) - 1);
	memcpy(word, "--", 2);
	word[sizeof(word) - 1] = '\0';
	PARSE(&parse, &mixed, word);
	assert_true(parse.status < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_every_kind),
		cmocka_unit_test(names_have_aliases_and_underscores),
		cmocka_unit_test(lists_grow),
		cmocka_unit_test(operands_stand_anywhere),
		cmocka_unit_test(a_program_keeps_its_words),
		cmocka_unit_test(help_ends_the_parsing),
		cmocka_unit_test(unknown_options_name_the_nearest),
		cmocka_unit_test(unknown_options_without_a_neighbour),
		cmocka_unit_test(values_are_checked),
		cmocka_unit_test(long_words_are_no_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
