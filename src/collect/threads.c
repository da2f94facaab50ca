/* threads.c - the threads of a process: their beginning and end, their names.
 *
 * A name is, in this order: what Python's threading module calls the thread
 * (read from outside, src/python/thread_name.h), what the system calls it (if that
 * is not just the program's name, which every thread inherits), "Thread-N".
 *
 * A server that starts a thread for each request makes millions.  Of a process's
 * threads that have ended the busiest are kept; the others become one, "N other
 * threads", and their rows of the timeline one row. */
#include "collect/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "collect/collector.h"
#include "collect/process.h"
#include "collect/samples.h"
#include "collect/waited.h"
#include "collect/watch.h"
#include "python/process_name.h"
#include "python/thread_name.h"

/* So many that have ended are kept; at twice as many the lightest are joined. */
#define ENDED_KEPT 128u
#define NAME_BYTES 256u
#define NAME_TRIES 8u

py_addr threads_find_state(const struct process *process, struct thread *thread)
{
	const struct ring_thread *slot = &process->ring->threads[thread->slot];
	if (!process->has_layout)
		return 0;
	thread->state = walk_find_thread_again(&process->walker, process->ring->runtime,
					       thread->state, atomic_load(&slot->pthread_id),
					       (uint64_t)thread->inner_tid);
	return thread->state;
}

/* --- names --- */

const char *threads_read_comm(struct collector *collector, pid_t pid, int32_t tid)
{
	char name[40], text[64];
	snprintf(name, sizeof(name), "task/%d/comm", (int)tid);
	ssize_t size = procfs_read(pid, name, text, sizeof(text));
	if (size > 0 && text[size - 1] == '\n')
		size--;
	return size <= 0 ? NULL : intern_bytes(collector->strings, text, (size_t)size);
}

static bool read_name_of(struct collector *collector, const struct process *process, py_addr state,
			 char name[NAME_BYTES])
{
	struct walker walker = process->walker;
	py_addr places[WALK_MAX_FRAMES];
	uint32_t count = 0;
	walker.places = places;
	return state != 0 &&
	       walk_thread(&walker, state, collector->walk_scratch, collector->walk_frames, &count) == WALK_OK &&
	       thread_name_read(&walker, places[count - 1], collector->walk_frames[count - 1].code, name,
				NAME_BYTES);
}

/* While the thread runs another interpreter's code its own beginning is in the older one's state. */
static void read_python_name(struct collector *collector, struct process *process,
			     struct thread *thread)
{
	const struct ring_thread *slot = &process->ring->threads[thread->slot];
	char name[NAME_BYTES];
	py_addr state = threads_find_state(process, thread);
	bool is_read = read_name_of(collector, process, state, name);
	if (!is_read && state != 0) {
		py_addr oldest = walk_find_oldest(&process->walker, process->ring->runtime,
						  atomic_load(&slot->pthread_id),
						  (uint64_t)thread->inner_tid);
		is_read = oldest != state && read_name_of(collector, process, oldest, name);
	}
	if (is_read)
		thread->python_name = intern_text(collector->strings, name);
}

/* A thread that was just begun has no frame yet, and one that runs may not be
 * readable at this moment.  Some are named when they already run.  So it is
 * asked at its first looks until there is an answer, then each time after twice
 * as many. */
static bool is_name_due(const struct thread *thread, const char *name)
{
	return (name == NULL && thread->looks <= NAME_TRIES) ||
	       (thread->looks & (thread->looks - 1)) == 0;
}

/* What multiprocessing calls the process; a forked one has its parent's name at
 * first. */
static void learn_process_name(struct collector *collector, struct process *process)
{
	char text[TASK_NAME_BYTES];
	if (process_name_read(&process->tasks, text))
		process->name = intern_text(collector->strings, text);
}

void threads_learn_name(struct collector *collector, struct process *process,
			struct thread *thread)
{
	thread->looks++;
	if (!process->has_layout)
		return;
	if (thread->is_main && process->index > 0 && is_name_due(thread, process->name))
		learn_process_name(collector, process);
	if (thread->is_main || !is_name_due(thread, thread->python_name))
		return;
	const char *name = threads_read_comm(collector, process->pid, thread->tid);
	if (name != NULL)
		thread->system_name = name;
	read_python_name(collector, process, thread);
}

const char *threads_name(struct collector *collector, const struct process *process,
			 const struct thread *thread)
{
	char text[64];
	if (thread->is_main)
		return intern_text(collector->strings, "MainThread");
	if (thread->python_name != NULL)
		return thread->python_name;
	if (thread->joined != 0)
		snprintf(text, sizeof(text), "%u other threads", thread->joined);
	else if (thread->system_name != NULL && thread->system_name != process->system_name)
		return thread->system_name;
	else
		snprintf(text, sizeof(text), "Thread-%u", thread->number);
	return intern_text(collector->strings, text);
}

/* --- joining those that have ended --- */

static uint64_t weight_of(const struct thread *thread)
{
	return thread->cpu_ns + thread->off_ns / 1000;
}

static int compare_weights(const void *a, const void *b)
{
	uint64_t left = weight_of(*(struct thread *const *)a);
	uint64_t right = weight_of(*(struct thread *const *)b);
	return (left < right) - (left > right);
}

static struct thread *joined_thread(struct process *process)
{
	for (uint32_t i = 1; i < process->threads.count; i++) {
		if (process->threads.items[i]->joined != 0)
			return process->threads.items[i];
	}
	struct thread *made = mem_zalloc(1, sizeof(*made));
	made->is_ended = true;
	made->row = TIMELINE_NO_ROW;
	made->schedstat_fd = made->syscall_fd = -1;
	vec_push(&process->threads, made);
	return made;
}

static void join(struct thread *whole, struct thread *part, uint32_t *moved_rows)
{
	whole->joined++;
	whole->cpu_ns += part->cpu_ns;
	whole->off_ns += part->off_ns;
	whole->gil_ns += part->gil_ns;
	whole->gc_ns += part->gc_ns;
	whole->samples += part->samples;
	if (part->row != TIMELINE_NO_ROW && whole->row == TIMELINE_NO_ROW)
		whole->row = part->row;
	else if (part->row != TIMELINE_NO_ROW)
		moved_rows[part->row] = whole->row;
	part->is_gone = true;
}

static void drop_gone(struct process *process)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < process->threads.count; i++) {
		struct thread *thread = process->threads.items[i];
		if (!thread->is_gone) {
			process->threads.items[kept++] = thread;
			continue;
		}
		loop_tasks_free(thread->loop);
		free(thread);
	}
	process->threads.count = kept;
}

static void join_ended(struct collector *collector, struct process *process)
{
	VEC(struct thread *) ended = VEC_EMPTY;
	for (uint32_t i = 1; i < process->threads.count; i++) {
		struct thread *thread = process->threads.items[i];
		if (thread->is_ended && thread->joined == 0)
			vec_push(&ended, thread);
	}
	if (ended.count > 2 * ENDED_KEPT) {
		struct thread *whole = joined_thread(process);
		uint32_t *moved_rows = timeline_begin_join(&collector->timeline);
		qsort(ended.items, ended.count, sizeof(*ended.items), compare_weights);
		for (uint32_t i = ENDED_KEPT; i < ended.count; i++)
			join(whole, ended.items[i], moved_rows);
		waited_move_rows(process, moved_rows, collector->timeline.rows.count);
		timeline_end_join(&collector->timeline, moved_rows);
		drop_gone(process);
	}
	vec_free(&ended);
}

/* --- beginning and end --- */

struct thread *threads_at(const struct process *process, uint32_t slot)
{
	return slot < process->slots.count ? process->slots.items[slot] : NULL;
}

/* Our number for a thread. */
static pid_t outer_tid(const struct process *process, pid_t inner)
{
	char name[40], status[2048];
	uint64_t called;
	void *dir = NULL;
	pid_t tid, found = 0;
	while (process->has_namespace && (tid = procfs_next_task(process->pid, &dir)) > 0) {
		snprintf(name, sizeof(name), "task/%d/status", (int)tid);
		if (found == 0 && procfs_read(process->pid, name, status, sizeof(status)) > 0 &&
		    procfs_number(status, "NSpid", -1, 10, &called) && called == (uint64_t)inner)
			found = tid;
	}
	return found != 0 ? found : inner;
}

static void add_thread(struct process *process, const struct record_thread *record)
{
	struct thread *thread = mem_zalloc(1, sizeof(*thread));
	thread->slot = record->thread;
	thread->inner_tid = record->tid;
	thread->tid = outer_tid(process, record->tid);
	thread->is_main = process->threads.count == 0;
	thread->counts_waiting = thread->is_main && !process->only_serves;
	thread->number = process->thread_numbers++;
	thread->schedstat_fd = thread->syscall_fd = -1;
	thread->row = TIMELINE_NO_ROW;
	thread->start_ns = thread->look_ns = thread->astir_ns = record->time_ns;
	thread->look_cpu_ns = record->before_cpu_ns;
	thread->look_delay_ns = record->before_delay_ns;
	thread->before_ns = record->before_cpu_ns + record->before_delay_ns;
	thread->begin_cpu_ns = record->before_cpu_ns > record->cpu_ns ? record->before_cpu_ns
								      : record->cpu_ns;
	thread->begin_delay_ns = record->before_delay_ns;
	vec_push(&process->threads, thread);
	while (process->slots.count <= record->thread)
		vec_push(&process->slots, NULL);
	process->slots.items[record->thread] = thread;
}

void threads_on_exit(struct process *process, const struct record_exit *record)
{
	if (process->threads.count == 0)
		return;
	process->threads.items[0]->end_cpu_ns = record->cpu_ns;
	process->threads.items[0]->end_delay_ns = record->delay_ns;
}

void threads_on_record(struct collector *collector, struct process *process,
		       const struct record_thread *record)
{
	if (record->thread >= RING_THREADS)
		return;
	processes_note_astir(collector);
	struct thread *thread = threads_at(process, record->thread);
	if (thread != NULL) {
		size_t size = strnlen(record->name, sizeof(record->name));
		bool is_end = record->head.type == RECORD_THREAD_END;
		if (is_end && size > 0)
			thread->system_name = intern_bytes(collector->strings, record->name, size);
		if (is_end) {
			samples_book_rest(collector, thread, record->time_ns, record->rest_ns);
			thread->end_cpu_ns = record->cpu_ns;
			thread->end_delay_ns = record->delay_ns;
		}
		/* The end of a thread can be lost when the ring is full. */
		watch_end(collector, process, thread, record->time_ns);
		process->slots.items[record->thread] = NULL;
		join_ended(collector, process);
	}
	if (record->head.type == RECORD_THREAD)
		add_thread(process, record);
}
