/* Options from a YAML file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/config.h"

struct settings {
	const char *outfile, *words, *config;
	double number;
	bool is_flag, has_stacks;
};

#define FIELD(name) .offset = offsetof(struct settings, name)

static const struct option table[] = {
	{.name = "outfile", .alias = "output", .kind = OPTION_FILE, .help = "", FIELD(outfile)},
	{.name = "profile-only", .kind = OPTION_LIST, .help = "", FIELD(words)},
	{.name = "number", .kind = OPTION_NUMBER, .low = 0, .high = 100, .help = "", FIELD(number)},
	{.name = "flag", .kind = OPTION_FLAG, .help = "", FIELD(is_flag)},
	{.name = "stacks", .kind = OPTION_SWITCH, .help = "", FIELD(has_stacks)},
	{.name = "config", .kind = OPTION_FILE, .flags = OPTION_NO_CONFIG, .help = "",
	 FIELD(config)},
	OPTIONS_COMMON,
	{0},
};

static const struct command command = {.name = "run", .options = table};

/* One reading; the file is named "c.yaml" in messages, in a folder of its own. */
struct reading {
	int status;
	struct settings settings;
	struct options_result result;
	struct err err;
};

static int enter_folder(void **state)
{
	static char folder[] = "/tmp/heatline-test-XXXXXX";

	*state = mkdtemp(folder);
	return *state ? chdir(*state) : -1;
}

static int leave_folder(void **state)
{
	unlink("c.yaml");
	return chdir("/") || rmdir(*state);
}

static void read_text(struct reading *reading, const char *text, uint64_t given)
{
	FILE *file = fopen("c.yaml", "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	memset(reading, 0, sizeof(*reading));
	reading->settings.has_stacks = true;
	reading->result.given = given;
	reading->status =
		config_read("c.yaml", &command, &reading->settings, &reading->result,
			    &reading->err);
}

static void expect_error(const char *text, const char *sentence)
{
	struct reading reading;

	read_text(&reading, text, 0);
	assert_true(reading.status < 0);
	assert_string_equal(reading.err.message, sentence);
	options_result_fini(&reading.result);
}

static void values(void **state)
{
	struct reading reading;

	read_text(&reading,
		  "output: p.json\nprofile_only: [a, b]\nnumber: 2.5\nflag: yes\nstacks: off\n", 0);
	assert_int_equal(reading.status, 0);
	assert_string_equal(reading.settings.outfile, "p.json");
	assert_string_equal(reading.settings.words, "a,b");
	assert_true(reading.settings.number == 2.5);
	assert_true(reading.settings.is_flag);
	assert_false(reading.settings.has_stacks);
	options_result_fini(&reading.result);
}

static void the_command_line_wins(void **state)
{
	struct reading reading;

	read_text(&reading, "outfile: from-config\nnumber: 7\n", 1u << 0);
	assert_int_equal(reading.status, 0);
	assert_null(reading.settings.outfile);
	assert_true(reading.settings.number == 7);
	options_result_fini(&reading.result);
}

static void nothing_is_nothing(void **state)
{
	struct reading reading;
	const char *const texts[] = {"", "# a comment\n", "---\n", "outfile:\nflag: ~\n", "{}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_text(&reading, texts[i], 0);
		assert_int_equal(reading.status, 0);
		assert_null(reading.settings.outfile);
	}
}

static void negated_keys(void **state)
{
	struct reading reading;

	read_text(&reading, "no-stacks: true\n", 0);
	assert_int_equal(reading.status, 0);
	assert_false(reading.settings.has_stacks);
}

static void wrong_files(void **state)
{
	expect_error("flag: true\noutfle: x\n",
		     "c.yaml:2: unknown key 'outfle'; did you mean 'outfile'?");
	expect_error("zzzzzzzz: x\n",
		     "c.yaml:1: unknown key 'zzzzzzzz'; "
		     "the keys are the long options of 'heatline run'");
	expect_error("config: other.yaml\n",
		     "c.yaml:1: unknown key 'config'; "
		     "the keys are the long options of 'heatline run'");
	expect_error("outfile: [a]\n", "c.yaml:1: outfile takes one value, not a list");
	expect_error("outfile: {a: b}\n", "c.yaml:1: outfile takes one value, not a mapping");
	expect_error("profile-only: [[a]]\n", "c.yaml:1: profile-only takes one value, not a list");
	expect_error("flag: 3\n", "c.yaml:1: flag is true or false, not '3'");
	expect_error("number: many\n", "c.yaml:1: number takes a number from 0 to 100, not 'many'");
	expect_error("outfile: \"a\\0b\"\n",
		     "c.yaml:1: outfile takes one value, not a text with zero bytes");
	expect_error("- a\n",
		     "c.yaml is no list of options: write lines like 'outfile: profile.json'");
	expect_error("? [a]\n: b\n", "c.yaml:1: a key must be an option's name");
	expect_error("a: [\n", "c.yaml:2: this is not YAML: did not find expected node content");
}

static void no_file(void **state)
{
	struct reading reading = {0};

	reading.status = config_read("nosuch.yaml", &command, &reading.settings, &reading.result,
				     &reading.err);
	assert_true(reading.status < 0);
	assert_non_null(strstr(reading.err.message, "'nosuch.yaml'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(the_command_line_wins),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(negated_keys),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(no_file),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
