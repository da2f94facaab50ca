/* What of a mapping is resident, as the kernel tells it; which one a record speaks of. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/mappings.h"

#define SIZE (8u << 20)
#define TOUCHED (3u << 20)

static unsigned char *map_some(void)
{
	unsigned char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	madvise(at, SIZE, MADV_NOHUGEPAGE);
	return at;
}

static void look_at_touched_pages(void)
{
	struct mappings mappings = {0};
	unsigned char *at = map_some();
	mappings_begin(&mappings, (struct mapping){.id = 7, .address = (uint64_t)(uintptr_t)at,
						   .size = SIZE});
	mappings_look(&mappings, getpid(), 0, 5);
	const struct mapping *mapping = mappings_find(&mappings, 7);
	assert_true(mapping->is_seen);
	assert_int_equal(mapping->seen_bytes, 0);
	assert_int_equal(mappings.seen.count, 1);
	assert_int_equal(mappings.seen.at[0].node, 5);
	memset(at + TOUCHED, 1, TOUCHED);
	mappings_look(&mappings, getpid(), 0, 5);
	assert_int_equal(mapping->seen_bytes, TOUCHED);
	munmap(at + TOUCHED, TOUCHED / 3);
	mappings_look(&mappings, getpid(), 0, 5);
	assert_int_equal(mapping->seen_bytes, TOUCHED / 3 * 2);
	munmap(at, SIZE);
	mappings_fini(&mappings);
}

static void test_touched_pages_are_counted(void **state)
{
	(void)state;
	look_at_touched_pages();
}

/* As before Linux 6.7: the kernel does not know the question. */
static void forbid_ioctl(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(steps) / sizeof(steps[0]), steps};
	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

static void test_older_kernels_are_asked_page_by_page(void **state)
{
	(void)state;
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		forbid_ioctl();
		look_at_touched_pages(); /* a failure ends the process, with another status */
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Neither before it is waited for nor after: what it was last stays. */
static void test_nothing_is_told_of_a_process_that_is_gone(void **state)
{
	(void)state;
	struct mappings mappings = {0};
	siginfo_t ended;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	mappings_begin(&mappings, (struct mapping){.id = 7, .address = 4096, .size = SIZE});
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	mappings_look(&mappings, pid, 0, 5);
	assert_false(mappings_find(&mappings, 7)->is_seen);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	mappings_look(&mappings, pid, 0, 5);
	assert_false(mappings_find(&mappings, 7)->is_seen);
	mappings_fini(&mappings);
}

static void test_changes(void **state)
{
	(void)state;
	struct mappings mappings = {0};
	mappings_begin(&mappings, (struct mapping){.id = 7, .address = 4096, .size = SIZE});
	mappings_begin(&mappings, (struct mapping){.id = 8, .address = 4096 * 2, .size = 4096});
	struct record_mapping record = {.was_at = 4096, .address = 8192 * 2, .size = 4096};
	const struct mapping *changed = mappings_change(&mappings, &record);
	assert_int_equal(changed->id, 7);
	assert_int_equal(changed->address, 8192 * 2);
	assert_int_equal(changed->size, 4096);
	assert_null(mappings_change(&mappings, &record)); /* it is no longer there */
	mappings_end(&mappings, 7);
	mappings_end(&mappings, 7);
	assert_int_equal(mappings.list.count, 1);
	mappings_fini(&mappings);
}

static void test_looks_are_rare(void **state)
{
	(void)state;
	struct mappings mappings = {0};
	assert_false(mappings_are_due(&mappings, 1e9, 1)); /* there are none */
	mappings_begin(&mappings, (struct mapping){.id = 7, .address = 4096, .size = SIZE});
	assert_true(mappings_are_due(&mappings, 1e9, 1));
	mappings_look(&mappings, getpid(), 1e9, 5);
	assert_true(mappings.next_ns > 0);
	assert_false(mappings_are_due(&mappings, 2e9, mappings.next_ns - 1));
	assert_true(mappings_are_due(&mappings, 2e9, mappings.next_ns));
	assert_true(mappings_are_due(&mappings, 0, mappings.next_ns));
	assert_false(mappings_are_due(&mappings, 1e9, mappings.next_ns)); /* nothing has changed */
	mappings_fini(&mappings);
}

/* It is known where the process has grown since the last look, however long ago that is. */
static void test_growth_is_kept_from_look_to_look(void **state)
{
	(void)state;
	struct mappings mappings = {0};
	mappings_begin(&mappings, (struct mapping){.id = 7, .address = 4096, .size = SIZE});
	growth_add(&mappings.grown, 1, 100);
	growth_add(&mappings.grown, 2, 10);
	growth_add(&mappings.grown, 2, 20);
	mappings_look(&mappings, getpid(), 0, 5);
	assert_int_equal(mappings.grown.count, 0);
	assert_int_equal(mappings.seen.count, 2);
	assert_int_equal(mappings.seen.at[0].node, 1);
	assert_int_equal((int)mappings.seen.at[0].bytes, 100);
	assert_int_equal((int)mappings.seen.at[1].bytes, 30);
	for (uint32_t node = 0; node <= GROWTH_PLACES; node++)
		growth_add(&mappings.grown, node, 1);
	assert_int_equal(mappings.grown.count, GROWTH_PLACES);
	assert_int_equal((int)mappings.grown.at[GROWTH_PLACES - 1].bytes, 2);
	mappings_fini(&mappings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touched_pages_are_counted),
		cmocka_unit_test(test_older_kernels_are_asked_page_by_page),
		cmocka_unit_test(test_nothing_is_told_of_a_process_that_is_gone),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_looks_are_rare),
		cmocka_unit_test(test_growth_is_kept_from_look_to_look),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
