/* tasks.c - see tasks.h.
 *
 * A look that cannot be made whole (the loop runs meanwhile) is left out; the
 * next one stands for its time too. */
#include "collect/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/chosen.h"
#include "collect/collector.h"
#include "collect/pace.h"
#include "collect/stacks.h"
#include "profile/book.h"

#define FLAGS_ASYNC (0x80u | 0x200u) /* of co_flags: coroutine, asynchronous generator */
#define PLACES_MAX 20000u
#define READ_PART 500u /* reading tasks takes at most this part (1/n) of the time, */
#define READ_BUSY_PART 1000u /* or this, while no waiting is to be shared by those that wait, */
#define READ_PAUSE_MAX_NS 250000000u /* but for a look that counts many new ones */
#define SEARCH_MAX 2048u /* tasks read for one at a line in scope, where those of a look have none, */
#define SEARCH_LOOK 512u /* and of these at one look; later as many as looks read that need none */

/* What tells places apart; strings are interned. */
struct await_key {
	const char *file, *function;
	uint64_t line;
};

void awaits_init(struct awaits *awaits)
{
	memset(awaits, 0, sizeof(*awaits));
	map_bytes_init(&awaits->known);
}

void awaits_fini(struct awaits *awaits)
{
	vec_free(&awaits->places);
	vec_free(&awaits->blocking);
	map_bytes_fini(&awaits->known);
}

void loop_tasks_free(struct loop_tasks *loop)
{
	if (loop == NULL)
		return;
	vec_free(&loop->frames);
	vec_free(&loop->base);
	free(loop);
}

/* --- places --- */

/* The place plus one; 0 when there are too many. */
static uint32_t place_of(struct awaits *awaits, const char *file, const char *function,
			 uint32_t line)
{
	struct await_key key = {file, function, line};
	bool is_new;
	if (awaits->places.count >= PLACES_MAX) {
		uint32_t *known = map_bytes_get(&awaits->known, &key, sizeof(key));
		return known == NULL ? 0 : *known;
	}
	uint32_t *place = map_bytes_put(&awaits->known, &key, sizeof(key), &is_new);
	if (is_new) {
		vec_push(&awaits->places,
			 ((struct await_place){.file = file, .function = function, .line = line}));
		*place = awaits->places.count;
	}
	return *place;
}

static void note_name(struct collector *collector, struct process *process, uint32_t index,
		      const struct task_view *view)
{
	struct await_place *place = &collector->awaits.places.items[index - 1];
	char name[TASK_NAME_BYTES];
	if (place->name_count == AWAIT_NAMES || !task_read_name(&process->tasks, view, name))
		return;
	for (uint32_t i = 0; i < place->name_count; i++) {
		if (strcmp(place->names[i], name) == 0)
			return;
	}
	place->names[place->name_count++] = intern_text(collector->strings, name);
}

/* --- looking --- */

/* A task that waits: its frames stand in collector->tree_frames, and are kept. */
static struct waiting_task keep_frames(struct collector *collector, struct loop_tasks *loop,
				       uint32_t count)
{
	struct waiting_task task = {.first = loop->frames.count, .count = count};
	for (uint32_t i = 0; i < count; i++)
		vec_push(&loop->frames, collector->tree_frames[i]);
	return task;
}

/* Adds a task that waits: those at a line in scope come first. */
static void add_task(struct collector *collector, struct process *process,
		     struct loop_tasks *loop, uint32_t count, const struct task_view *view)
{
	struct waiting_task *task = &loop->tasks[loop->count++];
	uint32_t at = stacks_line_frame(collector, count);
	struct tree_frame line = collector->tree_frames[at];
	struct code *code = &collector->codes.items[line.code];
	*task = keep_frames(collector, loop, count);
	if (!code->in_scope)
		return;
	struct waiting_task *first = &loop->tasks[loop->own++];
	struct waiting_task moved = *first;
	*first = *task;
	*task = moved;
	task = first;
	task->line_place = place_of(&collector->awaits, code->filename, NULL,
				    codes_line(code, line.offset));
	const struct code *function = stacks_function_code(collector, at, count);
	task->function_place = place_of(&collector->awaits, function->filename, function->qualname,
					function->first_line);
	if (task->line_place != 0)
		note_name(collector, process, task->line_place, view);
}

/* Reads one task, its frames into collector->tree_frames. */
static enum task_result read_task(struct collector *collector, struct process *process,
				  const struct task_loop *event_loop, py_addr address,
				  struct task_view *view, uint32_t *kept)
{
	enum task_result result = task_read(&process->tasks, address, event_loop, view);
	if (result != TASK_WAITS)
		return result;
	memcpy(collector->walk_frames, view->frames, view->count * sizeof(view->frames[0]));
	bool is_whole = stacks_from_walk(collector, process, view->count, kept) && *kept > 0;
	return is_whole ? TASK_WAITS : TASK_TORN;
}

/* Notes the task as the known one if it waits at a line in scope. */
static bool try_known(struct collector *collector, struct process *process,
		      struct loop_tasks *loop, const struct task_loop *event_loop, py_addr address)
{
	struct task_view view;
	uint32_t kept;
	if (read_task(collector, process, event_loop, address, &view, &kept) != TASK_WAITS)
		return false;
	struct tree_frame line = collector->tree_frames[stacks_line_frame(collector, kept)];
	if (!collector->codes.items[line.code].in_scope)
		return false;
	loop->tasks[loop->count] = keep_frames(collector, loop, kept);
	loop->own_task = address;
	return loop->has_known = true;
}

/* Of very many tasks few are read: where these are all a library's, the one that was last
 * seen at a line in scope is asked whether it waits at one still; else some more are read. */
static void find_known(struct collector *collector, struct process *process,
		       struct loop_tasks *loop, py_addr tstate, const struct task_loop *event_loop)
{
	py_addr found[TASKS_PER_LOOK];
	uint32_t total, count = 1;
	if (loop->own_task != 0 &&
	    try_known(collector, process, loop, event_loop, loop->own_task))
		return;
	for (uint32_t read = 0; read < SEARCH_LOOK && loop->search_left > 0 && count > 0;) {
		count = tasks_sample(&process->tasks, tstate, event_loop, &loop->sweep,
				     &collector->random, found, TASKS_PER_LOOK, &total);
		read += count;
		loop->search_left -= count < loop->search_left ? count : loop->search_left;
		for (uint32_t i = 0; i < count; i++) {
			if (try_known(collector, process, loop, event_loop, found[i]))
				return;
		}
	}
}

/* Reads some of the tasks; false when none could be read. */
static bool read_tasks(struct collector *collector, struct process *process,
		       struct loop_tasks *loop, py_addr tstate,
		       const struct task_loop *event_loop)
{
	py_addr found[TASKS_PER_LOOK];
	uint32_t total, torn = 0;
	uint32_t count = tasks_sample(&process->tasks, tstate, event_loop, &loop->sweep,
				      &collector->random, found, TASKS_PER_LOOK, &total);
	struct task_view view;
	loop->count = loop->own = loop->frames.count = 0;
	loop->has_nodes = loop->has_known = false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t kept, own = loop->own;
		enum task_result result =
			read_task(collector, process, event_loop, found[i], &view, &kept);
		if (result == TASK_WAITS)
			add_task(collector, process, loop, kept, &view);
		if (loop->own > own)
			loop->own_task = found[i];
		torn += result == TASK_TORN;
	}
	if (count == torn)
		return false;
	if (loop->own == 0 && loop->count > 0 && total > count)
		find_known(collector, process, loop, tstate, event_loop);
	else if (loop->search_left < SEARCH_MAX)
		loop->search_left += TASKS_PER_LOOK;
	/* Where all were looked at, one that could not be read is one that runs: the others do
	 * not wait for it too. */
	loop->weight = total > count ? (double)total / (double)(count - torn) : 1;
	loop->is_complete = total <= count && torn == 0;
	return true;
}

static void count_place(struct awaits *awaits, uint32_t index, double weight)
{
	if (index != 0)
		awaits->places.items[index - 1].now += weight;
}

static void settle_place(struct awaits *awaits, uint32_t index, double ns)
{
	if (index == 0 || awaits->places.items[index - 1].now == 0)
		return;
	struct await_place *place = &awaits->places.items[index - 1];
	place->await_ns += place->now * ns;
	place->active_ns += ns;
	if (place->now > place->peak)
		place->peak = place->now;
	place->now = 0;
}

/* Books ns of waiting for each of the tasks. */
static void book_awaits(struct collector *collector, const struct loop_tasks *loop, double ns)
{
	struct awaits *awaits = &collector->awaits;
	for (uint32_t i = 0; i < loop->count; i++) {
		count_place(awaits, loop->tasks[i].line_place, loop->weight);
		count_place(awaits, loop->tasks[i].function_place, loop->weight);
	}
	for (uint32_t i = 0; i < loop->count; i++) {
		settle_place(awaits, loop->tasks[i].line_place, ns);
		settle_place(awaits, loop->tasks[i].function_place, ns);
	}
	awaits->total_ns += loop->weight * loop->count * ns;
	awaits->looks += loop->count > 0;
}

/* Looks whether the process has asyncio or trio, and says when to look again.  Where much is
 * imported each look passes all of it, which is then asked for its cost. */
static void find_tasks(struct process *process, uint64_t now_ns)
{
	struct task_finder *finder = &process->tasks;
	uint64_t modules = finder->modules, cost_ns = 0, cpu_ns = clock_process_cpu_ns();
	process->has_tasks = tasks_find(finder);
	process->is_searched = true;
	if (finder->modules != modules)
		cost_ns = clock_process_cpu_ns() - cpu_ns;
	if (finder->modules != modules || process->modules_ns == 0)
		process->modules_ns = now_ns;
	process->tasks_next_ns = now_ns + pace_find_ns(cost_ns, now_ns - process->modules_ns);
}

bool tasks_are_wanted(struct collector *collector, struct process *process, uint64_t now_ns,
		      bool has_run)
{
	if (!collector->options->has_async)
		return false;
	process->is_searched &= !has_run;
	if (!process->is_searched && now_ns >= process->tasks_next_ns)
		find_tasks(process, now_ns);
	return process->has_tasks;
}

/* So long a pause that what was done for cost_ns takes one part in `part` of the time. */
static uint64_t pause_after(uint64_t cost_ns, uint32_t part)
{
	return cost_ns < READ_PAUSE_MAX_NS / part ? cost_ns * part : READ_PAUSE_MAX_NS;
}

static void book_until(struct collector *collector, struct loop_tasks *loop, uint64_t now_ns)
{
	if (loop->look_ns != 0 && now_ns > loop->look_ns)
		book_awaits(collector, loop, (double)(now_ns - loop->look_ns));
	loop->look_ns = now_ns;
}

/* Its tasks were read as they are now, for as long as its thread does not run. */
static bool is_settled(const struct loop_tasks *loop)
{
	return loop->is_idle && loop->is_complete && !loop->is_behind;
}

bool tasks_go_on(struct collector *collector, struct thread *thread, uint64_t now_ns)
{
	struct loop_tasks *loop = thread->loop;
	if (thread->has_no_loop)
		return true;
	if (loop == NULL || loop->look_ns == 0 || loop->step.seen_ns != 0 || !is_settled(loop))
		return false;
	book_until(collector, loop, now_ns);
	return true;
}

void tasks_look(struct collector *collector, struct process *process, struct thread *thread,
		py_addr tstate, uint64_t now_ns, bool has_run, bool is_busy)
{
	struct loop_tasks *loop = thread->loop;
	struct task_loop event_loop;
	thread->has_no_loop = false;
	if (tstate == 0 || !tasks_running_loop(&process->tasks, tstate, &event_loop)) {
		thread->has_no_loop = tstate != 0 && !has_run;
		if (loop != NULL) {
			blocking_end(collector, thread, now_ns);
			loop->count = loop->look_ns = loop->is_idle = 0;
		}
		return;
	}
	if (loop == NULL) {
		loop = thread->loop = mem_zalloc(1, sizeof(*loop));
		loop->ready_ns = thread->look_delay_ns;
	}
	if (event_loop.object != loop->object) {
		loop->sweep = (struct task_sweep){0};
		loop->idle_node = 0;
		loop->own_task = 0;
		loop->search_left = SEARCH_MAX;
	}
	loop->object = event_loop.object;
	blocking_look(collector, process, thread, tstate, &event_loop, now_ns, has_run);
	if (has_run) {
		loop->is_idle = false;
		loop->is_behind = true;
	}
	/* What no thread has touched is as it was. */
	if (!is_settled(loop) && now_ns >= (is_busy ? loop->next_busy_ns : loop->next_ns)) {
		uint64_t cpu_ns = clock_process_cpu_ns();
		bool had_none = loop->count == 0;
		bool is_read = read_tasks(collector, process, loop, tstate, &event_loop);
		uint64_t cost_ns = clock_process_cpu_ns() - cpu_ns;
		loop->next_ns = now_ns + pause_after(cost_ns, READ_PART);
		loop->next_busy_ns = now_ns + pause_after(cost_ns, READ_BUSY_PART);
		if (!is_read) {
			loop->count = loop->is_idle = 0;
			thread->is_waiting = false; /* whose wait it is must be asked anew */
			return;
		}
		loop->is_behind = false;
		/* Read before they had begun; the wait that was met then went to the loop's stack. */
		if (had_none && loop->count > 0)
			thread->is_waiting = false;
		if (loop->is_idle)
			idle_set_nodes(collector, loop);
	}
	if (loop->look_ns == 0)
		thread->is_waiting = false; /* it waited before its loop was known */
	book_until(collector, loop, now_ns);
}

/* --- the profile --- */

static struct async_figures figures_of(const struct await_place *place, struct profile *profile)
{
	struct async_figures figures = {
		.await_s = place->await_ns * 1e-9,
		.concurrency_mean = place->active_ns > 0 ? place->await_ns / place->active_ns : 0,
		.concurrency_peak = place->peak,
		.name_count = place->name_count,
	};
	if (place->name_count > 0) {
		figures.names = mem_zalloc(place->name_count, sizeof(*figures.names));
		for (uint32_t i = 0; i < place->name_count; i++)
			figures.names[i] = profile_intern(profile, place->names[i]);
	}
	return figures;
}

/* Which lines and functions are part of an async def. */
static void mark_coroutines(struct collector *collector, struct profile *profile)
{
	for (uint32_t i = 1; i < collector->tree.count; i++) {
		struct tree_frame frame = tree_frame(&collector->tree, i);
		struct code *code = &collector->codes.items[frame.code];
		if (!code->in_scope || (code->flags & FLAGS_ASYNC) == 0)
			continue;
		uint32_t file = profile_file_index(profile, code->filename, true);
		uint32_t line = codes_line(code, frame.offset);
		profile_memory_line(profile, file, line)->async.is_coroutine = true;
		/* Up to Python 3.11 a comprehension that awaits is a coroutine of its own. */
		const struct code *function =
			code->is_comprehension
				? stacks_function_code(collector, 0, stacks_of_node(collector, i))
				: code;
		profile_memory_function(profile, file, function->qualname, function->first_line)
			->async.is_coroutine = true;
	}
}

void tasks_build(struct collector *collector, struct profile *profile)
{
	const struct awaits *awaits = &collector->awaits;
	profile->has_async = awaits->looks > 0 || awaits->blocking.count > 0;
	profile->await_s = awaits->total_ns * 1e-9;
	for (uint32_t i = 0; i < awaits->places.count; i++) {
		const struct await_place *place = &awaits->places.items[i];
		if (place->await_ns <= 0 || !chosen_has_line(collector, place->file, place->line))
			continue;
		uint32_t file = profile_file_index(profile, place->file, true);
		if (place->function == NULL)
			profile_memory_line(profile, file, place->line)->async =
				figures_of(place, profile);
		else
			profile_memory_function(profile, file, place->function, place->line)->async =
				figures_of(place, profile);
	}
	mark_coroutines(collector, profile);
	blocking_build(collector, profile);
}
