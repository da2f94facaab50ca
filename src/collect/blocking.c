/* blocking.c - steps that keep an event loop from everything else.
 *
 * A step is known by the turn of the loop that runs it and its handle; seen at
 * two looks it has lasted in between, whether it computed or was blocked.  A
 * loop that is not asyncio's own shows neither: there only a step that did not
 * run at all between two looks is known to be the same.
 *
 * Time in which the thread was ready and had no CPU is the machine's and not the
 * step's.  The kernel tells it when the thread gets its CPU, so what it tells
 * at the look after the step's end may be the step's: then it is taken as such,
 * since a step that is called blocking has to be one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/build.h"
#include "collect/collector.h"
#include "profile/model.h"

#define STEP_LONG_NS 100000000u
#define PLACES_MAX 1000u

/* A step begins and ends between two looks, in the middle as far as is known; but
 * a look that comes late on a busy machine makes it no longer. */
#define BETWEEN_MAX_NS 20000000u

/* Whether the thread's line is one that the loop itself was started from: then
 * no line of the step is in scope. */
static bool is_base(struct collector *collector, const struct thread *thread)
{
	for (uint32_t i = 0; i < thread->loop->base.count; i++) {
		struct tree_frame frame = thread->loop->base.items[i];
		if (frame.code == thread->line_code &&
		    codes_line(&collector->codes.items[frame.code], frame.offset) == thread->line)
			return true;
	}
	return false;
}

/* Notes where the thread was last seen as a place of the step. */
static void note_line(struct collector *collector, const struct thread *thread)
{
	struct step_state *state = &thread->loop->step;
	if (thread->line_code == 0 || is_base(collector, thread))
		return;
	for (uint32_t i = 0; i < STEP_LINES; i++) {
		bool is_free = state->lines[i].count == 0;
		if (!is_free && (state->lines[i].code != thread->line_code ||
				 state->lines[i].line != thread->line))
			continue;
		state->lines[i].code = thread->line_code;
		state->lines[i].line = thread->line;
		state->lines[i].count++;
		return;
	}
}

static struct blocking_place *place_of(struct awaits *awaits, uint32_t code, uint32_t line)
{
	for (uint32_t i = 0; i < awaits->blocking.count; i++) {
		struct blocking_place *place = &awaits->blocking.items[i];
		if (place->code == code && place->line == line)
			return place;
	}
	if (awaits->blocking.count >= PLACES_MAX)
		return NULL;
	vec_push(&awaits->blocking, ((struct blocking_place){.code = code, .line = line}));
	return &awaits->blocking.items[awaits->blocking.count - 1];
}

/* The thread's time ready to run since the last look. */
static uint64_t take_ready_ns(const struct thread *thread)
{
	uint64_t before_ns = thread->loop->ready_ns;
	thread->loop->ready_ns = thread->look_delay_ns;
	return thread->look_delay_ns > before_ns ? thread->look_delay_ns - before_ns : 0;
}

/* The step ended between when it was last seen and now; since then the kernel has
 * told of ready_ns. */
static void end_step(struct collector *collector, const struct thread *thread, uint64_t end_ns,
		     uint64_t ready_ns)
{
	struct step_state *state = &thread->loop->step;
	uint32_t most = 0;
	uint64_t last_ns = end_ns > state->ran_ns ? end_ns - state->ran_ns : 0;
	uint64_t began_ns = state->start_ns + state->ready_ns + clock_lesser(ready_ns, last_ns);
	uint64_t took_ns = end_ns > began_ns ? end_ns - began_ns : 0;
	for (uint32_t i = 1; i < STEP_LINES; i++) {
		if (state->lines[i].count > state->lines[most].count)
			most = i;
	}
	struct blocking_place *place =
		state->seen_ns != 0 && took_ns >= STEP_LONG_NS && state->lines[most].count > 0
			? place_of(&collector->awaits, state->lines[most].code,
				   state->lines[most].line)
			: NULL;
	memset(state, 0, sizeof(*state));
	if (place == NULL)
		return;
	place->count++;
	place->total_ns += took_ns;
	if (took_ns > place->longest_ns)
		place->longest_ns = took_ns;
}

void blocking_end(struct collector *collector, struct thread *thread, uint64_t now_ns)
{
	struct step_state *state = &thread->loop->step;
	uint64_t ready_ns = take_ready_ns(thread);
	uint64_t unseen_ns = now_ns > state->seen_ns ? now_ns - state->seen_ns : 0;
	if (state->seen_ns != 0)
		end_step(collector, thread, state->seen_ns + clock_lesser(unseen_ns / 2, BETWEEN_MAX_NS), ready_ns);
}

static void go_on_step(struct collector *collector, const struct thread *thread, uint64_t now_ns,
		       uint64_t ready_ns, bool has_run)
{
	struct step_state *state = &thread->loop->step;
	state->ready_ns += ready_ns;
	if (has_run)
		state->ran_ns = state->seen_ns;
	state->seen_ns = now_ns;
	note_line(collector, thread);
}

void blocking_look(struct collector *collector, struct process *process, struct thread *thread,
		   py_addr tstate, const struct task_loop *event_loop, uint64_t now_ns,
		   bool has_run)
{
	struct loop_tasks *loop = thread->loop;
	struct step_state *state = &loop->step;
	struct task_step step = state->step;
	uint64_t ready_ns = take_ready_ns(thread);
	bool is_known = true, is_first = loop->look_ns == 0;
	if (has_run)
		is_known = tasks_read_step(&process->tasks, tstate, event_loop, &step);
	else if (is_first && !tasks_read_step(&process->tasks, tstate, event_loop, &step))
		step = state->step;
	bool is_same = state->seen_ns != 0 &&
		       (!has_run || (is_known && step.handle == state->step.handle &&
				     step.turn == state->step.turn));
	bool is_step = is_known ? step.handle != 0 || is_same : !loop->is_idle;
	if (!has_run && loop->is_idle)
		is_step = is_same = false;
	if (is_same && is_step) {
		go_on_step(collector, thread, now_ns, ready_ns, has_run);
		return;
	}
	/* The turn that is run now began after the last one had ended.  One that is
	 * blocked when its loop is first met has been so since its turn began, as far as
	 * is known. */
	uint64_t before_ns = is_first ? now_ns : loop->look_ns;
	uint64_t half_ns = clock_lesser((now_ns - before_ns) / 2, BETWEEN_MAX_NS);
	bool is_later = is_known && step.turn_ns <= now_ns &&
			step.turn_ns > (is_first && !has_run ? 0 : before_ns);
	uint64_t start_ns = is_later ? step.turn_ns : now_ns - half_ns;
	end_step(collector, thread, clock_lesser(before_ns + half_ns, start_ns), ready_ns);
	if (!is_step)
		return;
	state->step = step;
	state->start_ns = state->ran_ns = start_ns;
	state->ready_ns = clock_lesser(ready_ns, now_ns - start_ns);
	state->seen_ns = now_ns;
	note_line(collector, thread);
}

/* --- the profile --- */

static int compare_places(const void *a, const void *b)
{
	const struct blocking_place *left = a, *right = b;
	return (left->longest_ns < right->longest_ns) - (left->longest_ns > right->longest_ns);
}

/* The longest is worth a sentence of its own. */
static void warn(struct profile *profile, const struct blocking_step *step)
{
	char text[1000], longest[32];
	text_put_seconds(longest, sizeof(longest), step->longest_s);
	snprintf(text, sizeof(text), "%s:%u (%s) blocks the event loop for %s",
		 path_basename(step->file), step->line, step->function, longest);
	build_warn(profile, text);
}

void blocking_build(struct collector *collector, struct profile *profile)
{
	struct awaits *awaits = &collector->awaits;
	uint32_t count = awaits->blocking.count;
	if (count == 0)
		return;
	qsort(awaits->blocking.items, count, sizeof(awaits->blocking.items[0]), compare_places);
	count = count < ASYNC_MAX_BLOCKING ? count : ASYNC_MAX_BLOCKING;
	profile->blocking = mem_zalloc(count, sizeof(*profile->blocking));
	profile->blocking_count = count;
	for (uint32_t i = 0; i < count; i++) {
		const struct blocking_place *place = &awaits->blocking.items[i];
		const struct code *code = &collector->codes.items[place->code];
		profile->blocking[i] = (struct blocking_step){
			.file = profile_intern(profile, code->filename),
			.function = profile_intern(profile, code->qualname),
			.line = place->line,
			.count = place->count,
			.longest_s = (double)place->longest_ns * 1e-9,
			.total_s = (double)place->total_ns * 1e-9,
		};
	}
	warn(profile, &profile->blocking[0]);
}
