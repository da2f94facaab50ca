/* test_reader.c - three ways to read memory, each of which can fail. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "python/reader.h"

/* Two pages, the second of which may not be read. */
static unsigned char *half_mapped(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *bytes = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(bytes, MAP_FAILED);
	for (size_t i = 0; i < page; i++)
		bytes[i] = (unsigned char)(i * 7);
	assert_int_equal(munmap(bytes + page, page), 0);
	return bytes;
}

static void check_reader(const struct mem_reader *reader)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	static unsigned char copy[65536]; /* no page is larger */
	unsigned char *bytes = half_mapped();
	struct iovec dst[3] = { { copy, 16 }, { copy + 16, 16 }, { copy + 32, 16 } };
	struct iovec src[3] = { { bytes, 16 }, { bytes + page - 8, 16 }, { bytes + 64, 16 } };

	errno = 4242;
	assert_true(reader->read(reader, (uintptr_t)bytes, copy, page));
	assert_memory_equal(copy, bytes, page);
	assert_false(reader->read(reader, (uintptr_t)bytes + page, copy, 1));
	assert_false(reader->read(reader, (uintptr_t)bytes + page - 8, copy, 16));
	assert_false(reader->read(reader, 0, copy, 1));
	assert_false(reader->read(reader, UINT64_MAX - 4, copy, 16));
	/* What failed half way leaves nothing behind. */
	assert_true(reader->read(reader, (uintptr_t)bytes + 100, copy, 50));
	assert_memory_equal(copy, bytes + 100, 50);
	assert_int_equal(reader->read_many(reader, dst, src, 3), 1);
	assert_memory_equal(copy, bytes, 16);
	src[1].iov_base = bytes + 200;
	assert_int_equal(reader->read_many(reader, dst, src, 3), 3);
	assert_memory_equal(copy + 16, bytes + 200, 16);
	assert_memory_equal(copy + 32, bytes + 64, 16);
	assert_int_equal(reader->read_many(reader, dst, src, 0), 0);
	assert_int_equal(errno, 4242);
	munmap(bytes, page);
}

static void test_process(void **state)
{
	struct mem_reader reader;

	mem_reader_init_process(&reader, getpid());
	check_reader(&reader);
	mem_reader_init_process(&reader, 0x7ffffff0);
	assert_false(reader.read(&reader, (uintptr_t)&reader, &(int){ 0 }, 4));
}

/* The program closes it: nothing can be read any more. */
static void close_pipe(const struct mem_reader *reader)
{
	close(reader->pipe_read_fd);
	close(reader->pipe_write_fd);
}

static void test_pipe(void **state)
{
	struct mem_reader reader;

	assert_int_equal(mem_reader_init_pipe(&reader), 0);
	check_reader(&reader);
	close_pipe(&reader);
	assert_false(reader.read(&reader, (uintptr_t)&reader, &(int){ 0 }, 4));
}

/* The program closes our pipe and gets its numbers for a file of its own. */
static void test_pipe_taken_over(void **state)
{
	struct mem_reader reader;
	struct stat status;
	char name[] = "/tmp/heatline-test-XXXXXX";
	int file, copy = 0;

	assert_int_equal(mem_reader_init_pipe(&reader), 0);
	file = mkstemp(name);
	assert_true(file >= 0);
	assert_int_equal(dup2(file, reader.pipe_write_fd), reader.pipe_write_fd);
	assert_false(reader.read(&reader, (uintptr_t)&reader, &copy, sizeof(copy)));
	assert_int_equal(fstat(file, &status), 0);
	assert_int_equal(status.st_size, 0);
	close(file);
	unlink(name);
	close_pipe(&reader);
}

static void test_bytes(void **state)
{
	static const unsigned char bytes[64] = { 1, 2, 3 };
	struct mem_reader reader;
	unsigned char copy[64];

	mem_reader_init_bytes(&reader, bytes, sizeof(bytes), 0x5000);
	assert_true(reader.read(&reader, 0x5000, copy, 64));
	assert_memory_equal(copy, bytes, 64);
	assert_false(reader.read(&reader, 0x5001, copy, 64));
	assert_false(reader.read(&reader, 0x4fff, copy, 1));
	assert_false(reader.read(&reader, UINT64_MAX, copy, 8));
	assert_true(reader.read(&reader, 0x5040, copy, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_pipe_taken_over),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
