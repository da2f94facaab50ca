/* reader.c - three ways to copy a target's memory.
 *
 * The rule of this file: a copy that cannot be made says so; it never faults
 * and never leaves errno changed, because the caller may be a signal handler
 * that interrupted anything. */
#include "python/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One writer at a time: two threads' bytes in one pipe could not be told
 * apart.  A handler must not wait for long (the holder may not be running), so
 * it gives up after some tries and the sample is lost. */
static atomic_flag pipe_busy = ATOMIC_FLAG_INIT;
#define PIPE_TRIES 200

static void reader_clear(struct mem_reader *reader)
{
	*reader = (struct mem_reader){ .pid = -1, .pipe_read_fd = -1, .pipe_write_fd = -1 };
}

/* Whole leading pieces among `bytes` bytes that arrived. */
static size_t pieces_whole(const struct iovec *dst, size_t count, size_t bytes)
{
	size_t whole = 0;

	while (whole < count && bytes >= dst[whole].iov_len)
		bytes -= dst[whole++].iov_len;
	return whole;
}

size_t mem_reader_read_each(const struct mem_reader *reader, const struct iovec *dst,
			    const struct iovec *src, size_t count)
{
	size_t whole = 0;

	while (whole < count && reader->read(reader, (uintptr_t)src[whole].iov_base,
					     dst[whole].iov_base, src[whole].iov_len))
		whole++;
	return whole;
}

/* ---- another process, or ourselves, through the kernel ---- */

static bool process_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	struct iovec local = { dst, size };
	struct iovec remote = { (void *)(uintptr_t)addr, size };
	int saved = errno;
	ssize_t got = process_vm_readv(reader->pid, &local, 1, &remote, 1, 0);

	errno = saved;
	return got >= 0 && (size_t)got == size;
}

static size_t process_read_many(const struct mem_reader *reader, const struct iovec *dst,
				const struct iovec *src, size_t count)
{
	int saved = errno;
	ssize_t got;

	if (count > IOV_MAX)
		count = IOV_MAX;
	got = process_vm_readv(reader->pid, dst, count, src, count, 0);
	errno = saved;
	return got < 0 ? 0 : pieces_whole(dst, count, (size_t)got);
}

void mem_reader_init_process(struct mem_reader *reader, pid_t pid)
{
	reader_clear(reader);
	atomic_flag_clear(&pipe_busy); /* in the child of a fork: one of the parent's threads may have it */
	reader->read = process_read;
	reader->read_many = process_read_many;
	reader->pid = pid;
}

/* ---- ourselves, through a pipe ---- */

static bool pipe_enter(void)
{
	for (int i = 0; i < PIPE_TRIES; i++) {
		if (!atomic_flag_test_and_set_explicit(&pipe_busy, memory_order_acquire))
			return true;
	}
	return false;
}

/* A program may close descriptors that it did not open, and open a file of its
 * own under the same number; nothing must be written there. */
static bool pipe_is_ours(const struct mem_reader *reader)
{
	struct stat status;

	return fstat(reader->pipe_write_fd, &status) == 0 && S_ISFIFO(status.st_mode) &&
	       status.st_ino == reader->pipe_inode;
}

/* Moves at most PIPE_BUF bytes, which the kernel takes whole or not at all
 * for want of room; a fault half way leaves some bytes to be drained.
 * The C library's read and write are cancellation points: in a handler they
 * would end a cancelled thread in the middle of whatever it was doing. */
static bool pipe_move(const struct mem_reader *reader, py_addr addr, unsigned char *dst, size_t size)
{
	ssize_t put = syscall(SYS_write, reader->pipe_write_fd, addr, size);
	size_t taken = 0;

	while (put > 0 && taken < (size_t)put) {
		ssize_t got = syscall(SYS_read, reader->pipe_read_fd, dst + taken,
				      (size_t)put - taken);

		if (got <= 0)
			return false;
		taken += (size_t)got;
	}
	return taken == size;
}

static bool pipe_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	int saved = errno;
	size_t done = 0;
	bool ok;

	if (!pipe_enter())
		return false;
	ok = pipe_is_ours(reader);
	while (ok && done < size) {
		size_t part = size - done < PIPE_BUF ? size - done : PIPE_BUF;

		ok = pipe_move(reader, addr + done, (unsigned char *)dst + done, part);
		done += part;
	}
	atomic_flag_clear_explicit(&pipe_busy, memory_order_release);
	errno = saved;
	return ok;
}

/* Makes the pipe; the reader's other fields stay. */
static int pipe_open(struct mem_reader *reader)
{
	struct stat status;
	int fds[2];

	/* Never blocking: a handler that waits for room would wait for itself. */
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
		return -errno;
	if (fstat(fds[1], &status) != 0) {
		int error = errno;

		syscall(SYS_close, fds[0]);
		syscall(SYS_close, fds[1]);
		return -error;
	}
	reader->pipe_read_fd = fds[0];
	reader->pipe_write_fd = fds[1];
	reader->pipe_inode = status.st_ino;
	return 0;
}

int mem_reader_init_pipe(struct mem_reader *reader)
{
	struct mem_reader made;
	int status;

	reader_clear(&made);
	status = pipe_open(&made);
	if (status != 0)
		return status;
	atomic_flag_clear(&pipe_busy);
	made.read = pipe_read;
	made.read_many = mem_reader_read_each;
	made.pid = getpid();
	*reader = made;
	return 0;
}

/* A thread that reads while this goes on finds the old way, which fails, or the new one: what
 * that needs is there before it is. */
bool mem_reader_fall_back(struct mem_reader *reader)
{
	uint64_t probe = 1, copy = 0;
	int saved = errno;
	bool is_made;

	if (reader->read != process_read ||
	    process_read(reader, (uintptr_t)&probe, &copy, sizeof(copy)) || !pipe_enter())
		return false;
	is_made = reader->read == process_read && pipe_open(reader) == 0;
	if (is_made) {
		__atomic_store_n(&reader->read_many, mem_reader_read_each, __ATOMIC_RELEASE);
		__atomic_store_n(&reader->read, pipe_read, __ATOMIC_RELEASE);
	}
	atomic_flag_clear_explicit(&pipe_busy, memory_order_release);
	errno = saved;
	return is_made;
}

/* ---- a byte array ---- */

static bool bytes_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	if (addr < reader->base || addr - reader->base > reader->size ||
	    reader->size - (addr - reader->base) < size)
		return false;
	memcpy(dst, (const unsigned char *)reader->bytes + (addr - reader->base), size);
	return true;
}

void mem_reader_init_bytes(struct mem_reader *reader, const void *bytes, size_t size, py_addr base)
{
	reader_clear(reader);
	reader->read = bytes_read;
	reader->read_many = mem_reader_read_each;
	reader->bytes = bytes;
	reader->base = base;
	reader->size = size;
}
