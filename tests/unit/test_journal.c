/* What is written to the journal is what is read from it, to the last frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "collect/collector.h"
#include "collect/journal_stack.h"
#include "collect/process.h"

#define DEPTH_MAX 40u
#define CODES 6u

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % below;
}

/* Changes some innermost frames of the stack, and its depth; the rest stays, as
 * it does in a program. */
static uint32_t next_stack(struct record_frame *outermost_first, uint32_t depth)
{
	uint32_t wanted = draw(8) == 0 ? draw(DEPTH_MAX) : depth + draw(3);
	uint32_t first = wanted > 4 ? wanted - draw(4) : 0;
	if (wanted >= DEPTH_MAX)
		wanted = DEPTH_MAX - 1;
	for (uint32_t i = first; i < wanted; i++)
		outermost_first[i] = (struct record_frame){1 + draw(CODES), draw(20) * 2};
	return wanted;
}

union any_record {
	struct record head;
	struct record_sample sample;
	struct record_alloc alloc;
	struct record_copy copy;
	struct record_free end;
	unsigned char bytes[sizeof(struct record_sample) + DEPTH_MAX * sizeof(struct record_frame)];
};

/* One of the three kinds with a stack, or one without. */
static void make_record(union any_record *out, const struct record_frame *stack, uint32_t depth)
{
	static const uint16_t types[] = {RECORD_ALLOC, RECORD_SAMPLE, RECORD_COPY, RECORD_FREE};
	memset(out, 0, sizeof(*out));
	out->head.type = types[draw(4)];
	struct record_frame *frames = NULL;
	if (out->head.type == RECORD_SAMPLE) {
		out->sample.count = depth;
		frames = out->sample.frames;
	} else if (out->head.type == RECORD_ALLOC) {
		out->alloc.count = depth;
		frames = out->alloc.frames;
	} else if (out->head.type == RECORD_COPY) {
		out->copy.count = depth;
		frames = out->copy.frames;
	}
	for (uint32_t i = 0; frames != NULL && i < depth; i++)
		frames[i] = stack[depth - 1 - i];
	out->head.size = frames == NULL ? sizeof(struct record_free)
					: (uint32_t)((unsigned char *)(frames + depth) - out->bytes);
}

static void test_records_come_back_whole(void **state)
{
	(void)state;
	struct journal_stack *writer = journal_stack_new(), *reader = journal_stack_new();
	struct record_frame stacks[2][DEPTH_MAX] = {{{0, 0}}};
	uint32_t depths[2] = {0, 0};
	uint64_t whole = 0, written = 0;
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t process = draw(50) == 0;
		union any_record record;
		depths[process] = next_stack(stacks[process], depths[process]);
		make_record(&record, stacks[process], depths[process]);
		uint32_t shared = journal_stack_shared(writer, process, &record.head);
		uint64_t size = record.head.size - shared * sizeof(struct record_frame);
		journal_stack_note(writer, process, &record.head);
		unsigned char *exact = malloc(size); /* a step beyond it is seen */
		memcpy(exact, &record, size);
		const struct record *back =
			journal_stack_restore(reader, process, (const void *)exact, size, shared);
		assert_non_null(back);
		assert_int_equal(back->size, record.head.size);
		assert_memory_equal(back, &record, record.head.size);
		journal_stack_note(reader, process, back);
		free(exact);
		whole += record.head.size;
		written += size;
	}
	assert_true(written * 2 < whole);
	journal_stack_free(writer);
	journal_stack_free(reader);
}

static void test_what_cannot_be_is_refused(void **state)
{
	(void)state;
	struct journal_stack *stack = journal_stack_new();
	struct record_frame frames[3] = {{1, 0}, {2, 2}, {3, 4}};
	union any_record record = {.alloc = {.head = {.type = RECORD_ALLOC}, .count = 3}};
	record.head.size = sizeof(record.alloc) + sizeof(frames);
	memcpy(record.alloc.frames, frames, sizeof(frames));
	uint64_t size = record.head.size;
	assert_null(journal_stack_restore(stack, 0, &record.head, size, 1)); /* nothing came before */
	journal_stack_note(stack, 0, &record.head);
	assert_non_null(journal_stack_restore(stack, 0, &record.head, size - 8, 1));
	assert_null(journal_stack_restore(stack, 0, &record.head, size - 16, 1));
	assert_null(journal_stack_restore(stack, 0, &record.head, size, 4));
	assert_null(journal_stack_restore(stack, 1, &record.head, size, 1)); /* another's stack */
	assert_null(journal_stack_restore(stack, 0, &record.head, 4, 0));
	record.head.size = RECORD_MAX_BYTES + 8;
	assert_null(journal_stack_restore(stack, 0, &record.head, UINT32_MAX, 0));
	record.head.size = 0;
	assert_null(journal_stack_restore(stack, 0, &record.head, size, 0));
	journal_stack_free(stack);
}

/* --- through the file: a collector, and one that goes on after it --- */

struct run {
	struct run_options options;
	struct collector *collector;
	char *folder;
};

static void run_init(struct run *run, char *folder)
{
	memset(run, 0, sizeof(*run));
	run->options = (struct run_options){.program = "/p/a.py", .entrypoint_dir = "/p"};
	run->collector = collector_new(&run->options);
	run->folder = folder;
	journal_init(&run->collector->journal, folder);
}

static void take(struct run *run, const struct record *record, uint64_t position)
{
	struct process *process = run->collector->processes.items[0];
	journal_record(run->collector, process, record, position);
	processes_take_again(run->collector, process, record, position, false);
}

static void take_code(struct run *run, uint32_t id)
{
	struct {
		struct record_code head;
		char texts[8 + 2 + 2 + 64];
	} record = {.head = {.head = {.size = sizeof(record), .type = RECORD_CODE},
			     .id = id,
			     .first_line = id,
			     .filename_size = 7,
			     .qualname_size = 1,
			     .bytecode_size = 64}};
	memcpy(record.texts, "/p/a.pyf", 8);
	take(run, &record.head.head, id);
}

static void take_alloc(struct run *run, uint64_t id, const struct record_frame *stack,
		       uint32_t depth)
{
	union any_record record = {.alloc = {.head = {.type = RECORD_ALLOC},
					     .time_ns = id,
					     .id = id,
					     .size = 100,
					     .weight = 1000 + id,
					     .thread = RING_THREADS,
					     .count = depth}};
	record.head.size = (uint32_t)(sizeof(record.alloc) + depth * sizeof(*stack));
	for (uint32_t i = 0; i < depth; i++)
		record.alloc.frames[i] = stack[depth - 1 - i];
	take(run, &record.head, id);
}

static void assert_same(const struct collector *a, const struct collector *b)
{
	assert_int_equal(a->tree.count, b->tree.count);
	assert_int_equal(a->codes.count, b->codes.count);
	assert_int_equal(a->heap.samples, b->heap.samples);
	for (uint32_t i = 0; i < a->tree.count; i++) {
		assert_memory_equal(&a->tree.nodes[i], &b->tree.nodes[i], sizeof(a->tree.nodes[i]));
		assert_memory_equal(&a->tree.memory.items[a->tree.nodes[i].memory],
				    &b->tree.memory.items[b->tree.nodes[i].memory],
				    sizeof(struct tree_memory));
	}
}

static void test_another_collector_goes_on(void **state)
{
	(void)state;
	char folder[] = "/tmp/heatline-test-XXXXXX";
	struct process_facts facts = {.pid = 1, .state = RING_ACTIVE, .python = 0x0309};
	struct record_frame stack[DEPTH_MAX];
	uint32_t depth = 0;
	struct run runs[3];
	assert_non_null(mkdtemp(folder));
	for (uint32_t i = 0; i < DEPTH_MAX; i++)
		stack[i] = (struct record_frame){1, 0};
	for (uint32_t r = 0; r < 3; r++) {
		run_init(&runs[r], folder);
		/* The first begins, the second goes on where it was, the third only reads. */
		assert_int_equal(journal_replay(runs[r].collector), r > 0);
		if (r == 0) {
			processes_add_again(runs[0].collector, "/p/none", &facts, "a.py", "/p");
			journal_process(runs[0].collector, runs[0].collector->processes.items[0]);
			for (uint32_t id = 1; id <= CODES; id++)
				take_code(&runs[0], id);
		}
		if (r > 0)
			assert_same(runs[r - 1].collector, runs[r].collector);
		for (uint32_t i = 0; r < 2 && i < 300; i++) {
			depth = next_stack(stack, depth);
			take_alloc(&runs[r], 1 + r * 300 + i, stack, depth);
		}
	}
	assert_int_equal(runs[2].collector->heap.samples, 600);
	for (uint32_t r = 0; r < 3; r++)
		collector_free(runs[r].collector);
	char *path = path_join(folder, JOURNAL_FILE);
	unlink(path);
	free(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_come_back_whole),
		cmocka_unit_test(test_what_cannot_be_is_refused),
		cmocka_unit_test(test_another_collector_goes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
