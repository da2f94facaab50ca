/* task_sample.c - some of the tasks, each with the same chance.
 *
 * A set is a table with holes: tables that fit in one read are read whole, of
 * larger ones random places.  A list can only be followed: each call goes on
 * where the one before stopped, so that all have their turn, and chooses among
 * those that it passed.  Where there are more than were known it goes on to the
 * end: how many there are decides what the chosen ones stand for.  So it does when
 * new ones have come and now come no more.
 *
 * asyncio's sets have weak references, trio's the tasks themselves. */
#include <string.h>

#include "python/bits.h"
#include "python/task_parts.h"

#define TABLE_SLOTS 1024u /* of 16 bytes; read at once */
#define PROBES 128u       /* random places of larger tables, */
#define PROBE_SLOTS 4u    /* each so long */
#define NODES_PER_CALL 2048u
#define READS_PER_CALL 160u
#define NODES_MAX 131072u /* in one call, when there are more than were known */
#define READS_MAX 8192u
#define WINDOW_BYTES 16384u
#define SLOT_BYTES 16u
#define REFERENCES 32u /* weak ones that are followed by one read */

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* The tasks chosen so far, out of `seen`. */
struct choice {
	py_addr *tasks;
	uint32_t count, room, seen;
	uint64_t *random;
};

static void choose(struct choice *choice, py_addr task)
{
	uint64_t at = choice->count;

	choice->seen++;
	if (choice->count == choice->room)
		at = next_random(choice->random) % choice->seen;
	else
		choice->count++;
	if (at < choice->room)
		choice->tasks[at] = task;
}

/* --- a set of weak references --- */

static void choose_slots(struct choice *choice, const unsigned char *slots, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		py_addr key = load_u64(slots + i * SLOT_BYTES);

		/* What is left of a removed key has the hash -1. */
		if (is_pointer(key) && load_u64(slots + i * SLOT_BYTES + 8) != UINT64_MAX)
			choose(choice, key);
	}
}

static void probe_table(const struct task_finder *finder, py_addr table, uint64_t slots,
			struct choice *choice)
{
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char parts[PROBES][PROBE_SLOTS * SLOT_BYTES];
	struct iovec dst[PROBES], src[PROBES];
	size_t got;

	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t at = next_random(choice->random) % (slots - PROBE_SLOTS + 1);

		dst[i] = (struct iovec){ parts[i], sizeof(parts[i]) };
		src[i] = (struct iovec){ (void *)(uintptr_t)(table + at * SLOT_BYTES),
					 sizeof(parts[i]) };
	}
	got = reader->read_many(reader, dst, src, PROBES);
	for (size_t i = 0; i < got && choice->count < choice->room; i++)
		choose_slots(choice, parts[i], PROBE_SLOTS);
}

/* From some weak references to what they refer to; what cannot be read drops
 * out. */
static uint32_t follow_some(const struct task_finder *finder, const py_addr *refs, uint32_t count,
			    py_addr *tasks)
{
	const struct mem_reader *reader = finder->walker->reader;
	struct iovec dst[REFERENCES], src[REFERENCES];
	py_addr found[REFERENCES];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		dst[i] = (struct iovec){ &found[i], sizeof(found[i]) };
		src[i] = (struct iovec){ (void *)(uintptr_t)(refs[i] + WEAKREF_OBJECT),
					 sizeof(found[i]) };
	}
	for (uint32_t done = 0; done < count; done++) {
		size_t got = reader->read_many(reader, dst + done, src + done, count - done);

		for (; got > 0; got--, done++) {
			if (is_pointer(found[done]))
				tasks[kept++] = found[done];
		}
	}
	return kept;
}

/* The tasks take the place of the references to them. */
static uint32_t follow_references(const struct task_finder *finder, py_addr *refs, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i += REFERENCES) {
		uint32_t part = count - i < REFERENCES ? count - i : REFERENCES;

		kept += follow_some(finder, refs + i, part, refs + kept);
	}
	return kept;
}

static uint32_t sample_set(const struct task_finder *finder, py_addr set, bool is_weak,
			   struct choice *choice, uint32_t *total)
{
	static const uint32_t head_bytes = SET_TABLE + 8 - SET_USED;
	const struct mem_reader *reader = finder->walker->reader;
	unsigned char head[SET_TABLE + 8 - SET_USED], slots[TABLE_SLOTS * SLOT_BYTES];
	uint64_t used, mask;
	py_addr table;

	if (!reader->read(reader, set + SET_USED, head, head_bytes))
		return 0;
	used = load_u64(head);
	mask = load_u64(head + SET_MASK - SET_USED);
	table = load_u64(head + SET_TABLE - SET_USED);
	if (mask > 1u << 28 || (mask & (mask + 1)) != 0 || used > mask || !is_pointer(table))
		return 0;
	if (mask >= TABLE_SLOTS)
		probe_table(finder, table, mask + 1, choice);
	else if (reader->read(reader, table, slots, (mask + 1) * SLOT_BYTES))
		choose_slots(choice, slots, (uint32_t)mask + 1);
	*total = (uint32_t)used;
	return is_weak ? follow_references(finder, choice->tasks, choice->count) : choice->count;
}

/* --- a linked list --- */

/* A copied part of the target: tasks made one after the other lie close by. */
struct window {
	const struct mem_reader *reader;
	py_addr start;
	uint32_t size, reads;
	unsigned char bytes[WINDOW_BYTES];
};

static bool window_node(struct window *window, py_addr node, py_addr *next, py_addr *previous)
{
	uint64_t links[2];

	if (!is_pointer(node))
		return false;
	if (node - window->start >= window->size || window->size - (node - window->start) < 16) {
		if (window->reads++ == READS_MAX)
			return false;
		window->start = node & ~(py_addr)4095;
		window->size = WINDOW_BYTES;
		if (!window->reader->read(window->reader, window->start, window->bytes,
					  WINDOW_BYTES)) {
			window->size = 0;
			if (!window->reader->read(window->reader, node, links, sizeof(links)))
				return false;
			*next = links[0];
			*previous = links[1];
			return true;
		}
	}
	if (window->size - (node - window->start) < 16)
		return false;
	*next = load_u64(window->bytes + (node - window->start));
	*previous = load_u64(window->bytes + (node - window->start) + 8);
	return true;
}

/* Whether the node where the last call stopped is still in a list. */
static bool is_linked(struct window *window, py_addr node)
{
	py_addr next, previous, after, before;

	return window_node(window, node, &next, &previous) &&
	       window_node(window, previous, &after, &before) && after == node;
}

static uint32_t sample_list(struct task_finder *finder, py_addr tstate, struct task_sweep *sweep,
			    struct choice *choice, uint32_t *total)
{
	py_addr head = tstate + finder->layout.thread_tasks;
	py_addr node, next, previous, newest, before = head;
	struct window window;

	window.reader = finder->walker->reader;
	window.start = window.size = window.reads = 0;
	if (!window_node(&window, head, &next, &newest))
		return 0;
	if (newest == sweep->last && newest != sweep->counted)
		sweep->cursor = sweep->total = 0;
	sweep->last = newest;
	node = sweep->cursor;
	if (node == 0 || !is_linked(&window, node)) {
		sweep->passed = 0;
		if (!window_node(&window, head, &node, &previous))
			return 0;
	} else {
		window_node(&window, node, &next, &before);
	}
	sweep->cursor = 0;
	for (uint32_t i = 0; node != head; i++) {
		bool is_enough = i >= NODES_PER_CALL || window.reads >= READS_PER_CALL;
		if ((is_enough && sweep->passed < sweep->total) || i == NODES_MAX ||
		    window.reads >= READS_MAX) {
			sweep->cursor = node;
			break;
		}
		if (!window_node(&window, node, &next, &previous) || previous != before)
			return 0;
		choose(choice, node - finder->layout.task_node);
		sweep->passed++;
		before = node;
		node = next;
	}
	if (sweep->cursor == 0 || sweep->passed > sweep->total)
		sweep->total = sweep->passed;
	if (sweep->cursor == 0) {
		sweep->passed = 0;
		sweep->counted = newest;
	}
	*total = sweep->total;
	return choice->count;
}

/* --- both --- */

/* Leaves out some of the chosen at random, so that with those of the set each
 * stands for as many as the others. */
static void thin(struct choice *choice, uint32_t own, uint32_t others)
{
	uint64_t all = (uint64_t)own + others;
	uint64_t part = (uint64_t)choice->room * own;
	uint32_t wanted = (uint32_t)(part / all);

	if (all <= choice->room)
		return;
	wanted += next_random(choice->random) % all < part % all;
	while (choice->count > wanted) {
		uint64_t at = next_random(choice->random) % choice->count;

		choice->tasks[at] = choice->tasks[--choice->count];
	}
}

/* 3.14 and later: tasks of the type in C are in the list, others in the set. */
static uint32_t sample_both(struct task_finder *finder, py_addr tstate, struct task_sweep *sweep,
			    struct choice *choice, uint32_t *total)
{
	uint32_t own = 0, others = 0;
	uint64_t used = 0;

	choice->count = sample_list(finder, tstate, sweep, choice, &own);
	*total = own;
	if (!task_read_word(finder, finder->all_tasks + SET_USED, &used) || used == 0)
		return choice->count;
	thin(choice, own, (uint32_t)used);
	struct choice rest = { .tasks = choice->tasks + choice->count,
			       .room = choice->room - choice->count,
			       .random = choice->random };
	uint32_t count = sample_set(finder, finder->all_tasks, true, &rest, &others);

	*total += others;
	return choice->count + count;
}

uint32_t tasks_sample(struct task_finder *finder, py_addr tstate, const struct task_loop *loop,
		      struct task_sweep *sweep, uint64_t *random, py_addr *tasks, uint32_t room,
		      uint32_t *total)
{
	struct choice choice = { .tasks = tasks, .room = room, .random = random };

	*total = 0;
	if (loop->is_trio) {
		py_addr set = task_read_pointer(finder, loop->object + finder->trio.runner_tasks);

		return set == 0 ? 0 : sample_set(finder, set, false, &choice, total);
	}
	return finder->layout.source == TASKS_LIST
		       ? sample_both(finder, tstate, sweep, &choice, total)
		       : sample_set(finder, finder->all_tasks, true, &choice, total);
}
