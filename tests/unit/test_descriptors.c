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

/* In a child: those of the standard descriptors that are closed fail as before, all others are as they
 * were, and what is opened next is none of them. */
static bool takes_standard(const bool *is_closed)
{
	pid_t child = fork();
	if (child == 0) {
		bool is_right = true;
		char byte = 0;
		for (int fd = 0; fd <= STDERR_FILENO; fd++) {
			if (is_closed[fd])
				close(fd);
		}
		descriptors_take_standard();
		for (int fd = 0; fd <= STDERR_FILENO; fd++) {
			bool has_cloexec = fcntl(fd, F_GETFD) == FD_CLOEXEC;
			is_right &= is_open(fd) && has_cloexec == is_closed[fd];
		}
		is_right &= !is_closed[0] || read(0, &byte, 1) < 0;
		is_right &= !is_closed[1] || write(1, &byte, 1) < 0;
		is_right &= open("/dev/null", O_RDONLY) > STDERR_FILENO;
		_exit(is_right ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_standard_ones_are_taken(void **state)
{
	(void)state;
	for (unsigned which = 0; which < 8; which++) {
		bool is_closed[] = {which & 1, which & 2, which & 4};
		assert_true(takes_standard(is_closed));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_but_some),
		cmocka_unit_test(test_standard_ones_are_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
