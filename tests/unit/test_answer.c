/* test_answer.c - answers as models write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "suggest/answer.h"

#define DIFF "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"

static void expect(const char *text, const char *diagnosis, const char *diff, const char *gain)
{
	struct answer answer;

	answer_parse(&answer, text, strlen(text));
	assert_string_equal(answer.diagnosis, diagnosis);
	assert_string_equal(answer.diff, diff);
	assert_string_equal(answer.gain, gain);
	answer_fini(&answer);
}

static void test_as_asked_for(void **state)
{
	struct answer answer;
	const char *text = "DIAGNOSIS: slow.\nAnd more.\nDIFF:\n```diff\n" DIFF
			   "```\nGAIN: 2 to 3\nRISKS: none\nTEST: run it\n";

	answer_parse(&answer, text, strlen(text));
	assert_string_equal(answer.diagnosis, "slow.\nAnd more.");
	assert_string_equal(answer.diff, DIFF);
	assert_string_equal(answer.gain, "2 to 3");
	assert_string_equal(answer.risks, "none");
	assert_string_equal(answer.test, "run it");
	answer_fini(&answer);
}

static void test_other_forms(void **state)
{
	expect("## Diagnosis\nslow\n\n## Diff\n```\n" DIFF "```\n**Expected gain:** 2\n", "slow", DIFF,
	       "2");
	expect("**Diagnosis**\r\nslow\r\n\r\n" DIFF "Gain: 4\r\n", "slow", DIFF, "4");
	expect("1. Diagnosis: slow\n2. Gain: 2\n```patch\n" DIFF "```\n", "slow", DIFF, "2");
	expect("It is slow.\n```diff\n" DIFF "```\nand\n```diff\nsecond\n```\n", "It is slow.", DIFF, "");
	expect("{\"diagnosis\": \"slow\", \"diff\": \"-a\\n+b\\n\", \"gain\": \"2\", \"risks\": [\"x\"]}",
	       "slow", "-a\n+b\n", "2");
}

static void test_what_is_missing(void **state)
{
	expect("", "", "", "");
	expect("I cannot help.", "I cannot help.", "", "");
	expect("DIAGNOSIS: x\nDIFF:\n```diff\n```\n", "x", "", "");
	expect("DIAGNOSIS: x\nDIFF:\n```diff\n-a\n", "x", "-a\n", ""); /* cut off */
	expect("{\"diff\": 5}", "", "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_asked_for),
		cmocka_unit_test(test_other_forms),
		cmocka_unit_test(test_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
