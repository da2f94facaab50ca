/* The ring: order, wrapping, a full ring, its file's pages, unfinished and damaged records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wire/ring.h"

static struct ring *ring_make(void)
{
	struct ring *ring = aligned_alloc(4096, sizeof(*ring));
	assert_non_null(ring);
	memset(ring, 0, sizeof(*ring));
	atomic_store(&ring->room, RING_BYTES);
	return ring;
}

static void push(struct ring *ring, uint32_t size, uint64_t value)
{
	struct record *record = ring_reserve(ring, size);
	assert_non_null(record);
	memcpy(record + 1, &value, sizeof(value));
	ring_commit(record, size, RECORD_EXIT);
}

static uint64_t value_of(const struct record *record)
{
	uint64_t value;
	memcpy(&value, record + 1, sizeof(value));
	return value;
}

static void test_order_over_many_rounds(void **state)
{
	(void)state;
	struct ring *ring = ring_make();
	uint64_t written = 0, read = 0;
	bool damaged = false;
	for (int round = 0; round < 2000; round++) {
		for (int i = 0; i < 7; i++) {
			uint32_t size = 16 + (uint32_t)((written * 1733) % 9000) / 8 * 8;
			push(ring, size, written++);
		}
		const struct record *record;
		while ((record = ring_peek(ring, false, &damaged)) != NULL) {
			assert_int_equal(value_of(record), read++);
			ring_consume(ring, record);
		}
	}
	assert_int_equal(written, read);
	assert_false(damaged);
	free(ring);
}

static void test_full_ring_refuses_and_counts(void **state)
{
	(void)state;
	struct ring *ring = ring_make();
	uint64_t pushed = 0;
	struct record *record;
	while ((record = ring_reserve(ring, 4096)) != NULL) {
		ring_commit(record, 4096, RECORD_EXIT);
		pushed++;
	}
	assert_int_equal(pushed, RING_BYTES / 4096);
	assert_int_equal(atomic_load(&ring->lost[LOST_RING_FULL]), 1);
	assert_null(ring_try_reserve(ring, 4096)); /* who says so has it told later */
	assert_int_equal(atomic_load(&ring->lost[LOST_RING_FULL]), 1);
	bool damaged = false;
	const struct record *first = ring_peek(ring, false, &damaged);
	assert_non_null(first);
	ring_consume(ring, first);
	assert_non_null(ring_reserve(ring, 4096));
	free(ring);
}

/* In a file of its own, as in a run; size: how much of the ring the file holds. */
static struct ring *ring_map(int *fd, size_t size)
{
	*fd = memfd_create("ring", MFD_CLOEXEC);
	assert_int_equal(ftruncate(*fd, (off_t)size), 0);
	struct ring *ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_ptr_not_equal(ring, MAP_FAILED);
	return ring;
}

static void ring_unmap(struct ring *ring, int fd)
{
	munmap(ring, sizeof(*ring));
	close(fd);
}

static uintptr_t populated_from; /* the last time that pages were made */

/* The one system call that the ring makes. */
long syscall(long number, ...)
{
	va_list arguments;
	va_start(arguments, number);
	void *from = va_arg(arguments, void *);
	size_t size = va_arg(arguments, size_t);
	long advice = va_arg(arguments, long);
	va_end(arguments);
	assert_int_equal(number, SYS_madvise);
	populated_from = (uintptr_t)from;
	return madvise(from, size, (int)advice);
}

static uint64_t bytes_of(int fd)
{
	struct stat status;
	assert_int_equal(fstat(fd, &status), 0);
	return (uint64_t)status.st_blocks * 512;
}

static void test_pages_come_with_the_records(void **state)
{
	(void)state;
	int fd;
	struct ring *ring = ring_map(&fd, sizeof(*ring));
	int status = ring_make_room(ring);
	if (status == -EINVAL) /* an old kernel */
		skip();
	assert_int_equal(status, 0);
	push(ring, 64, 1);
	assert_in_range(bytes_of(fd), 4096, RING_BYTES / 16);
	uint64_t pushed = 0;
	bool damaged = false;
	for (; pushed < 3 * RING_BYTES; pushed += 24576) {
		uint64_t end = (atomic_load(&ring->head) & (RING_BYTES - 1)) + 24576;
		push(ring, 24576, pushed);
		assert_true(end > RING_BYTES || end <= atomic_load(&ring->room));
		/* Here pages may be of 4 KB; elsewhere they are of 64. */
		assert_int_equal((populated_from - (uintptr_t)ring) % 65536, 0);
		const struct record *record = ring_peek(ring, false, &damaged);
		assert_non_null(record);
		ring_consume(ring, record);
	}
	assert_int_equal(atomic_load(&ring->room), RING_BYTES);
	assert_in_range(bytes_of(fd), sizeof(*ring), sizeof(*ring) + (size_t)sysconf(_SC_PAGESIZE) - 1);
	assert_int_equal(atomic_load(&ring->lost[LOST_RING_FULL]), 0);
	ring_unmap(ring, fd);
}

/* As where shared memory is used up: touching what is not there would be the end. */
static void test_no_pages_no_record(void **state)
{
	(void)state;
	int fd;
	struct ring *ring = ring_map(&fd, offsetof(struct ring, data) + 65536);
	int status = ring_make_room(ring);
	if (status == -EINVAL)
		skip();
	assert_int_equal(status, 0);
	errno = 0;
	for (int i = 0; i < 16; i++)
		push(ring, 4096, 1);
	assert_null(ring_reserve(ring, 4096));
	assert_null(ring_reserve(ring, 64));
	assert_int_equal(atomic_load(&ring->lost[LOST_RING_FULL]), 2);
	assert_int_equal(errno, 0);
	assert_int_equal(ftruncate(fd, sizeof(*ring)), 0);
	push(ring, 4096, 1);
	ring_unmap(ring, fd);
	ring = ring_map(&fd, 0);
	assert_int_equal(ring_make_room(ring), -EFAULT);
	ring_unmap(ring, fd);
}

/* More is never paid than is owed. */
static void test_owed_bytes(void **state)
{
	(void)state;
	struct ring *ring = ring_make();
	ring_owe(ring, 100);
	ring_owe(ring, 50);
	ring_pay(ring, 30);
	assert_int_equal(atomic_load(&ring->owed_bytes), 120);
	ring_pay(ring, 1000);
	assert_int_equal(atomic_load(&ring->owed_bytes), 0);
	free(ring);
}

static void test_unfinished_record_stops_until_final(void **state)
{
	(void)state;
	struct ring *ring = ring_make();
	bool damaged = false;
	assert_non_null(ring_reserve(ring, 64));
	push(ring, 32, 42);
	assert_null(ring_peek(ring, false, &damaged));
	const struct record *record = ring_peek(ring, true, &damaged);
	assert_non_null(record);
	assert_int_equal(value_of(record), 42);
	assert_int_equal(atomic_load(&ring->lost[LOST_TORN]), 1);
	assert_false(damaged);
	free(ring);
}

static void test_hostile_sizes_end_the_ring(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {4, 12, 1u << 30, RING_BYTES + 8, 0xfffffff8u};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ring *ring = ring_make();
		bool damaged = false;
		push(ring, 64, 1);
		memcpy(ring->data, &sizes[i], sizeof(sizes[i]));
		assert_null(ring_peek(ring, true, &damaged));
		assert_true(damaged);
		free(ring);
	}
}

static void test_hostile_positions(void **state)
{
	(void)state;
	struct ring *ring = ring_make();
	bool damaged = false;
	atomic_store(&ring->tail, 1000);
	assert_null(ring_reserve(ring, 64)); /* tail past head */
	atomic_store(&ring->head, 1ull << 60);
	ring->data[1000] = 16;
	assert_null(ring_peek(ring, true, &damaged));
	assert_true(damaged);
	free(ring);
}

/* A collector that was killed in the middle of ring_consume, or right before it. */
static void test_taken_record_is_skipped(void **state)
{
	(void)state;
	for (int is_half_done = 0; is_half_done < 2; is_half_done++) {
		struct ring *ring = ring_make();
		bool damaged = false;
		push(ring, 64, 1);
		push(ring, 64, 2);
		if (is_half_done)
			memset(ring->data, 0, 40);
		ring_skip_taken(ring, 4096, 64); /* another place: nothing happens */
		assert_int_equal(atomic_load(&ring->tail), 0);
		ring_skip_taken(ring, 0, 64);
		const struct record *record = ring_peek(ring, false, &damaged);
		assert_non_null(record);
		assert_int_equal(value_of(record), 2);
		ring_skip_taken(ring, 64, 4096); /* more than there is */
		assert_int_equal(atomic_load(&ring->tail), 64);
		free(ring);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_over_many_rounds),
		cmocka_unit_test(test_full_ring_refuses_and_counts),
		cmocka_unit_test(test_pages_come_with_the_records),
		cmocka_unit_test(test_no_pages_no_record),
		cmocka_unit_test(test_owed_bytes),
		cmocka_unit_test(test_unfinished_record_stops_until_final),
		cmocka_unit_test(test_hostile_sizes_end_the_ring),
		cmocka_unit_test(test_hostile_positions),
		cmocka_unit_test(test_taken_record_is_skipped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
