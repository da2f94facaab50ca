/* core.h - the core file of a process that has died, as one more kind of memory.
 *
 * A core holds the memory that the process had changed, piece by piece, and
 * notes: its threads with their registers, the signal, which file was mapped
 * where.  What it leaves out, because a file has it (code, constants), is read
 * from that file, if it still is the one that was mapped: the first page of
 * most mappings is in the core too and must be the same.
 *
 * The core is untrusted: every number in it is checked, every list is bounded,
 * and nothing of it is kept in memory but its headers.  It is read, not
 * mapped: a file that somebody cuts short meanwhile would fault. */
#ifndef HEATLINE_REMOTE_CORE_H
#define HEATLINE_REMOTE_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "python/reader.h"
#include "remote/blocked_call.h"
#include "remote/maps.h"

/* A piece of the address space. */
struct core_segment {
	uint64_t start, end;
	uint64_t offset; /* where it begins in the core */
	uint64_t kept;   /* how many of its bytes the core has, or should have */
	bool is_executable;
};

struct core_thread {
	pid_t tid;
	uint64_t pthread_id; /* as its registers say; 0: not known */
	bool is_blocked;     /* in this system call */
	struct blocked_call call;
};

/* Whether a mapped file can stand in for what the core leaves out. */
enum core_file {
	CORE_FILE_UNKNOWN, /* not looked for yet */
	CORE_FILE_SAME,
	CORE_FILE_MISSING,
	CORE_FILE_OTHER,   /* another one has its name now */
};

struct core {
	int fd;
	uint64_t size;        /* of the core file */
	uint64_t cut_bytes;   /* what its headers promise beyond its end */
	const char *root;     /* borrowed; where its files are looked for; NULL: / */
	VEC(struct core_segment) segments; /* by address */
	struct maps maps;
	VEC(struct core_thread) threads;   /* the one that got the signal first */
	struct core_mapped {
		enum core_file state;
		int fd;
	} *mapped;            /* owned; one for each of maps.paths */
	pid_t pid;
	char command[128];    /* its first words; may be empty */
	int signal;           /* that it died of; 0: none, it was only looked at */
	bool has_address;     /* the memory access that failed: */
	uint64_t address;
	pid_t sender_pid;     /* who sent the signal; 0: the kernel, or the process itself */
	uint64_t entry;       /* an address inside the executable's code; 0: not known */
};

/* root: a folder that stands for the / of a process in a container, or NULL.
 * Returns 0, or negative with the sentence in err. */
int core_open(struct core *core, const char *path, const char *root, struct err *err);
void core_close(struct core *core);

/* The process's memory; core is kept and must not move. */
void core_init_reader(struct core *core, struct mem_reader *reader);

/* Whether this file (one of maps.paths) is the one that was mapped. */
enum core_file core_find_file(struct core *core, const char *path);

/* The file that the process ran, or NULL; one of maps.paths. */
const char *core_executable(const struct core *core);

/* The thread of this number, or NULL. */
const struct core_thread *core_find_thread(const struct core *core, pid_t tid);

/* core_notes.c: reads the notes at this place of the core. */
void core_read_notes(struct core *core, uint64_t offset, uint64_t size);

/* The last segment that begins at or before addr, or NULL. */
const struct core_segment *core_segment_before(const struct core *core, uint64_t addr);

/* size bytes of the core file itself; false when it does not have them. */
bool core_read_file(const struct core *core, uint64_t offset, void *to, size_t size);

#endif
