/* test_sources.c - a program's files as they were when they ran. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "collect/sources.h"
#include "profile/book.h"
#include "profile/model.h"

static const char first_text[] = "import time\ndef work():\n    time.sleep(1)\nwork()\n";
static char path[] = "/tmp/heatline-sources-XXXXXX";

static void write_text(const char *text)
{
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
}

/* Sets the file's time to so many seconds before now. */
static void set_age(double seconds)
{
	double when_s = clock_epoch_s() - seconds;
	struct timespec times[2] = {{(time_t)when_s, 0}, {(time_t)when_s, 0}};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A profile with time on line 3, which is work's. */
static struct profile *make_profile(void)
{
	struct profile *profile = profile_new();
	struct book_frame frame = {.file = profile_file_index(profile, path, true),
				   .function = profile_intern(profile, "work"),
				   .first_line = 2, .line = 3};
	struct metrics metrics = {.python_s = 1, .samples = 1};
	profile_book(profile, &frame, 1, &metrics, false);
	return profile;
}

/* What is given after the file had this text when it was met, this old, in a run of ten
 * seconds, and then the other one (NULL: the same). */
static struct profile *give(const char *met, double age_s, const char *now)
{
	struct sources sources = {0};
	write_text(met);
	set_age(age_s);
	sources_meet(&sources, path, 0, clock_epoch_s() - 10);
	if (now != NULL)
		write_text(now);
	struct profile *profile = make_profile();
	sources_give(&sources, profile);
	profile_finish(profile);
	sources_fini(&sources);
	return profile;
}

static const char *warning_of(const struct profile *profile)
{
	assert_in_range(profile->quality.warning_count, 0, 1);
	return profile->quality.warning_count == 0 ? "" : profile->quality.warnings[0];
}

static void test_unchanged(void **state)
{
	(void)state;
	struct profile *profile = give(first_text, 100, NULL);
	assert_string_equal(profile->files[0].source, first_text);
	assert_string_equal(warning_of(profile), "");
	profile_free(profile);
}

static void test_changed_afterwards(void **state)
{
	(void)state;
	struct profile *profile = give(first_text, 100, "# edited\n\n\n\n");
	assert_string_equal(profile->files[0].source, first_text);
	assert_non_null(strstr(warning_of(profile), "was changed while the program ran; its lines are "
						    "shown as they were before"));
	profile_free(profile);
}

static void test_written_before_it_was_met(void **state)
{
	(void)state;
	struct profile *profile = give(first_text, 1, NULL);
	assert_string_equal(profile->files[0].source, first_text); /* by the program itself, maybe */
	assert_string_equal(warning_of(profile), "");
	profile_free(profile);
	profile = give(first_text, 5, NULL);
	assert_string_equal(profile->files[0].source, first_text);
	assert_non_null(strstr(warning_of(profile), "written after the program had started"));
	profile_free(profile);
}

static void test_changed_before_it_was_met(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"import time\n# edited\ndef work():\n    time.sleep(1)\nwork()\n",
		"import time\ndef work():\n    # edited\n    time.sleep(1)\nwork()\n",
		"import time\ndef work():\n\n    time.sleep(1)\nwork()\n",
		"import time\n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct profile *profile = give(texts[i], 5, NULL);
		assert_null(profile->files[0].source);
		assert_non_null(strstr(warning_of(profile), "its lines are shown without their text"));
		profile_free(profile);
	}
}

/* By a server, say, which has then loaded it again. */
static void test_figures_of_another_text(void **state)
{
	(void)state;
	struct profile *profile = give("import time\n\n\ndef work():\n    time.sleep(1)\n", 100, first_text);
	assert_null(profile->files[0].source);
	assert_non_null(strstr(warning_of(profile), "its lines are shown without their text"));
	profile_free(profile);
}

/* One that is too large to be kept. */
static void test_large(void **state)
{
	(void)state;
	size_t size = ((size_t)1 << 20) + sizeof(first_text);
	char *text = mem_alloc(size + 1);
	memset(text, '#', size);
	memcpy(text, first_text, sizeof(first_text) - 1);
	text[size] = '\0';
	struct profile *profile = give(text, 100, NULL);
	assert_int_equal(profile->files[0].source_size, size);
	assert_string_equal(warning_of(profile), "");
	profile_free(profile);
	profile = give(text, 100, first_text);
	assert_null(profile->files[0].source);
	assert_non_null(strstr(warning_of(profile), "its lines are shown without their text"));
	profile_free(profile);
	free(text);
}

static void test_gone(void **state)
{
	(void)state;
	struct sources sources = {0};
	write_text(first_text);
	set_age(100);
	sources_meet(&sources, path, 0, clock_epoch_s());
	unlink(path);
	struct profile *profile = make_profile();
	sources_give(&sources, profile);
	assert_string_equal(profile->files[0].source, first_text);
	assert_string_equal(warning_of(profile), "");
	profile_free(profile);
	sources_fini(&sources);
}

static int set_up(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	close(fd);
	return fd < 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unchanged),
		cmocka_unit_test(test_changed_afterwards),
		cmocka_unit_test(test_written_before_it_was_met),
		cmocka_unit_test(test_changed_before_it_was_met),
		cmocka_unit_test(test_figures_of_another_text),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_gone),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
