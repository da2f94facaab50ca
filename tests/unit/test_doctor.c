/* What a check says, and what programs are told of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/doctor.h"

static struct doctor doctor;

static int begin(void **state)
{
	(void)state;
	memset(&doctor, 0, sizeof(doctor));
	return 0;
}

static struct doctor_check *blame(const char *sentence)
{
	struct doctor_check *check = doctor_add(&doctor, "x");
	struct err err;

	err_set(&err, ERR_USAGE, "%s", sentence);
	doctor_blame(check, DOCTOR_NO, &err);
	assert_int_equal(check->state, DOCTOR_NO);
	return check;
}

static void test_the_end_of_a_sentence_is_the_fix(void **state)
{
	(void)state;
	struct doctor_check *check = blame("it is not permitted; type: sudo sysctl a.b=1");

	assert_string_equal(check->text, "it is not permitted");
	assert_string_equal(check->fix, "sudo sysctl a.b=1");
	check = blame("only children (scope 1); type: sudo it, or permit it: sudo sysctl a.b=0");
	assert_string_equal(check->text, "only children (scope 1)");
	assert_string_equal(check->fix, "sudo sysctl a.b=0");
	check = blame("no python3 on the PATH; name an interpreter with --python");
	assert_string_equal(check->fix, "name an interpreter with --python");
	check = blame("one thing: another; and a third; install it again");
	assert_string_equal(check->text, "one thing: another; and a third");
	assert_string_equal(check->fix, "install it again");
	check = blame("cannot read 'x': Permission denied");
	assert_string_equal(check->text, "cannot read 'x': Permission denied");
	assert_string_equal(check->fix, "");
}

static void test_no_escape_sequence_gets_through(void **state)
{
	(void)state;
	struct doctor_check *check = doctor_add(&doctor, "x");

	doctor_say(check, DOCTOR_OK, "a %s b", "\033[2J\n\x7f");
	doctor_fix(check, "run %s", "\033c");
	assert_string_equal(check->text, "a ?[2J?? b");
	assert_string_equal(check->fix, "run ?c");
}

static void test_it_works_when_run_does(void **state)
{
	(void)state;
	assert_false(doctor_works(&doctor));
	struct doctor_check *python = doctor_add(&doctor, "python");
	struct doctor_check *run = doctor_add(&doctor, "run");
	struct doctor_check *page = doctor_add(&doctor, "page");

	doctor_say(page, DOCTOR_NO, "none");
	doctor_say(python, DOCTOR_LIMITED, "old");
	assert_true(doctor_works(&doctor));
	doctor_say(run, DOCTOR_NO, "no agent");
	assert_false(doctor_works(&doctor));
	doctor_say(run, DOCTOR_OK, "yes");
	doctor_say(python, DOCTOR_NO, "none");
	assert_false(doctor_works(&doctor));
	assert_ptr_equal(doctor_find(&doctor, "run"), run);
	assert_null(doctor_find(&doctor, "walk"));
}

/* What a printing function writes; the caller frees. */
static char *printed(void (*print)(FILE *, const struct doctor *))
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = tmpfile();

	assert_non_null(file);
	print(file, &doctor);
	size = (size_t)ftell(file);
	rewind(file);
	text = calloc(1, size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, size, file), size);
	fclose(file);
	return text;
}

static void test_people_and_programs_are_told_the_same(void **state)
{
	(void)state;
	struct doctor_check *check = doctor_add(&doctor, "shared_memory");

	doctor_say(check, DOCTOR_LIMITED, "little room");
	doctor_fix(check, "mount more");
	doctor_fact_text(check, "place", "/dev/shm");
	doctor_fact_number(check, "free_mb", 1.5);
	doctor_fact_truth(check, "is_so", true);
	doctor_say(doctor_add(&doctor, "gpu"), DOCTOR_NOTE, "none here");

	char *json = printed(doctor_print_json), *text = printed(doctor_print);
	assert_non_null(strstr(json, "\"works\":false"));
	assert_non_null(strstr(json, "{\"name\":\"shared_memory\",\"state\":\"limited\",\"text\":\"little room\","
				     "\"fix\":\"mount more\",\"facts\":{\"place\":\"/dev/shm\",\"free_mb\":1.5,"
				     "\"is_so\":true}}"));
	assert_non_null(strstr(json, "{\"name\":\"gpu\",\"state\":\"note\",\"text\":\"none here\",\"fix\":null,"
				     "\"facts\":{}}"));
	assert_string_equal(text, "  limited  shared memory little room\n"
				  "                         fix: mount more\n"
				  "  -        gpu           none here\n"
				  "\n"
				  "heatline run does not work here.\n");
	free(json);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_end_of_a_sentence_is_the_fix, begin),
		cmocka_unit_test_setup(test_no_escape_sequence_gets_through, begin),
		cmocka_unit_test_setup(test_it_works_when_run_does, begin),
		cmocka_unit_test_setup(test_people_and_programs_are_told_the_same, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
