/* Every descriptor is closed but those that are kept, by either way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/descriptors.h"

#define FDS_MAX 64

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* In a child, whose files nobody misses: closes all but these and says whether that is what was done. */
static bool closes_all_but(void (*close_others)(const int *, unsigned), const int *kept,
			   unsigned count)
{
	pid_t child = fork();
	if (child == 0) {
		bool is_right = true;
		for (int fd = 0; fd < FDS_MAX; fd++)
			dup2(STDERR_FILENO, fd);
		close_others(kept, count);
		for (int fd = 0; fd < FDS_MAX; fd++) {
			bool is_kept = false;
			for (unsigned i = 0; i < count; i++)
				is_kept |= kept[i] == fd;
			is_right &= is_open(fd) == is_kept;
		}
		_exit(is_right ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void by_ranges(const int *kept, unsigned count)
{
	if (!descriptors_close_ranges(kept, count))
		_exit(2);
}

static void check(void (*close_others)(const int *, unsigned))
{
	static const int ends[] = {FDS_MAX - 1, 0}, middle[] = {7, -1, 5, 6, 5, 40};
	assert_true(closes_all_but(close_others, ends, 2));
	assert_true(closes_all_but(close_others, middle, 6));
	assert_true(closes_all_but(close_others, middle + 1, 1)); /* a negative one only */
	assert_true(closes_all_but(close_others, NULL, 0));
}

static void test_all_but_some(void **state)
{
	(void)state;
	check(descriptors_close_all_but);
}

static void test_by_ranges(void **state)
{
	(void)state;
	if (!descriptors_have_ranges())
		skip(); /* before Linux 5.9 */
	check(by_ranges);
}

static void test_asking_closes_none(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	descriptors_have_ranges();
	assert_true(is_open(ends[0]) && is_open(ends[1]) && is_open(STDERR_FILENO));
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_but_some),
		cmocka_unit_test(test_by_ranges),
		cmocka_unit_test(test_asking_closes_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
