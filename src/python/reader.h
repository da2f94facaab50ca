/* reader.h - memory of a Python process, read by a copy that can fail.
 *
 * Everything in src/python reads a target through one of these, never through
 * a pointer of its own.  So the same walker serves the signal handler (the
 * target is this very process, half way through anything), the collector (a
 * child seen from outside) and the unit tests (a byte array).
 *
 * Signal-safe, and errno is kept: every function declared here, unless it says
 * otherwise. */
#ifndef HEATLINE_PYTHON_READER_H
#define HEATLINE_PYTHON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* A remote address.  Never dereferenced here. */
typedef uint64_t py_addr;

struct mem_reader {
	/* Copies size bytes at addr to dst.  True only if all of them arrived. */
	bool (*read)(const struct mem_reader *reader, py_addr addr, void *dst, size_t size);
	/* Copies several pieces in one system call where it can; returns how
	 * many leading pieces arrived whole. */
	size_t (*read_many)(const struct mem_reader *reader, const struct iovec *dst,
			    const struct iovec *src, size_t count);
	/* Where size bytes at addr are at hand, valid until the memory is copied anew; NULL when
	 * they are not.  may_load: they may be read first.  Itself NULL: nothing ever is at hand. */
	const unsigned char *(*view)(const struct mem_reader *reader, py_addr addr, size_t size, bool may_load);
	pid_t pid;         /* the process to read; our own inside the agent */
	int pipe_read_fd;  /* the pipe reader's two ends, else -1 */
	int pipe_write_fd;
	ino_t pipe_inode;  /* what they must still be */
	const void *bytes; /* unit tests: the bytes that stand for the memory, else NULL */
	py_addr base;      /* unit tests: the address of bytes[0] */
	size_t size;       /* unit tests: how many bytes */
	void *context;     /* a reader of another module: its own */
};

/* A read_many for readers that have no better way: one piece after the other. */
size_t mem_reader_read_each(const struct mem_reader *reader, const struct iovec *dst,
			    const struct iovec *src, size_t count);

/* Reads through process_vm_readv (also on oneself).  pid is kept. */
void mem_reader_init_process(struct mem_reader *reader, pid_t pid);

/* Where a seccomp filter forbids process_vm_readv on oneself: a pipe, whose
 * write end fails with EFAULT instead of faulting.  Returns 0 or -errno.
 * One per process, and made anew after a fork (a pipe shared with the parent
 * would mix their bytes).  A read fails while another thread is in the middle
 * of one, and for good once the program has closed the pipe.  Not signal-safe
 * to init; the reads are. */
int mem_reader_init_pipe(struct mem_reader *reader);

/* Of a reader of our own process: when process_vm_readv has come to be forbidden (the program has
 * put itself under a filter), it reads through a pipe from now on; true: it has just changed.
 * Signal-safe; other threads may read meanwhile. */
bool mem_reader_fall_back(struct mem_reader *reader);

/* A fake target for unit tests; bytes are borrowed. */
void mem_reader_init_bytes(struct mem_reader *reader, const void *bytes, size_t size, py_addr base);

#endif
