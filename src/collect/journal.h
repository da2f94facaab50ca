/* journal.h - what the collector has taken in, kept so that another can go on.
 *
 * The collector may be killed like any process.  Everything that it takes out
 * of the rings, and what it sees by itself (processes, waiting threads, the
 * footprint), is appended to a file in the run's folder, which is shared memory
 * and survives it.  Another collector reads the journal and is then where the
 * first one was; both run the same code, so nothing has to be told twice.
 *
 * A record is in the journal before it leaves its ring, together with its
 * place there: when the collector dies in between, it is in both, and the next
 * one sees that by the place.
 *
 * The journal is bounded.  When it is full only definitions go on (processes,
 * threads, code objects), and the profile so far is written beside it every few
 * seconds instead (collector.c).
 *
 * The file is ours alone, but a dying collector may have left half an entry:
 * `used` moves last, and what is read is checked. */
#ifndef HEATLINE_COLLECT_JOURNAL_H
#define HEATLINE_COLLECT_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/record.h"
#include "wire/ring.h"

#define JOURNAL_FILE "journal"
#define CHECKPOINT_FILE "checkpoint.json"

struct code_info;
struct collector;
struct process;
struct thread;

struct journal {
	struct journal_head *head; /* mapped; NULL: there is none, and nothing is kept */
	int fd;
	uint64_t reserved; /* bytes of the file that are there for sure */
	bool is_replaying; /* what is booked comes from the journal itself */
	struct journal_stack *stack; /* owned; the last one written or read */
};

/* Opens the folder's journal or makes one.  Without room for one the run goes
 * on without. */
void journal_init(struct journal *journal, const char *folder);
void journal_fini(struct journal *journal);

/* Whether what is sampled is no longer kept. */
bool journal_is_full(const struct journal *journal);

/* What the collector reports. */
void journal_process(struct collector *collector, const struct process *process);
void journal_end(struct collector *collector, const struct process *process);
void journal_record(struct collector *collector, const struct process *process,
		    const struct record *record, uint64_t position);
void journal_code(struct collector *collector, const struct process *process,
		  const struct code_info *info);

/* A record that comes from a look, not from a ring. */
void journal_seen(struct collector *collector, const struct process *process,
		  const struct record *record);
void journal_tick(struct collector *collector, double time_s, double resident_bytes);

enum journal_time {
	JOURNAL_WAITED, /* off the CPU, booked to a stack */
	JOURNAL_PAUSED, /* off the CPU while suspended, or helped: no line's */
	JOURNAL_READY,  /* ready to run, not running yet */
};

/* A thread's time that no record tells of, up to end_ns. */
void journal_time(struct collector *collector, const struct process *process,
		  const struct thread *thread, enum journal_time what, uint32_t node,
		  uint64_t end_ns, uint64_t ns);

/* Brings a fresh collector to where the last one was; false: it is the first. */
bool journal_replay(struct collector *collector);

#endif
