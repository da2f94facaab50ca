/* dump.c - see dump.h. */
#include "collect/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "base/text.h"
#include "base/vec.h"
#include "collect/codes.h"
#include "python/code.h"
#include "remote/core.h"

#define FRAMES_MAX 60000u        /* deeper than any recursion limit that is met */
#define CODE_BYTES_MAX (4u << 20) /* one code object with its tables */
#define TRIES 5

/* Everything that is needed while a dump is made. */
struct maker {
	struct remote remote;
	struct dump *dump;
	struct codes codes;
	struct map known;      /* address of a code object to its index in codes */
	char cwd[4096];        /* of the process; "": not known */
	unsigned char *buffer; /* owned; CODE_BYTES_MAX */
	struct walk_scratch *scratch; /* owned */
	struct walk_frame *frames;    /* owned; FRAMES_MAX */
	py_addr *places;              /* owned; FRAMES_MAX */
	uint32_t *identities;         /* owned; FRAMES_MAX */
	bool has_locals;
	struct task_finder tasks;
};

/* ---- frames ---- */

/* The code object's index in codes, or 0. */
static uint32_t code_of(struct maker *maker, py_addr address)
{
	bool is_new;
	uint64_t *index = map_put(&maker->known, address, &is_new);
	struct code_info info;

	if (is_new) {
		*index = 0;
		if (code_read(&maker->remote.walker, address, maker->buffer, CODE_BYTES_MAX, &info))
			*index = codes_add(&maker->codes, &info, maker->remote.layout.version, &is_new);
	}
	return (uint32_t)*index;
}

static const char *full_name(struct maker *maker, const char *name)
{
	if (name[0] == '<' || name[0] == '/' || name[0] == '\0' || maker->cwd[0] == '\0')
		return intern_text(maker->dump->strings, name);
	char *joined = path_join(maker->cwd, name);
	char *normal = path_normalise(joined);
	const char *kept = intern_text(maker->dump->strings, normal);

	free(normal);
	free(joined);
	return kept;
}

static void add_locals(struct maker *maker, uint32_t at, struct dump_frame *frame)
{
	struct remote_local *locals = mem_zalloc(REMOTE_LOCALS_MAX, sizeof(*locals));

	frame->local_count = remote_locals_read(&maker->remote, maker->frames[at].code, maker->places[at],
						locals);
	frame->locals = mem_resize(locals, frame->local_count, sizeof(*locals));
}

/* Adds frame number `at` of those walked; false when it is none to be shown. */
static bool add_frame(struct maker *maker, struct dump_thread *thread, uint32_t at)
{
	struct dump_frame *frame = &thread->frames[thread->frame_count];
	uint32_t index;

	if (maker->identities[at] == CODE_HIDDEN)
		return false;
	index = maker->identities[at] == CODE_TORN ? 0 : code_of(maker, maker->frames[at].code);
	if (index == 0) {
		thread->stack = DUMP_TORN;
		return false;
	}
	struct code *code = &maker->codes.items[index];
	*frame = (struct dump_frame){
		.file = full_name(maker, code->filename),
		.function = intern_text(maker->dump->strings, code->qualname),
		.line = codes_line(code, maker->frames[at].offset),
	};
	if (maker->has_locals)
		add_locals(maker, at, frame);
	thread->frame_count++;
	return true;
}

static bool has_torn(const struct maker *maker, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (maker->identities[i] == CODE_TORN)
			return true;
	}
	return false;
}

/* Walks until a stack comes out whole, some times at most: a dump has time. */
static enum walk_result walk_whole(struct maker *maker, py_addr state, uint32_t *count)
{
	enum walk_result result = WALK_TORN;

	for (int i = 0; i < TRIES && result == WALK_TORN; i++) {
		result = walk_thread(&maker->remote.walker, state, maker->scratch, maker->frames, count);
		code_identities(&maker->remote.walker, maker->frames, *count, maker->identities);
		if (result != WALK_CUT && has_torn(maker, *count))
			result = WALK_TORN;
	}
	return result;
}

/* What is so of a stack whose parts are in two interpreters. */
static enum dump_stack join_stacks(enum dump_stack outer, enum dump_stack inner)
{
	if (outer == DUMP_EMPTY || inner == DUMP_TORN)
		return inner;
	return outer == DUMP_WHOLE && inner != DUMP_EMPTY ? inner : outer;
}

/* Adds the state's stack to what the thread has. */
static void read_stack(struct maker *maker, py_addr state, struct dump_thread *thread)
{
	static const enum dump_stack stacks[] = {
		[WALK_OK] = DUMP_WHOLE, [WALK_NO_PYTHON] = DUMP_EMPTY,
		[WALK_CUT] = DUMP_CUT, [WALK_TORN] = DUMP_TORN,
	};
	enum dump_stack outer = thread->stack;
	uint32_t count, left_out = 0;

	thread->stack = stacks[walk_whole(maker, state, &count)];
	uint32_t shown = count < 2 * DUMP_FRAMES_KEPT ? count : 2 * DUMP_FRAMES_KEPT;
	thread->frames = mem_resize(thread->frames, thread->frame_count + shown, sizeof(*thread->frames));
	for (uint32_t i = count; i-- > 0;) {
		if (count > shown && i >= DUMP_FRAMES_KEPT && i < count - DUMP_FRAMES_KEPT) {
			left_out++;
		} else if (add_frame(maker, thread, i)) {
			thread->frames[thread->frame_count - 1].left_out = left_out;
			thread->elided += left_out;
			left_out = 0;
		}
	}
	thread->elided += left_out;
	thread->stack = join_stacks(outer, thread->stack);
}

/* ---- tasks ---- */

/* Turns the chain of a task, innermost first, into frames. */
static void add_task(struct maker *maker, struct dump_thread *thread, struct task_view *view)
{
	struct dump_task *task = &thread->tasks[thread->task_count];

	if (!task_read_name(&maker->tasks, view, task->name))
		task->name[0] = '\0';
	task->frames = mem_zalloc(view->count, sizeof(*task->frames));
	for (uint32_t i = view->count; i-- > 0;) {
		uint32_t index = code_of(maker, view->frames[i].code);

		if (index == 0)
			continue;
		struct code *code = &maker->codes.items[index];
		task->frames[task->frame_count++] = (struct dump_frame){
			.file = full_name(maker, code->filename),
			.function = intern_text(maker->dump->strings, code->qualname),
			.line = codes_line(code, view->frames[i].offset),
		};
	}
	thread->task_count++;
}

/* The tasks of the event loop that runs in the thread, if one does. */
static void read_tasks(struct maker *maker, py_addr state, struct dump_thread *thread)
{
	py_addr found[DUMP_TASKS];
	struct task_sweep sweep = { 0 };
	struct task_view view;
	uint64_t random = 1;
	struct task_loop loop;

	if (!tasks_running_loop(&maker->tasks, state, &loop))
		return;
	uint32_t count = tasks_sample(&maker->tasks, state, &loop, &sweep, &random, found,
				      DUMP_TASKS, &thread->task_total);
	thread->tasks = mem_zalloc(count, sizeof(*thread->tasks));
	for (uint32_t i = 0; i < count; i++) {
		if (task_read(&maker->tasks, found[i], &loop, &view) == TASK_WAITS)
			add_task(maker, thread, &view);
	}
}

/* ---- threads ---- */

/* A state's place among all: those of one thread stand together, that of the oldest interpreter
 * first, which is the one that the thread was made in. */
struct state_place {
	uint32_t thread; /* index of the first state of the same thread */
	uint32_t interpreter, index;
};

static int compare_places(const void *a, const void *b)
{
	const struct state_place *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->interpreter != right->interpreter)
		return left->interpreter < right->interpreter ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

static bool has_one_thread(const struct remote_threads *threads)
{
	for (uint32_t i = 1; i < threads->items.count; i++) {
		if (threads->items.items[i].tid != threads->items.items[0].tid)
			return false;
	}
	return true;
}

/* The thread on whose C stack the address lies: the C library keeps its structure of a thread at
 * the upper end of that stack, but the main thread's, whose stack lies above all others. */
static pid_t stack_owner(const struct maker *maker, const struct remote_threads *threads, py_addr address)
{
	uint64_t nearest = UINT64_MAX;
	pid_t owner = maker->remote.pid;

	for (uint32_t i = 0; i < threads->items.count; i++) {
		const struct remote_thread *thread = &threads->items.items[i];

		if (thread->tid != maker->remote.pid && thread->pthread_id > address &&
		    thread->pthread_id < nearest) {
			nearest = thread->pthread_id;
			owner = thread->tid;
		}
	}
	return owner;
}

/* The thread that runs the state; 0: not known.  Before 3.13 another interpreter's state tells
 * which thread has made it, and whichever enters that interpreter runs it; 3.11 and 3.12 have a
 * piece of it on the C stack meanwhile. */
static pid_t thread_of(const struct maker *maker, const struct remote_threads *threads,
		       const struct remote_thread *state)
{
	const struct py_layout *layout = &maker->remote.layout;
	const struct mem_reader *reader = &maker->remote.reader;
	py_addr cframe;

	if (state->interpreter_index == 0 || layout->version >= 0x030d || has_one_thread(threads))
		return state->tid;
	if (layout->frame_kind != PY_FRAME_CFRAME ||
	    !reader->read(reader, state->state + layout->thread_frame, &cframe, sizeof(cframe)))
		return 0;
	return walk_is_first_cframe(layout, state->state, cframe) ? state->tid
								  : stack_owner(maker, threads, cframe);
}

/* The places of all states; the caller frees. */
static struct state_place *group_states(const struct maker *maker, const struct remote_threads *threads)
{
	uint32_t count = threads->items.count;
	struct state_place *places = mem_zalloc(count, sizeof(*places));
	struct map first;

	map_init(&first);
	for (uint32_t i = 0; i < count; i++) {
		const struct remote_thread *state = &threads->items.items[i];
		pid_t tid = thread_of(maker, threads, state);
		bool is_new = true;
		uint64_t *index = tid != 0 ? map_put(&first, (uint64_t)tid, &is_new) : NULL;

		if (index != NULL && is_new)
			*index = i;
		places[i] = (struct state_place){is_new ? i : (uint32_t)*index, state->interpreter_index, i};
	}
	map_fini(&first);
	if (count > 0)
		qsort(places, count, sizeof(*places), compare_places);
	return places;
}

/* The thread of these states: in each of them it has called what it runs in the next. */
static void read_thread(struct maker *maker, const struct remote_thread *items,
			const struct state_place *places, uint32_t count, struct dump_thread *thread)
{
	const struct remote_thread *first = &items[places[0].index];
	struct py_gil gil, used;

	thread->tid = first->tid;
	thread->has_crashed = first->tid != 0 && first->tid == maker->dump->core.crashed_tid;
	thread->is_main = first->tid == maker->remote.pid;
	thread->stack = DUMP_EMPTY;
	for (uint32_t i = 0; i < count; i++) {
		const struct remote_thread *from = &items[places[i].index];
		uint32_t before = thread->frame_count;

		gil_find(&maker->remote.walker, maker->remote.runtime, from->interpreter, &gil);
		gil_refresh(&maker->remote.walker, &gil);
		thread->has_gil |= gil.holder == from->state;
		if (i == 0)
			remote_activity_read(&maker->remote, from->tid, -1, &gil, &thread->activity);
		read_stack(maker, from->state, thread);
		if (i == 0 || thread->frame_count > before) {
			thread->interpreter = from->interpreter_index;
			used = gil;
		}
	}
	if (thread->interpreter != first->interpreter_index)
		remote_activity_read(&maker->remote, first->tid, -1, &used, &thread->activity);
}

static void read_collecting(struct maker *maker, py_addr interpreter)
{
	const struct py_layout *layout = &maker->remote.layout;
	py_addr at = layout->interp_gc_collecting != PY_ABSENT ? interpreter + layout->interp_gc_collecting
							       : maker->remote.runtime +
									 layout->runtime_gc_collecting;
	int32_t value = 0;

	if (layout->interp_gc_collecting != PY_ABSENT || layout->runtime_gc_collecting != PY_ABSENT)
		maker->remote.reader.read(&maker->remote.reader, at, &value, sizeof(value));
	maker->dump->is_collecting |= value == 1;
}

/* OS threads that no thread state belongs to. */
static uint32_t count_others(const struct remote_threads *threads)
{
	uint32_t others = 0;

	for (uint32_t t = 0; t < threads->tasks.count; t++) {
		bool is_python = false;

		for (uint32_t i = 0; i < threads->items.count && !is_python; i++)
			is_python = threads->items.items[i].tid == threads->tasks.items[t].tid;
		others += !is_python;
	}
	return others;
}

static void read_threads(struct maker *maker)
{
	struct remote_threads threads = { 0 };
	struct dump *dump = maker->dump;

	uint32_t state_count = remote_threads_read(&maker->remote, &threads);
	struct state_place *places = group_states(maker, &threads);
	dump->threads = mem_zalloc(state_count, sizeof(*dump->threads));
	char(*names)[REMOTE_NAME_BYTES] = mem_zalloc(state_count, REMOTE_NAME_BYTES);
	for (uint32_t i = 0, end; i < state_count; i = end) {
		for (end = i + 1; end < state_count && places[end].thread == places[i].thread;)
			end++;
		read_thread(maker, threads.items.items, &places[i], end - i,
			    &dump->threads[dump->thread_count++]);
	}
	/* Afterwards: these may take long, and the stacks are to be close together. */
	maker->tasks = (struct task_finder){ .walker = &maker->remote.walker,
					     .runtime = maker->remote.runtime };
	if (maker->remote.core != NULL) {
		maker->tasks.files = maker->remote.core->maps.paths.items;
		maker->tasks.file_count = maker->remote.core->maps.paths.count;
	}
	bool has_tasks = tasks_find(&maker->tasks);
	remote_names_read(&maker->remote, &threads, names);
	for (uint32_t i = 0, at = 0; i < state_count; i++) {
		const struct remote_thread *state = &threads.items.items[places[i].index];
		bool is_first = i == 0 || places[i].thread != places[i - 1].thread;

		at += is_first && i > 0;
		if (is_first)
			memcpy(dump->threads[at].name, names[places[i].index], REMOTE_NAME_BYTES);
		if (has_tasks && dump->threads[at].tasks == NULL)
			read_tasks(maker, state->state, &dump->threads[at]);
		read_collecting(maker, state->interpreter);
	}
	dump->other_threads = count_others(&threads);
	free(names);
	free(places);
	remote_threads_fini(&threads);
}

/* ---- the whole ---- */

static const char *read_command(struct dump *dump)
{
	char text[2048];

	return procfs_command(dump->pid, text, sizeof(text)) ? intern_text(dump->strings, text) : NULL;
}

static void maker_fini(struct maker *maker)
{
	codes_fini(&maker->codes);
	map_fini(&maker->known);
	free(maker->buffer);
	free(maker->scratch);
	free(maker->frames);
	free(maker->places);
	free(maker->identities);
	free(maker);
}

static struct maker *maker_new(struct dump *dump, bool has_locals)
{
	struct maker *maker = mem_zalloc(1, sizeof(*maker));

	maker->dump = dump;
	maker->has_locals = has_locals;
	codes_init(&maker->codes, dump->strings);
	map_init(&maker->known);
	maker->buffer = mem_alloc(CODE_BYTES_MAX);
	maker->scratch = mem_alloc(sizeof(*maker->scratch));
	maker->frames = mem_alloc(FRAMES_MAX * sizeof(*maker->frames));
	maker->places = mem_alloc(FRAMES_MAX * sizeof(*maker->places));
	maker->identities = mem_alloc(FRAMES_MAX * sizeof(*maker->identities));
	return maker;
}

/* Reads all of what was opened; ends the maker. */
static int make(struct maker *maker, struct err *err)
{
	struct dump *dump = maker->dump;
	int status = 0;

	maker->remote.walker.room = FRAMES_MAX;
	maker->remote.walker.places = maker->places;
	dump->pid = maker->remote.pid;
	dump->python = intern_text(dump->strings, maker->remote.version_text);
	read_threads(maker);
	if (dump->thread_count == 0)
		status = maker->remote.core != NULL
				 ? err_set(err, ERR_FORMAT, "%s has no thread that can be read",
					   maker->remote.label)
				 : err_set(err, ERR_TARGET, "%s has ended", maker->remote.label);
	return status;
}

/* The dump, or NULL when it was not made. */
static struct dump *finish(struct maker *maker, int status)
{
	struct dump *dump = maker->dump;

	maker_fini(maker);
	if (status == 0)
		return dump;
	dump_free(dump);
	return NULL;
}

static struct dump *dump_empty(void)
{
	struct dump *dump = mem_zalloc(1, sizeof(*dump));

	dump->strings = intern_new();
	return dump;
}

struct dump *dump_new(pid_t pid, bool has_locals, const char *command, struct err *err)
{
	struct maker *maker = maker_new(dump_empty(), has_locals);
	struct dump *dump = maker->dump;
	char root[40];
	int status = remote_open(&maker->remote, pid, command, err);

	if (status == 0) {
		dump->pid = maker->remote.pid;
		dump->command = read_command(dump);
		snprintf(root, sizeof(root), "/proc/%d/root", (int)dump->pid);
		dump->root = intern_text(dump->strings, root);
		if (!procfs_link(dump->pid, "cwd", maker->cwd, sizeof(maker->cwd)))
			maker->cwd[0] = '\0';
		status = make(maker, err);
	}
	return finish(maker, status);
}

struct dump *dump_new_core(const char *path, const char *root, bool has_locals, struct err *err)
{
	struct maker *maker;
	struct dump *dump;
	struct core core;
	int status = core_open(&core, path, root, err);

	if (status != 0)
		return NULL;
	maker = maker_new(dump_empty(), has_locals);
	dump = maker->dump;
	status = remote_open_core(&maker->remote, &core, path, err);
	if (status == 0) {
		dump->core = (struct dump_core){
			.path = intern_text(dump->strings, path),
			.signal = core.signal,
			.crashed_tid = core.signal != 0 ? core.threads.items[0].tid : 0,
			.has_address = core.has_address,
			.address = core.address,
			.sender_pid = core.sender_pid == core.pid ? 0 : core.sender_pid,
			.cut_bytes = core.cut_bytes,
		};
		dump->root = intern_text(dump->strings, root == NULL ? "" : root);
		if (core.command[0] != '\0')
			dump->command = intern_text(dump->strings, core.command);
		status = make(maker, err);
	}
	dump = finish(maker, status);
	core_close(&core);
	return dump;
}

void dump_free(struct dump *dump)
{
	if (dump == NULL)
		return;
	for (uint32_t i = 0; i < dump->thread_count; i++) {
		for (uint32_t f = 0; f < dump->threads[i].frame_count; f++)
			free(dump->threads[i].frames[f].locals);
		free(dump->threads[i].frames);
		for (uint32_t t = 0; t < dump->threads[i].task_count; t++)
			free(dump->threads[i].tasks[t].frames);
		free(dump->threads[i].tasks);
	}
	dump_sources_fini(dump);
	free(dump->threads);
	intern_free(dump->strings);
	free(dump);
}
