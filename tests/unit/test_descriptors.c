/* test_descriptors.c - every descriptor is closed but those that are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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
static bool closes_all_but(const int *kept, unsigned count)
{
	pid_t child = fork();
	if (child == 0) {
		bool is_right = true;
		for (int fd = 0; fd < FDS_MAX; fd++)
			dup2(STDERR_FILENO, fd);
		descriptors_close_all_but(kept, count);
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

static void test_all_but_some(void **state)
{
	(void)state;
	static const int ends[] = {FDS_MAX - 1, 0}, middle[] = {7, -1, 5, 6, 5, 40};
	assert_true(closes_all_but(ends, 2));
	assert_true(closes_all_but(middle, 6));
	assert_true(closes_all_but(middle + 1, 1)); /* a negative one only */
	assert_true(closes_all_but(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_but_some),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
