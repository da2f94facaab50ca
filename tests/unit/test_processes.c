/* test_processes.c - which processes the collector meets, and in what order. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "collect/collector.h"
#include "collect/folder.h"
#include "collect/process.h"

/* The ring of a process that has gone. */
static void make_ring(const char *folder, int number, uint64_t start_ns)
{
	char name[40];
	snprintf(name, sizeof(name), RING_FILE_PREFIX "%d-0", number);
	char *path = path_join(folder, name);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	free(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof(struct ring)), 0);
	struct ring *ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(ring != MAP_FAILED);
	close(fd);
	ring->magic = RING_MAGIC;
	ring->wire_version = WIRE_VERSION;
	ring->pid = INT32_MAX;
	ring->start_ns = start_ns;
	ring->state = RING_REFUSED;
	munmap(ring, sizeof(*ring));
}

/* The program was taken for one of its children when these were there at the collector's first
 * look: a folder has no order. */
static void test_the_first_to_start_is_the_first(void **state)
{
	(void)state;
	static const uint64_t starts[] = {50, 20, 40, 10, 60, 30};
	struct run_options options = {0};
	struct err err;
	struct collector *collector = collector_new(&options);
	assert_int_equal(folder_new(&collector->folder, &collector->control, &err), 0);
	for (int i = 0; i < 6; i++)
		make_ring(collector->folder, i, starts[i]);
	collector->control->rings = 6;
	processes_discover(collector);
	assert_int_equal(collector->processes.count, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(collector->processes.items[i]->start_ns, (i + 1) * 10);
		assert_int_equal(collector->processes.items[i]->index, i);
	}
	collector_free(collector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_to_start_is_the_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
