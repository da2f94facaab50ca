/* journal.c - see journal.h. */
#include "collect/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/journal_stack.h"
#include "collect/process.h"
#include "collect/stacks.h"
#include "collect/threads.h"
#include "collect/watch.h"

#define JOURNAL_MAGIC 0x4d4e524a4c544148ull
#define JOURNAL_BYTES (32u << 20)
#define SAMPLES_BYTES (24u << 20) /* up to here everything is kept; then definitions only */
#define FIRST_STEP_BYTES (32u << 10) /* most runs write less, and every page is zeroed and freed */
#define STEP_BYTES (256u << 10)
#define TEXT_MAX 4096u

enum entry_kind {
	ENTRY_PROCESS = 1, /* struct process_entry */
	ENTRY_END,         /* struct end_entry */
	ENTRY_RECORD,      /* a record of a ring; place: where it stood */
	ENTRY_SEEN,        /* a record that came from a look, not from a ring */
	ENTRY_TIME,        /* struct time_entry */
	ENTRY_TICK,        /* struct tick_entry */
};

struct journal_head {
	uint64_t magic;
	_Atomic uint64_t used; /* bytes behind the head */
	_Atomic uint32_t is_full;
	uint32_t reserved;
};

struct entry {
	uint32_t size; /* of the whole, a multiple of 8 */
	uint32_t kind; /* enum entry_kind */
	uint32_t process; /* index in collector->processes */
	uint32_t shared;  /* of a record: frames that are left out, see journal_stack.h */
	uint64_t place;
};

/* Followed by command, folder and path of the ring; each ends with 0. */
struct process_entry {
	struct entry head;
	struct process_facts facts;
	uint32_t has_command, has_cwd;
};

struct end_entry {
	struct entry head;
	uint64_t end_ns, agent_ns;
	uint64_t lost[LOST_REASON_COUNT];
	uint64_t owed_bytes;
	uint32_t clocks;
	uint32_t has_executed;
};

struct time_entry {
	struct entry head;
	uint64_t end_ns, ns;
	uint32_t slot;
	uint32_t what; /* enum journal_time */
	uint32_t count;
	uint16_t wait_kind;
	uint16_t is_at_gil;
	struct tree_frame frames[]; /* innermost first */
};

struct tick_entry {
	struct entry head;
	double time_s, resident_bytes;
};

/* --- the file --- */

/* Twice the room at a time, then by steps, which the whole is a multiple of. */
static uint64_t next_room(uint64_t reserved)
{
	if (reserved < STEP_BYTES)
		return reserved == 0 ? FIRST_STEP_BYTES : reserved * 2;
	return reserved + STEP_BYTES;
}

static bool has_room(struct journal *journal, uint64_t need)
{
	while (need > journal->reserved) {
		uint64_t room = next_room(journal->reserved);
		if (room > JOURNAL_BYTES ||
		    fallocate(journal->fd, 0, (off_t)journal->reserved,
			      (off_t)(room - journal->reserved)) != 0)
			return false;
		journal->reserved = room;
	}
	return true;
}

static bool map_file(struct journal *journal)
{
	struct stat status;
	if (fstat(journal->fd, &status) != 0 ||
	    (status.st_size == 0 && ftruncate(journal->fd, JOURNAL_BYTES) != 0))
		return false;
	bool is_new = status.st_size == 0;
	if (!is_new && status.st_size != (off_t)JOURNAL_BYTES)
		return false;
	void *memory = mmap(NULL, JOURNAL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, journal->fd, 0);
	if (memory == MAP_FAILED)
		return false;
	journal->head = memory;
	if (!has_room(journal, sizeof(struct journal_head)))
		return false;
	if (is_new)
		*journal->head = (struct journal_head){.magic = JOURNAL_MAGIC};
	return journal->head->magic == JOURNAL_MAGIC &&
	       atomic_load(&journal->head->used) <= JOURNAL_BYTES - sizeof(struct journal_head);
}

void journal_init(struct journal *journal, const char *folder)
{
	char *path = path_join(folder, JOURNAL_FILE);
	*journal = (struct journal){
		.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600),
		.stack = journal_stack_new(),
	};
	free(path);
	if (journal->fd >= 0 && !map_file(journal))
		journal_fini(journal);
}

void journal_fini(struct journal *journal)
{
	if (journal->head != NULL)
		munmap(journal->head, JOURNAL_BYTES);
	if (journal->fd >= 0)
		close(journal->fd);
	journal_stack_free(journal->stack);
	*journal = (struct journal){.fd = -1};
}

bool journal_is_full(const struct journal *journal)
{
	return journal->head == NULL || atomic_load(&journal->head->is_full) != 0;
}

/* --- writing --- */

/* Room for an entry of this kind behind the last; NULL: it is not kept. */
static void *begin(struct journal *journal, uint32_t process, enum entry_kind kind, uint64_t size,
		   bool is_definition)
{
	if (journal->head == NULL || journal->is_replaying ||
	    (!is_definition && journal_is_full(journal)))
		return NULL;
	uint64_t used = atomic_load(&journal->head->used);
	uint64_t whole = (size + 7) & ~7ull;
	uint64_t end = sizeof(struct journal_head) + used + whole;
	if ((!is_definition && end > SAMPLES_BYTES) || !has_room(journal, end)) {
		atomic_store(&journal->head->is_full, 1);
		return NULL;
	}
	struct entry *entry = (void *)((char *)(journal->head + 1) + used);
	*entry = (struct entry){.size = (uint32_t)whole, .kind = kind, .process = process};
	return entry;
}

static void commit(struct journal *journal, const void *made)
{
	const struct entry *entry = made;
	atomic_fetch_add(&journal->head->used, entry->size);
}

static size_t put_text(char *to, const char *text)
{
	size_t size = text == NULL ? 0 : strnlen(text, TEXT_MAX - 1);
	if (size > 0)
		memcpy(to, text, size);
	to[size] = '\0';
	return size + 1;
}

void journal_process(struct collector *collector, const struct process *process)
{
	struct journal *journal = &collector->journal;
	struct process_entry *out = begin(journal, process->index, ENTRY_PROCESS,
					  sizeof(*out) + (uint64_t)3 * TEXT_MAX, true);
	if (out == NULL)
		return;
	out->facts = process->facts;
	out->has_command = process->command != NULL;
	out->has_cwd = process->cwd != NULL;
	char *at = (char *)(out + 1);
	at += put_text(at, process->command);
	at += put_text(at, process->cwd);
	at += put_text(at, process->ring_path);
	out->head.size = (uint32_t)(((size_t)(at - (char *)out) + 7) & ~(size_t)7);
	commit(journal, out);
}

void journal_end(struct collector *collector, const struct process *process)
{
	struct journal *journal = &collector->journal;
	struct end_entry *out = begin(journal, process->index, ENTRY_END, sizeof(*out), true);
	if (out == NULL)
		return;
	out->end_ns = process->end_ns;
	out->agent_ns = process->agent_ns;
	memcpy(out->lost, process->lost, sizeof(out->lost));
	out->owed_bytes = process->owed_bytes;
	out->clocks = process->clocks;
	out->has_executed = process->has_executed;
	commit(journal, out);
}

static bool is_definition(const struct record *record)
{
	return record->type == RECORD_CODE || record->type == RECORD_THREAD ||
	       record->type == RECORD_THREAD_END || record->type == RECORD_GPU_STATE ||
	       record->type == RECORD_GPU_DEVICE || record->type == RECORD_GPU_SITE;
}

void journal_record(struct collector *collector, const struct process *process,
		    const struct record *record, uint64_t position)
{
	struct journal *journal = &collector->journal;
	if (journal->head == NULL)
		return;
	uint32_t shared = journal_stack_shared(journal->stack, process->index, record);
	uint32_t size = record->size - shared * (uint32_t)sizeof(struct record_frame);
	struct entry *out = begin(journal, process->index, ENTRY_RECORD, sizeof(*out) + size,
				  is_definition(record));
	if (out == NULL)
		return;
	out->place = position;
	out->shared = shared;
	memcpy(out + 1, record, size);
	journal_stack_note(journal->stack, process->index, record);
	commit(journal, out);
}

void journal_seen(struct collector *collector, const struct process *process,
		  const struct record *record)
{
	struct entry *out = begin(&collector->journal, process->index, ENTRY_SEEN,
				  sizeof(*out) + record->size, false);
	if (out == NULL)
		return;
	memcpy(out + 1, record, record->size);
	commit(&collector->journal, out);
}

void journal_code(struct collector *collector, const struct process *process,
		  const struct code_info *info)
{
	struct journal *journal = &collector->journal;
	uint32_t names = info->filename_size + info->qualname_size;
	uint64_t tables = (uint64_t)info->lines_size + info->bytecode_size;
	struct record_code *record;
	bool fits = sizeof(*record) + names + tables + 8 <= RECORD_MAX_BYTES;
	uint64_t texts = names + (fits ? tables : 0);
	struct entry *out = begin(journal, process->index, ENTRY_SEEN,
				  sizeof(*out) + sizeof(*record) + texts, true);
	if (out == NULL)
		return;
	record = (void *)(out + 1);
	*record = (struct record_code){
		.head = {.size = out->size - (uint32_t)sizeof(*out), .type = RECORD_CODE},
		.first_line = info->first_line,
		.flags = info->flags,
		.filename_size = info->filename_size,
		.qualname_size = info->qualname_size,
		.lines_size = fits ? info->lines_size : 0,
		.bytecode_size = fits ? info->bytecode_size : 0,
	};
	char *at = (char *)(record + 1);
	memcpy(at, info->filename, info->filename_size);
	memcpy(at += info->filename_size, info->qualname, info->qualname_size);
	memcpy(at += info->qualname_size, info->lines, record->lines_size);
	memcpy(at += record->lines_size, info->bytecode, record->bytecode_size);
	commit(journal, out);
}

void journal_time(struct collector *collector, const struct process *process,
		  const struct thread *thread, enum journal_time what, uint32_t node,
		  uint64_t end_ns, uint64_t ns)
{
	struct journal *journal = &collector->journal;
	const struct tree_node *nodes = collector->tree.nodes;
	uint32_t count = 0;
	for (uint32_t at = node; at != TREE_ROOT; at = nodes[at].parent)
		count++;
	struct time_entry *out = begin(journal, process->index, ENTRY_TIME,
				       sizeof(*out) + count * sizeof(out->frames[0]), false);
	if (out == NULL)
		return;
	out->end_ns = end_ns;
	out->ns = ns;
	out->slot = thread->slot;
	out->what = what;
	out->count = count;
	out->wait_kind = (uint16_t)thread->wait_kind;
	out->is_at_gil = thread->is_at_gil;
	for (uint32_t at = node, i = 0; at != TREE_ROOT; at = nodes[at].parent)
		out->frames[i++] = tree_frame(&collector->tree, at);
	commit(journal, out);
}

void journal_tick(struct collector *collector, double time_s, double resident_bytes)
{
	struct tick_entry *out = begin(&collector->journal, 0, ENTRY_TICK, sizeof(*out), false);
	if (out == NULL)
		return;
	out->time_s = time_s;
	out->resident_bytes = resident_bytes;
	commit(&collector->journal, out);
}

/* --- reading --- */

#define TICK_MAX_S 1e9 /* no run is as long */

/* The earlier collector was alive then. */
static void note_seen(struct collector *collector, uint64_t time_ns)
{
	if (time_ns <= clock_monotonic_ns())
		collector->seen_ns = clock_larger(collector->seen_ns, time_ns);
}

/* The next text of an entry, NULL when it does not end in it. */
static const char *take_text(const char **at, const char *end)
{
	const char *text = *at;
	const char *zero = memchr(text, 0, (size_t)(end - text));
	if (zero == NULL)
		return NULL;
	*at = zero + 1;
	return text;
}

static bool replay_process(struct collector *collector, const struct process_entry *in)
{
	const char *at = (const char *)(in + 1), *end = (const char *)in + in->head.size;
	const char *command = take_text(&at, end);
	const char *cwd = command == NULL ? NULL : take_text(&at, end);
	const char *path = cwd == NULL ? NULL : take_text(&at, end);
	if (path == NULL || in->head.process != collector->processes.count)
		return false;
	processes_add_again(collector, path, &in->facts, in->has_command ? command : NULL,
			    in->has_cwd ? cwd : NULL);
	return true;
}

static bool replay_time(struct collector *collector, struct process *process,
			const struct time_entry *in)
{
	if (in->count > WALK_MAX_FRAMES ||
	    sizeof(*in) + (uint64_t)in->count * sizeof(in->frames[0]) > in->head.size)
		return false;
	struct thread *thread = threads_at(process, in->slot);
	note_seen(collector, in->end_ns);
	if (thread == NULL)
		return true;
	for (uint32_t i = 0; i < in->count; i++) {
		if (in->frames[i].code >= collector->codes.count)
			return false;
		collector->tree_frames[i] = in->frames[i];
	}
	thread->wait_kind = in->wait_kind < WAIT_KINDS ? (enum wait_kind)in->wait_kind : WAIT_OTHER;
	thread->is_at_gil = in->is_at_gil != 0;
	if (in->what == JOURNAL_WAITED)
		watch_book_again(collector, process, thread, stacks_node(collector, in->count),
				 in->end_ns, in->ns);
	else if (in->what == JOURNAL_PAUSED)
		thread->skipped_ns += in->ns;
	else
		watch_ready_again(collector, process, thread, in->ns);
	return true;
}

static bool replay_record(struct collector *collector, struct process *process,
			  const struct entry *entry)
{
	struct journal_stack *stack = collector->journal.stack;
	const struct record *record =
		journal_stack_restore(stack, entry->process, (const void *)(entry + 1),
				      entry->size - sizeof(*entry), entry->shared);
	if (record == NULL)
		return false;
	if (record->type == RECORD_SAMPLE && record->size >= sizeof(struct record_sample))
		note_seen(collector, ((const struct record_sample *)record)->time_ns);
	if (entry->kind == ENTRY_RECORD)
		journal_stack_note(stack, entry->process, record);
	processes_take_again(collector, process, record, entry->place, entry->kind == ENTRY_SEEN);
	return true;
}

static bool replay(struct collector *collector, const struct entry *entry)
{
	if (entry->kind == ENTRY_PROCESS)
		return entry->size >= sizeof(struct process_entry) &&
		       replay_process(collector, (const void *)entry);
	if (entry->kind == ENTRY_TICK && entry->size >= sizeof(struct tick_entry)) {
		const struct tick_entry *in = (const void *)entry;
		if (in->time_s >= 0 && in->time_s < TICK_MAX_S)
			note_seen(collector, collector->start_ns + (uint64_t)(in->time_s * 1e9));
		heap_tick(&collector->heap, in->time_s, in->resident_bytes);
		return true;
	}
	if (entry->process >= collector->processes.count)
		return false;
	struct process *process = collector->processes.items[entry->process];
	if (entry->kind == ENTRY_RECORD || entry->kind == ENTRY_SEEN)
		return replay_record(collector, process, entry);
	if (entry->kind == ENTRY_TIME)
		return entry->size >= sizeof(struct time_entry) &&
		       replay_time(collector, process, (const void *)entry);
	if (entry->kind != ENTRY_END || entry->size < sizeof(struct end_entry))
		return false;
	const struct end_entry *in = (const void *)entry;
	process->end_ns = in->end_ns;
	process->agent_ns = in->agent_ns;
	process->clocks = in->clocks;
	process->has_executed = in->has_executed != 0;
	memcpy(process->lost, in->lost, sizeof(process->lost));
	process->owed_bytes = in->owed_bytes;
	processes_end_again(collector, process);
	return true;
}

bool journal_replay(struct collector *collector)
{
	struct journal *journal = &collector->journal;
	if (journal->head == NULL)
		return false;
	uint64_t used = atomic_load(&journal->head->used);
	uint64_t at = 0;
	journal->is_replaying = true;
	while (at + sizeof(struct entry) <= used) {
		const struct entry *entry = (const void *)((const char *)(journal->head + 1) + at);
		if (entry->size < sizeof(*entry) || (entry->size & 7) != 0 ||
		    entry->size > used - at || !replay(collector, entry))
			break;
		at += entry->size;
	}
	journal->is_replaying = false;
	return used != 0;
}
