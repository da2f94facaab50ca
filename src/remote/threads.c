/* threads.c - see threads.h. */
#include "remote/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/procfs.h"
#include "python/bits.h"
#include "remote/core.h"

#define INTERPRETERS_MAX 256u

/* Bytes of the C library's structure in which the thread's number stands. */
#define PTHREAD_BYTES 1024u

/* ---- the kernel's list ---- */

/* The number that the process itself knows the task by. */
static pid_t inner_tid(const struct remote *remote, pid_t tid)
{
	char name[40], status[4096];
	uint64_t inner = (uint64_t)tid;

	if (!remote->has_namespace)
		return tid;
	snprintf(name, sizeof(name), "task/%d/status", (int)tid);
	if (procfs_read(remote->pid, name, status, sizeof(status)) > 0)
		procfs_number(status, "NSpid", -1, 10, &inner);
	return (pid_t)inner;
}

static void read_core_tasks(const struct core *core, struct remote_threads *threads)
{
	for (uint32_t i = 0; i < core->threads.count && i < REMOTE_THREADS_MAX; i++) {
		pid_t tid = core->threads.items[i].tid;

		vec_push(&threads->tasks, ((struct remote_task){ tid, tid }));
	}
}

static void read_tasks(const struct remote *remote, struct remote_threads *threads)
{
	void *dir = NULL;
	pid_t tid;

	threads->tasks.count = 0;
	if (remote->core != NULL) {
		read_core_tasks(remote->core, threads);
		return;
	}
	while ((tid = procfs_next_task(remote->pid, &dir)) > 0) {
		if (threads->tasks.count < REMOTE_THREADS_MAX)
			vec_push(&threads->tasks,
				 ((struct remote_task){ tid, inner_tid(remote, tid) }));
	}
}

static const struct remote_task *find_task(const struct remote_threads *threads, uint64_t inner)
{
	for (uint32_t i = 0; i < threads->tasks.count; i++) {
		if ((uint64_t)threads->tasks.items[i].inner == inner)
			return &threads->tasks.items[i];
	}
	return NULL;
}

/* ---- Python's list ---- */

/* Reads the fields of one thread state; false when it is none. */
static bool read_state(const struct remote *remote, py_addr state, struct remote_thread *thread,
		       py_addr *next)
{
	const struct py_layout *layout = &remote->layout;
	size_t count = layout->thread_native_id != PY_ABSENT ? 3 : 2;
	struct iovec dst[3] = { { next, 8 }, { &thread->pthread_id, 8 }, { &thread->native_id, 8 } };
	struct iovec src[3] = {
		{ (void *)(uintptr_t)(state + layout->thread_next), 8 },
		{ (void *)(uintptr_t)(state + layout->thread_id), 8 },
		{ (void *)(uintptr_t)(state + layout->thread_native_id), 8 },
	};

	thread->state = state;
	thread->native_id = 0;
	return is_pointer(state) && remote->reader.read_many(&remote->reader, dst, src, count) == count;
}

static void read_states(const struct remote *remote, struct remote_threads *threads,
			py_addr interpreter, uint32_t index)
{
	const struct mem_reader *reader = &remote->reader;
	py_addr state, next;
	uint32_t left = REMOTE_THREADS_MAX;

	if (!reader->read(reader, interpreter + remote->layout.interp_threads_head, &state,
			  sizeof(state)))
		return;
	while (state != 0 && left-- > 0 && threads->items.count < REMOTE_THREADS_MAX) {
		struct remote_thread thread = { .interpreter = interpreter,
						.interpreter_index = index };

		if (!read_state(remote, state, &thread, &next) || next == state)
			return;
		vec_push(&threads->items, thread);
		state = next;
	}
}

static void read_interpreters(const struct remote *remote, struct remote_threads *threads)
{
	const struct mem_reader *reader = &remote->reader;
	py_addr list[INTERPRETERS_MAX], interpreter;
	uint32_t count = 0;

	if (!reader->read(reader, remote->runtime + remote->layout.runtime_interpreters_head,
			  &interpreter, sizeof(interpreter)))
		return;
	while (is_pointer(interpreter) && count < INTERPRETERS_MAX) {
		list[count++] = interpreter;
		if (!reader->read(reader, interpreter + remote->layout.interp_next, &interpreter,
				  sizeof(interpreter)))
			break;
	}
	/* The newest stands first in the list. */
	for (uint32_t i = 0; i < count; i++)
		read_states(remote, threads, list[count - 1 - i], i);
}

/* ---- joining ---- */

/* Whether each thread has a number of this process at this place of its
 * structure. */
static bool is_number_place(const struct remote_threads *threads, unsigned char (*heads)[PTHREAD_BYTES],
			    uint32_t place)
{
	for (uint32_t i = 0; i < threads->items.count; i++) {
		if (find_task(threads, load_u32(heads[i] + place)) == NULL)
			return false;
	}
	return true;
}

/* 3.8 to 3.10: the kernel's numbers out of the C library's structures. */
static void find_numbers(const struct remote *remote, struct remote_threads *threads)
{
	/* glibc on both architectures, musl; then anywhere. */
	static const uint32_t likely[] = { 720, 208, 48 };
	uint32_t count = threads->items.count;
	unsigned char(*heads)[PTHREAD_BYTES] = mem_zalloc(count, PTHREAD_BYTES);
	uint32_t place = PTHREAD_BYTES;

	for (uint32_t i = 0; i < count; i++) {
		py_addr addr = threads->items.items[i].pthread_id;

		/* The main thread's structure may stand at the end of its page. */
		for (uint32_t at = 0; is_pointer(addr) && at < PTHREAD_BYTES; at += 256) {
			if (!remote->reader.read(&remote->reader, addr + at, heads[i] + at, 256))
				break;
		}
	}
	for (size_t i = 0; i < 3 && place == PTHREAD_BYTES; i++) {
		if (is_number_place(threads, heads, likely[i]))
			place = likely[i];
	}
	for (uint32_t at = 0; at < PTHREAD_BYTES && place == PTHREAD_BYTES; at += 4) {
		if (is_number_place(threads, heads, at))
			place = at;
	}
	for (uint32_t i = 0; place < PTHREAD_BYTES && i < count; i++)
		threads->items.items[i].native_id = load_u32(heads[i] + place);
	free(heads);
}

/* A core written from outside of a container has our numbers, the process its
 * own; the registers join the two. */
static void join_by_registers(const struct core *core, struct remote_thread *thread)
{
	for (uint32_t i = 0; i < core->threads.count; i++) {
		if (core->threads.items[i].pthread_id != 0 &&
		    core->threads.items[i].pthread_id == thread->pthread_id)
			thread->native_id = (uint64_t)core->threads.items[i].tid;
	}
}

/* The main thread first; the lists have the newest first. */
static void sort_threads(const struct remote *remote, struct remote_threads *threads)
{
	struct remote_thread *items = threads->items.items;
	uint32_t count = threads->items.count;

	for (uint32_t i = 0; i < count / 2; i++) {
		struct remote_thread other = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = other;
	}
	for (uint32_t i = 1; i < count; i++) {
		if (items[i].tid == remote->pid && items[0].tid != remote->pid) {
			struct remote_thread main = items[i];

			memmove(items + 1, items, i * sizeof(*items));
			items[0] = main;
		}
	}
}

uint32_t remote_threads_read(const struct remote *remote, struct remote_threads *threads)
{
	threads->items.count = 0;
	read_interpreters(remote, threads);
	read_tasks(remote, threads);
	if (remote->layout.thread_native_id == PY_ABSENT && threads->items.count > 0)
		find_numbers(remote, threads);
	for (uint32_t i = 0; i < threads->items.count; i++) {
		struct remote_thread *thread = &threads->items.items[i];

		if (remote->core != NULL)
			join_by_registers(remote->core, thread);
		const struct remote_task *task = find_task(threads, thread->native_id);
		thread->tid = task == NULL ? 0 : task->tid;
	}
	sort_threads(remote, threads);
	return threads->items.count;
}

void remote_threads_fini(struct remote_threads *threads)
{
	vec_free(&threads->items);
	vec_free(&threads->tasks);
}
