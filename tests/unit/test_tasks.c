/* test_tasks.c - tasks of a target whose memory is anything but tasks.
 *
 * What a real interpreter holds is checked by tests/integration/test_layouts.py;
 * here every read is hostile: pointers in circles, sizes without measure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/task_parts.h"

#define BASE 0x10000000ull
#define WORDS 8192u
#define ROUNDS 400u

static uint64_t memory[WORDS];

/* Words that lead somewhere, small numbers, and nonsense. */
static void fill(uint64_t *random)
{
	for (uint32_t i = 0; i < WORDS; i++) {
		*random = *random * 6364136223846793005ull + 1442695040888963407ull;
		uint64_t bits = *random >> 24;
		switch (bits % 4) {
		case 0:
		case 1:
			memory[i] = BASE + bits / 4 % WORDS * 8;
			break;
		case 2:
			memory[i] = bits / 4 % 64;
			break;
		default:
			memory[i] = *random;
		}
	}
}

static void look_at_everything(struct task_finder *finder, uint64_t *random)
{
	static struct task_view view;
	struct task_sweep sweep = { 0 };
	struct task_step step;
	py_addr tasks[32];
	uint32_t total;

	tasks_find(finder);
	finder->layout = *py_task_layout_known(finder->walker->layout->version);
	finder->task_type = BASE + 640;
	finder->python_task_type = BASE + 704;
	finder->trio = (struct trio_facts){ BASE + 768, BASE + 832, BASE + 896, BASE + 960, 3, 5,
					    48, 24, 40, 64 };
	finder->all_tasks = BASE + 1280;
	finder->current_tasks = BASE + 1920;
	for (uint32_t turn = 0; turn < 4; turn++) {
		py_addr tstate = BASE + (*random >> 30) % (WORDS / 2) * 8;
		struct task_loop loop;

		tasks_running_loop(finder, tstate, &loop);
		if (turn % 2 != 0)
			loop = (struct task_loop){ BASE + 320, true, BASE + *random % WORDS * 8 };
		uint32_t count =
			tasks_sample(finder, tstate, &loop, &sweep, random, tasks, 32, &total);

		assert_true(count <= 32);
		tasks_has_current(finder, tstate, &loop);
		tasks_read_step(finder, tstate, &loop, &step);
		for (uint32_t i = 0; i < count; i++) {
			char name[TASK_NAME_BYTES];

			if (task_read(finder, tasks[i], &loop, &view) != TASK_WAITS)
				continue;
			assert_true(view.count <= TASK_MAX_FRAMES);
			if (task_read_name(finder, &view, name))
				assert_true(strlen(name) < TASK_NAME_BYTES);
		}
	}
}

static void test_nonsense(void **state)
{
	uint64_t random = 42;
	struct mem_reader reader;

	mem_reader_init_bytes(&reader, memory, sizeof(memory), BASE);
	for (unsigned version = 0x0308; version <= 0x030c; version++) {
		struct walker walker = { .reader = &reader, .layout = py_layout_known(version) };

		for (uint32_t round = 0; round < ROUNDS; round++) {
			struct task_finder finder = { .walker = &walker, .runtime = BASE + 64 };

			fill(&random);
			look_at_everything(&finder, &random);
		}
	}
}

static uint32_t sample(struct task_finder *finder, struct task_sweep *sweep, py_addr tasks[32],
		       uint32_t *total)
{
	static const struct task_loop loop;
	static uint64_t random = 7;

	return tasks_sample(finder, BASE, &loop, sweep, &random, tasks, 32, total);
}

#define TASK_WORDS 2

/* The head, then so many nodes in order, in a circle. */
static void link_tasks(uint64_t *words, uint32_t tasks)
{
	for (uint32_t i = 0; i <= tasks; i++) {
		uint32_t next = i == tasks ? 0 : i + 1, previous = i == 0 ? tasks : i - 1;

		words[i * TASK_WORDS] = BASE + next * TASK_WORDS * 8;
		words[i * TASK_WORDS + 1] = BASE + previous * TASK_WORDS * 8;
	}
}

/* A list is counted at first, then followed to its end over several calls, each
 * task met once. */
static void test_list_is_swept(void **state)
{
	enum { TASKS = 3000 };
	struct mem_reader reader;
	struct walker walker = { .reader = &reader, .layout = py_layout_known(0x030c) };
	struct task_finder finder = { .walker = &walker, .layout = { .source = TASKS_LIST } };
	struct task_sweep sweep = { 0 };
	py_addr tasks[32];
	uint32_t total;

	link_tasks(memory, TASKS);
	mem_reader_init_bytes(&reader, memory, sizeof(memory), BASE);
	assert_int_equal(sample(&finder, &sweep, tasks, &total), 32);
	assert_int_equal(total, TASKS);
	assert_int_equal(sweep.cursor, 0);
	assert_int_equal(sample(&finder, &sweep, tasks, &total), 32);
	assert_int_equal(total, TASKS);
	assert_true(sweep.cursor != 0);
	for (uint32_t i = 0; i < 32; i++)
		assert_true(tasks[i] < BASE + 2049 * TASK_WORDS * 8);
	assert_int_equal(sample(&finder, &sweep, tasks, &total), 32);
	assert_int_equal(total, TASKS);
	assert_int_equal(sweep.cursor, 0);
	for (uint32_t i = 0; i < 32; i++)
		assert_true(tasks[i] >= BASE + 2049 * TASK_WORDS * 8);
	/* Where the next task has gone the list is begun anew; what does not hang
	 * together is not followed. */
	assert_int_equal(sample(&finder, &sweep, tasks, &total), 32);
	memory[2049 * TASK_WORDS + 1] = BASE;
	assert_int_equal(sample(&finder, &sweep, tasks, &total), 32);
	for (uint32_t i = 0; i < 32; i++)
		assert_true(tasks[i] < BASE + 2049 * TASK_WORDS * 8);
	memory[100 * TASK_WORDS + 1] = BASE;
	assert_int_equal(sample(&finder, &sweep, tasks, &total), 0);
}

/* Tasks that came are counted when no more come, not when the sweep gets to them. */
static void test_list_has_grown(void **state)
{
	static uint64_t words[7001 * TASK_WORDS];
	struct mem_reader reader;
	struct walker walker = { .reader = &reader, .layout = py_layout_known(0x030c) };
	struct task_finder finder = { .walker = &walker, .layout = { .source = TASKS_LIST } };
	struct task_sweep sweep = { 0 };
	py_addr tasks[32];
	uint32_t total;

	mem_reader_init_bytes(&reader, words, sizeof(words), BASE);
	link_tasks(words, 6000);
	sample(&finder, &sweep, tasks, &total);
	assert_int_equal(total, 6000);
	link_tasks(words, 7000);
	sample(&finder, &sweep, tasks, &total);
	assert_int_equal(total, 6000);
	/* The sweep would be at 4096 now. */
	sample(&finder, &sweep, tasks, &total);
	assert_int_equal(total, 7000);
}

/* --- a dict that grows --- */

#define DICT_AT 0u    /* words of memory */
#define KEYS_AT 16u
#define STRINGS_AT 512u
#define STRING_WORDS 16u

/* A str object number i with this text. */
static py_addr put_text(const struct py_layout *layout, uint32_t i, const char *text)
{
	unsigned char *at = (unsigned char *)&memory[STRINGS_AT + i * STRING_WORDS];
	uint64_t length = strlen(text);
	uint32_t state = (1 | 8 | 16) << layout->unicode_kind_shift; /* compact, ASCII */

	memcpy(at + layout->unicode_state, &state, sizeof(state));
	memcpy(at + layout->unicode_length, &length, sizeof(length));
	memcpy(at + layout->unicode_ascii_data, text, length);
	return BASE + (STRINGS_AT + i * STRING_WORDS) * 8;
}

/* The table of 64 places at this word, with count entries: number i is called "module i" and has
 * the value BASE + 8 * i; the one at `wanted` is called "wanted", the first was deleted. */
static void put_table(const struct py_layout *layout, uint32_t word, uint64_t count, uint64_t wanted)
{
	unsigned char *head = (unsigned char *)&memory[word];
	uint64_t *entry = &memory[word + 4 + 8];

	memory[DICT_AT + 4] = BASE + word * 8;
	memory[DICT_AT + 5] = 0;
	head[8] = head[9] = 6; /* 64 places, 64 bytes of indexes */
	head[10] = 1;          /* keys are strings */
	memory[word + 3] = count;
	for (uint32_t i = 0; i < count; i++, entry += 2) {
		char text[32];
		snprintf(text, sizeof(text), "module %u", i);
		entry[0] = i == 0 ? 0 : put_text(layout, i, i == wanted ? "wanted" : text);
		entry[1] = BASE + 8ull * i;
	}
}

static void test_new_entries_are_found(void **state)
{
	(void)state;
	struct mem_reader reader;
	struct walker walker = { .reader = &reader, .layout = py_layout_known(0x030b) };
	struct task_finder finder = { .walker = &walker };
	struct task_passed passed = { 0 };

	memset(memory, 0, sizeof(memory));
	mem_reader_init_bytes(&reader, memory, sizeof(memory), BASE);
	put_table(walker.layout, KEYS_AT, 10, 99);
	assert_int_equal(task_dict_new_text(&finder, BASE, "wanted", &passed), 0);
	assert_int_equal(passed.count, 10);
	/* what was passed is not read again */
	put_table(walker.layout, KEYS_AT, 10, 4);
	assert_int_equal(task_dict_new_text(&finder, BASE, "wanted", &passed), 0);
	put_table(walker.layout, KEYS_AT, 30, 20);
	assert_int_equal(task_dict_new_text(&finder, BASE, "wanted", &passed), BASE + 8 * 20);
	/* it is found again: its module may not have been whole */
	assert_int_equal(task_dict_new_text(&finder, BASE, "wanted", &passed), BASE + 8 * 20);
	assert_int_equal(passed.count, 10);
	/* another table has other entries */
	put_table(walker.layout, KEYS_AT + 200, 30, 4);
	assert_int_equal(task_dict_new_text(&finder, BASE, "wanted", &passed), BASE + 8 * 4);
	assert_int_equal(task_dict_text(&finder, BASE, "wanted"), BASE + 8 * 4);
}

/* What is asked again is found by one read, wherever it has gone meanwhile. */
static void test_dict_asked_again(void **state)
{
	(void)state;
	enum { AT = 8, OTHER = 4096 }; /* words: where the dict's address stands; another table */
	struct mem_reader reader;
	struct walker walker = { .reader = &reader, .layout = py_layout_known(0x030b) };
	struct task_finder finder = { .walker = &walker };
	struct task_place place = { 0 };
	py_addr at = BASE + AT * 8;

	memset(memory, 0, sizeof(memory));
	mem_reader_init_bytes(&reader, memory, sizeof(memory), BASE);
	put_table(walker.layout, KEYS_AT, 10, 99);
	memory[AT] = BASE;
	assert_int_equal(task_dict_text_again(&finder, at, "wanted", &place), 0);
	put_table(walker.layout, KEYS_AT, 10, 4);
	assert_int_equal(task_dict_text_again(&finder, at, "wanted", &place), BASE + 8 * 4);
	/* its text is not compared again, its value is new */
	put_text(walker.layout, 4, "nobody");
	memory[(place.entry - BASE) / 8 + 1] = BASE + 8 * 77;
	assert_int_equal(task_dict_text_again(&finder, at, "wanted", &place), BASE + 8 * 77);
	/* the key was deleted; another entry has it */
	memory[(place.entry - BASE) / 8] = 0;
	assert_int_equal(task_dict_text_again(&finder, at, "wanted", &place), 0);
	put_table(walker.layout, KEYS_AT, 12, 11);
	assert_int_equal(task_dict_text_again(&finder, at, "wanted", &place), BASE + 8 * 11);
	/* another table, while the old one is as it was */
	put_table(walker.layout, OTHER, 12, 3);
	assert_int_equal(task_dict_text_again(&finder, at, "wanted", &place), BASE + 8 * 3);
	/* another dict, and none */
	memory[AT] = BASE + 7 * 8;
	assert_int_equal(task_dict_text_again(&finder, at, "wanted", &place), 0);
	memory[AT] = 0;
	assert_int_equal(task_dict_text_again(&finder, at, "wanted", &place), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_list_is_swept),
		cmocka_unit_test(test_list_has_grown),
		cmocka_unit_test(test_new_entries_are_found),
		cmocka_unit_test(test_dict_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
