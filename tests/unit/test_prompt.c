/* test_prompt.c - what a prompt says, of profiles whose figures are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "profile/read.h"
#include "suggest/prompt.h"

static struct profile *read_golden(const char *path)
{
	struct err err;
	struct profile *profile = profile_read(path, &err);

	assert_non_null(profile);
	return profile;
}

static void expect_parts(const struct profile *profile, const struct prompt_place *place,
			 const char *const *parts)
{
	struct prompt prompt;

	assert_int_equal(prompt_build(&prompt, profile, place, NULL), 0);
	for (; *parts; parts++) {
		if (!strstr(prompt.text, *parts))
			assert_string_equal(prompt.text, *parts);
	}
	prompt_fini(&prompt);
}

static void test_figures(void **state)
{
	struct profile *profile = read_golden(HEATLINE_GOLDEN "/heatline.json");
	const char *const parts[] = {
		"File: loop.py\n", "lines 3 to 8; its line 7", "import json\n",
		"0.70 s, 70.0% (62 to 77% with 95% certainty, 130 samples): 60.0% in Python code, 10.0% "
		"in native code, 0.0% in the system",
		"garbage collection: 5.0%", "32.0 MB allocated in about 1234 allocations",
		"24.0 MB never given back", "looks like a leak", "<module>, loop.py line 10: 70.0%",
		"\n>    7  70.0% |             total += i\n", "\n    10  27.5% | inner(9)", NULL};

	expect_parts(profile, &(struct prompt_place){0, 7, PROMPT_FUNCTION}, parts);
	profile_free(profile);
}

static void test_gpu_and_advice(void **state)
{
	struct profile *profile = read_golden(HEATLINE_GOLDEN "/heatline.json");
	struct profile_line *line =
		(struct profile_line *)profile_find_line(&profile->files[0], 7);
	const char *const parts[] = {"GPU: 0.50 s of work launched here (0.40 s in kernels, 0.10 s copying), "
				     "300 launches, 2.0 MB to the device and 1.0 MB from it, Python "
				     "blocked on it for 0.20 s",
				     "line 7, a pattern that is known to be slow: Slow. Seen. Do it so.",
				     NULL};

	profile->gpu.source = "cupti";
	line->self.gpu_s = 0.5;
	line->gpu = (struct gpu_figures){.kernel_s = 0.4, .copy_s = 0.1, .wait_s = 0.2, .launches = 300,
					 .to_device_bytes = 2 << 20, .from_device_bytes = 1 << 20};
	free(profile->advice);
	profile->advice = mem_zalloc(1, sizeof(*profile->advice));
	profile->advice[0] = (struct advice){.file = profile->files[0].path, .line = 7,
					     .title = "Slow", .evidence = "Seen.", .fix = "Do it so."};
	profile->advice_count = 1;
	expect_parts(profile, &(struct prompt_place){0, 7, PROMPT_LINE}, parts);
	profile_free(profile);
}

static void test_places(void **state)
{
	struct profile *profile = read_golden(HEATLINE_GOLDEN "/heatline.json");
	struct prompt_place places[4];
	struct prompt prompt;
	struct err err;

	assert_int_equal(prompt_hottest(profile, places, 4), 2);
	assert_int_equal(places[0].line1, 7);
	assert_int_equal(places[1].line1, 10);
	assert_int_equal(prompt_hottest(profile, places, 1), 1);
	assert_true(prompt_build(&prompt, profile, &(struct prompt_place){0, 99, PROMPT_LINE}, &err) < 0);
	assert_true(prompt_build(&prompt, profile, &(struct prompt_place){9, 1, PROMPT_LINE}, &err) < 0);
	struct line_range loop = prompt_range(&profile->files[0], 7, PROMPT_LOOP);
	assert_true(loop.first == 5 && loop.last == 7);
	profile_free(profile);
}

/* Another tool's profile has less, and still gives a prompt for each of its lines. */
static void test_scalene(void **state)
{
	struct profile *profile = read_golden(HEATLINE_GOLDEN "/scalene.json");
	struct prompt_place places[20];
	uint32_t count = prompt_hottest(profile, places, 20);

	assert_true(count > 0);
	for (uint32_t i = 0; i < count; i++) {
		struct prompt prompt;

		places[i].scope = PROMPT_FUNCTION;
		assert_int_equal(prompt_build(&prompt, profile, &places[i], NULL), 0);
		assert_true(prompt.size > 100 && prompt.size <= PROMPT_MAX_BYTES);
		prompt_fini(&prompt);
	}
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_gpu_and_advice),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_scalene),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
