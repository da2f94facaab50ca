/* task_layout.c - see task_layout.h.
 *
 * The numbers hold for 64-bit Linux; tests/integration/test_layouts.py looks
 * them up again in live objects of each interpreter. */
#include "python/task_layout.h"

#include <stddef.h>
#include <string.h>

#define FUNCTION_CODE 48 /* 3.10+ */

#define NOT_PER_THREAD .thread_task = PY_ABSENT, .thread_tasks = PY_ABSENT, .task_node = PY_ABSENT

#define OBJECT_FRAMES                                                                              \
	.source = TASKS_SET, .state_awaiting = INT8_MIN, .awaited_back = 8,                       \
	.is_loop_held = true, .thread_dict = 152, .thread_loop = PY_ABSENT, NOT_PER_THREAD,        \
	.gen_frame = 16, .gen_state = PY_ABSENT, .frame_stack = 64, .task_loop = 16

#define OWN_FRAMES                                                                                 \
	.state = STATE_GENERATOR, .awaited_back = 8, .frame_stack = PY_ABSENT, .frame_depth = 64,                     \
	.frame_state = PY_ABSENT, .frame_locals = 72, .task_loop = 16

static const struct py_task_layout rows[] = {
	{
		.version = 0x0308,
		.function_code = 16,
		OBJECT_FRAMES,
		.state = STATE_STACKTOP,
		.interp_modules = 56,
		.task_coro = 112,
		.task_name = 120,
		.frame_depth = 72,
		.frame_state = PY_ABSENT,
		.frame_locals = 360,
		.code_names = 72,
		.tuple_items = 24,
	},
	{
		.version = 0x0309,
		.function_code = 16,
		OBJECT_FRAMES,
		.state = STATE_STACKTOP,
		.interp_modules = 856,
		.task_coro = 152,
		.task_name = 160,
		.frame_depth = 72,
		.frame_state = PY_ABSENT,
		.frame_locals = 360,
		.code_names = 72,
		.tuple_items = 24,
	},
	{
		.version = 0x030a,
		.function_code = FUNCTION_CODE,
		OBJECT_FRAMES,
		.state = STATE_FRAME,
		.state_first = -1,
		.state_last = -1,
		.interp_modules = 856,
		.task_coro = 160,
		.task_name = 168,
		.frame_depth = 80,
		.frame_state = 108,
		.frame_locals = 352,
		.code_names = 72,
		.tuple_items = 24,
	},
	{
		.version = 0x030b,
		.function_code = FUNCTION_CODE,
		OWN_FRAMES,
		NOT_PER_THREAD,
		.source = TASKS_SET,
		.state_first = -1,
		.state_last = -1,
		.state_awaiting = INT8_MIN,
		.is_loop_held = true,
		.interp_modules = 888,
		.thread_dict = 128,
		.thread_loop = PY_ABSENT,
		.task_coro = 136,
		.task_name = 144,
		.gen_frame = 80,
		.gen_state = 75,
		.code_names = 96,
		.tuple_items = 24,
	},
	{
		.version = 0x030c,
		.function_code = FUNCTION_CODE,
		OWN_FRAMES,
		NOT_PER_THREAD,
		.source = TASKS_SET,
		.state_first = -1,
		.state_last = -1,
		.state_awaiting = INT8_MIN,
		.interp_modules = 944,
		.thread_dict = 112,
		.thread_loop = PY_ABSENT,
		.task_coro = 136,
		.task_name = 144,
		.gen_frame = 72,
		.gen_state = 67,
		.code_names = 96,
		.tuple_items = 24,
	},
	{
		/* interp_modules is published. */
		.version = 0x030d,
		.function_code = FUNCTION_CODE,
		OWN_FRAMES,
		NOT_PER_THREAD,
		.source = TASKS_SET,
		.state_first = -2,
		.state_last = -1,
		.state_awaiting = -1,
		.thread_dict = PY_ABSENT,
		.thread_loop = 304,
		.task_coro = 120,
		.task_name = 128,
		.gen_frame = 72,
		.gen_state = 67,
		.code_names = 96,
		.tuple_items = 24,
	},
};

const struct py_task_layout *py_task_layout_known(unsigned version)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].version == version)
			return &rows[i];
	}
	return NULL;
}

/* Words of the table at the start of _PyRuntime, by version: 3.13, 3.14, 3.15.
 * 0 where the row has it. */
enum { MODULES, STACKPOINTER, LOCAL_NAMES, TUPLE_ITEM, GEN_SIZE, GEN_FRAME, GEN_STATE, PUBLISHED };

static const uint8_t places[3][PUBLISHED] = {
	{ 11, 0, 41, 51, 0, 0, 0 },
	{ 12, 37, 46, 57, 83, 85, 86 },
	{ 12, 45, 54, 69, 99, 101, 102 },
};

#define TABLE_WORDS 103u
#define VERSION_LAST 0x030fu

/* Words of the module's own table. */
enum {
	TASK_SIZE = 0,
	TASK_NAME = 1,
	TASK_CORO = 5,
	TASK_NODE = 6,
	THREAD_SIZE = 9,
	THREAD_LOOP = 10,
	THREAD_TASK = 11,
	THREAD_TASKS = 12,
};

static bool is_field(uint64_t offset, uint64_t size, uint64_t width)
{
	return size <= 1u << 20 && offset % 8 == 0 && offset <= size && size - offset >= width;
}

static bool module_makes_sense(const uint64_t *table)
{
	return table[TASK_SIZE] <= 4096 && is_field(table[TASK_NAME], table[TASK_SIZE], 8) &&
	       is_field(table[TASK_CORO], table[TASK_SIZE], 8) &&
	       is_field(table[TASK_NODE], table[TASK_SIZE], 16) &&
	       is_field(table[THREAD_LOOP], table[THREAD_SIZE], 8) &&
	       is_field(table[THREAD_TASK], table[THREAD_SIZE], 8) &&
	       is_field(table[THREAD_TASKS], table[THREAD_SIZE], 16);
}

/* 3.14 and later: what the module says of tasks. */
static bool fill_tasks(const uint64_t *table, struct py_task_layout *row)
{
	if (!module_makes_sense(table))
		return false;
	row->thread_loop = (uint32_t)table[THREAD_LOOP];
	row->thread_task = (uint32_t)table[THREAD_TASK];
	row->thread_tasks = (uint32_t)table[THREAD_TASKS];
	row->task_loop = OBJECT_HEAD;
	row->task_coro = (uint32_t)table[TASK_CORO];
	row->task_name = (uint32_t)table[TASK_NAME];
	row->task_node = (uint32_t)table[TASK_NODE];
	return true;
}

/* And what the runtime says of frames. */
static bool fill_frames(const uint64_t *words, const struct py_layout *layout,
			struct py_task_layout *row)
{
	if (words[GEN_SIZE] > 4096 ||
	    !is_field(words[GEN_FRAME], words[GEN_SIZE], layout->frame_size) ||
	    words[GEN_STATE] >= words[GEN_SIZE] || words[STACKPOINTER] % 8 != 0 ||
	    words[STACKPOINTER] + 8 > layout->frame_size)
		return false;
	bool is_old = layout->version == 0x030e;
	*row = (struct py_task_layout){
		.version = layout->version,
		.source = TASKS_LIST,
		.state = STATE_GENERATOR,
		.state_first = is_old ? -2 : 1,
		.state_last = is_old ? -1 : 3,
		.state_awaiting = is_old ? -1 : 2,
		/* 3.15 keeps an index beside what is iterated over. */
		.awaited_back = is_old ? 8 : 16,
		.thread_dict = PY_ABSENT,
		.thread_loop = PY_ABSENT,
		NOT_PER_THREAD,
		.gen_frame = (uint32_t)words[GEN_FRAME],
		.gen_state = (uint32_t)words[GEN_STATE],
		.frame_stack = PY_ABSENT,
		.frame_depth = (uint32_t)words[STACKPOINTER],
		.frame_state = PY_ABSENT,
		.frame_locals = layout->frame_size,
		.function_code = FUNCTION_CODE,
	};
	return true;
}

uint32_t py_task_layout_modules(const struct mem_reader *reader, py_addr runtime,
				const struct py_layout *layout)
{
	const struct py_task_layout *known = py_task_layout_known(layout->version);
	uint64_t word;

	if (known != NULL && layout->version < 0x030d)
		return known->interp_modules;
	if (layout->version < 0x030d || layout->version > VERSION_LAST ||
	    !reader->read(reader, runtime + 8u * places[layout->version - 0x030d][MODULES], &word,
			  sizeof(word)) ||
	    word % 8 != 0 || word > 64u << 20)
		return PY_ABSENT;
	return (uint32_t)word;
}

int py_task_layout_published(const struct mem_reader *reader, py_addr runtime,
			     const struct py_layout *layout, const uint64_t *table,
			     struct py_task_layout *made)
{
	uint64_t all[TABLE_WORDS], words[PUBLISHED];
	struct py_task_layout row;
	const struct py_task_layout *known = py_task_layout_known(layout->version);

	/* A version that was never seen may keep its states otherwise. */
	if (layout->free_threaded || layout->version < 0x030d || layout->version > VERSION_LAST ||
	    !reader->read(reader, runtime, all, sizeof(all)))
		return -1;
	for (size_t i = 0; i < PUBLISHED; i++)
		words[i] = all[places[layout->version - 0x030d][i]];
	if (known != NULL)
		row = *known;
	else if (!fill_frames(words, layout, &row) || (table != NULL && !fill_tasks(table, &row)))
		return -1;
	if (words[MODULES] % 8 != 0 || words[MODULES] > 64u << 20 || words[LOCAL_NAMES] % 8 != 0 ||
	    words[LOCAL_NAMES] > layout->code_size || words[TUPLE_ITEM] % 8 != 0 ||
	    words[TUPLE_ITEM] > 256)
		return -1;
	row.tuple_items = (uint32_t)words[TUPLE_ITEM];
	row.interp_modules = (uint32_t)words[MODULES];
	row.code_names = (uint32_t)words[LOCAL_NAMES];
	*made = row;
	return 0;
}
