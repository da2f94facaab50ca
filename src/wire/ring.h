/* ring.h - one process's shared memory: who it is, its threads, its records.
 *
 * A file in the run's folder, mapped by the process (producers: its signal
 * handlers, on any thread) and by the collector (one consumer).  It outlives
 * the process, so nothing is lost when that is killed.
 *
 * A record is reserved by moving head, written, then committed by clearing the
 * pending bit of its size; the consumer stops at the first one that is not
 * committed, and zeroes what it has read before it moves tail.  Records never wrap: a pad fills the
 * end.
 *
 * Most processes write a few records and end, so the file's pages are made as they are needed
 * (all 2 MB at once cost as much as a fork does).  They are made by a system call that can fail:
 * where shared memory is used up, to touch a page that is not there would kill the program.
 *
 * Invariants.  (1) tail <= head <= tail + RING_BYTES.  (2) Bytes between head
 * and tail + RING_BYTES are zero.  (3) Only the collector moves tail, only
 * producers move head.  (4) No record lies behind the first room bytes of data. */
#ifndef HEATLINE_WIRE_RING_H
#define HEATLINE_WIRE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/record.h"

#define RING_BYTES (2u << 20)
#define RING_MAGIC 0x52474e494c544148ull
#define RING_PENDING 1u /* bit of record.size: reserved, not written yet */
#define RING_THREADS 1024u
#define RING_REASON_BYTES 256u
#define RING_COMMAND_BYTES 512u

/* Why samples are missing.  The text is what the user reads. */
#define LOST_REASONS(X)                                                                            \
	X(RING_FULL, "buffer full")                                                                \
	X(NO_SLOT, "more threads than can be watched")                                             \
	X(CODE_UNREADABLE, "code object unreadable")                                               \
	X(TORN, "frame changed while it was read")                                                 \
	X(BAD_RECORD, "record damaged")                                                            \
	X(FREES, "end of an allocation not noted")

enum lost_reason {
#define X(name, text) LOST_##name,
	LOST_REASONS(X)
#undef X
	LOST_REASON_COUNT
};

/* What a user is told for a reason; static. */
const char *lost_reason_text(enum lost_reason reason);

enum ring_state {
	RING_STARTING = 0, /* being filled in; not to be read yet */
	RING_ACTIVE,       /* samples arrive */
	RING_REFUSED,      /* the agent switched itself off; see reason */
};

enum ring_clock {
	CLOCK_TICK_TIMER = 1 << 0, /* CPU-clock timers, checked on the kernel's tick */
	CLOCK_PERF = 1 << 1,       /* perf task-clock events */
};

/* A thread of the process.  tid is stored last when a slot is taken and
 * cleared first when it is given back. */
struct ring_thread {
	_Atomic int32_t tid; /* 0: free */
	uint32_t is_main;
	_Atomic uint64_t pthread_id; /* pthread_self() */
	_Atomic uint64_t start_ns;
};

/* Written by the agent before state becomes RING_ACTIVE, except the atomics. */
struct ring {
	uint64_t magic;
	uint32_t wire_version;
	_Atomic uint32_t state; /* enum ring_state */
	_Atomic uint32_t is_left; /* the agent has left the process, which goes on without it */
	_Atomic uint64_t exec_ns; /* when the process set out to run another program; 0: it did
				     not, or that failed */
	int32_t pid, parent_pid;
	uint64_t pid_namespace; /* in which these count; 0: not known */
	uint64_t start_ns;      /* when the agent started in this process */
	uint32_t python;        /* 0x0308 for 3.8; 0: not known */
	_Atomic uint32_t clocks; /* enum ring_clock bits ever in use */
	uint64_t runtime;       /* address of _PyRuntime, or 0 */
	uint64_t code_type;     /* address of PyCode_Type */
	uint64_t cookie_addr;   /* a word in the agent that holds cookie */
	uint64_t cookie;        /* when the word no longer does, the process runs another program */
	uint64_t image_start, image_end; /* the interpreter's code */
	char version_text[32];  /* "3.11.7" */
	char reason[RING_REASON_BYTES];
	char command[RING_COMMAND_BYTES]; /* its words, each with a zero behind it, as far as they
					     fit: nobody else knows them when it is gone */

	_Alignas(64) _Atomic uint64_t head; /* bytes ever reserved */
	_Atomic uint64_t room; /* bytes of data that have their pages; only grows */
	_Alignas(64) _Atomic uint64_t tail; /* bytes ever read */
	_Alignas(64) _Atomic uint64_t lost[LOST_REASON_COUNT];
	_Atomic uint64_t agent_ns;  /* time spent in the handlers */
	_Atomic int64_t carry_ns;   /* CPU time of ended threads that were hardly met, not in any
				       sample yet; or, below 0, too much in them */
	_Atomic int64_t excess_ns;  /* of the others: what their samples had too much */
	_Atomic uint64_t owed_bytes; /* allocated, but no sample stands for them yet: there was no
					room for one */

	struct ring_thread threads[RING_THREADS];
	_Alignas(4096) unsigned char data[RING_BYTES];
};

/* Before the first record: pages for all but the data, and for the first of these.  Returns 0 or
 * -errno; -EINVAL where the kernel (before 5.14) has no such call: whoever gives the file all its
 * pages otherwise sets room to RING_BYTES. */
int ring_make_room(struct ring *ring);

/* --- producers; signal-safe, never block --- */

/* Reserves size bytes (a multiple of 8); NULL when the ring is full, or its file cannot grow, which
 * is counted.  Write everything behind the header, then commit. */
struct record *ring_reserve(struct ring *ring, uint32_t size);

/* The same for what is not lost by it: what is told later, or counted otherwise. */
struct record *ring_try_reserve(struct ring *ring, uint32_t size);
void ring_commit(struct record *record, uint32_t size, enum record_type type);

void ring_count_lost(struct ring *ring, enum lost_reason reason);

/* A sample of so many bytes found no room; another one stands for so many of these. */
void ring_owe(struct ring *ring, uint64_t bytes);
void ring_pay(struct ring *ring, uint64_t bytes);

/* --- the collector --- */

/* The next record, or NULL.  It is valid until ring_consume.  is_final: the
 * process is gone, so a record that is not committed never will be; it is
 * skipped and counted.  A record that makes no sense sets *damaged and ends
 * the ring: what follows it cannot be found. */
const struct record *ring_peek(struct ring *ring, bool is_final, bool *damaged);
void ring_consume(struct ring *ring, const struct record *record);

/* After another collector, which has taken the record of this size at this
 * position: finishes ring_consume if that one did not come so far. */
void ring_skip_taken(struct ring *ring, uint64_t position, uint32_t size);

#endif
