/* attach_perf.c - perf clocks on the threads of a session: who works, by the true CPU clock.
 *
 * A sample of such a clock has the program counter of a moment at which the thread was on a
 * CPU, but not its Python stack.  It has the registers and the top of the C stack, though, and
 * in one of these words the evaluation loop keeps its place in the instructions: the
 * first word that leads into the instructions of a known code object tells the
 * line of that very moment (97 of 100 samples were so found, at the right place, on 3.8 to 3.13).  For
 * the rest the look before has to do.
 *
 * What samples are good for is told in split.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "collect/attach_parts.h"
#include "collect/build.h"
#include "collect/classify.h"
#include "wire/price.h"

/* The interrupts may cost this part (1/n) of the thread's CPU time, and its switches
 * as much again. */
#define PERF_BUDGET 400u
#define PERIOD_MIN_NS 2000000u
/* So many may come while nobody reads them. */
#define SAMPLES_PER_LOOK 8u
#define PERIOD_SAMPLES 32u /* for which a period is kept, on average */

#define DECIDE_NS 2000000u  /* of CPU time, from one decision to the next; a thread that ran for less
			       needs no clock, */
#define IDLE_LISTS 30u      /* and one that did not run for so many none any more */
#define MISSED_NS 300000000u /* of CPU time without a clock are nothing to speak of */

#define SAMPLES_MIN 20u /* less are nothing to go by */

void attach_clocks_init(struct attach_clocks *clocks)
{
	*clocks = (struct attach_clocks){.has_kernel = true};
	split_init(&clocks->split);
}

void attach_clocks_fini(struct attach_clocks *clocks)
{
	split_fini(&clocks->split);
}

/* ---- the price ---- */

/* What an interrupt costs here, found out on ourselves. */
static enum perf_clock_result measure_price(struct attach_clocks *clocks)
{
	struct perf_clock clock;
	struct price_gaps gaps = {.count = 0};
	enum perf_clock_result result = perf_clock_open(&clock, 0, PRICE_TRIAL_PERIOD_NS, clocks->has_kernel);
	if (result != PERF_CLOCK_OK)
		return result;
	uint64_t last_ns = clock_monotonic_ns();
	for (uint64_t end_ns = last_ns + PRICE_TRIAL_NS; last_ns < end_ns;) {
		uint64_t now_ns = clock_monotonic_ns();
		price_see(&gaps, last_ns, now_ns);
		last_ns = now_ns;
	}
	perf_clock_close(&clock);
	clocks->price_ns = price_of(&gaps);
	return PERF_CLOCK_OK;
}

/* Finds out what is permitted and what it costs, once; false: nothing is permitted. */
static bool prepare(struct attach_clocks *clocks)
{
	if (clocks->price_ns == 0 && clocks->refused == PERF_CLOCK_OK) {
		enum perf_clock_result result = measure_price(clocks);
		if (result == PERF_CLOCK_FORBIDDEN) {
			clocks->has_kernel = false; /* user mode takes less permission */
			result = measure_price(clocks);
		}
		clocks->refused = result;
	}
	return clocks->price_ns != 0 && (clocks->refused == PERF_CLOCK_OK || clocks->refused == PERF_CLOCK_FULL);
}

/* Between 3/4 and 5/4 of what can be afforded: one that is a multiple of a loop of
 * the program would always meet the same part of it. */
static uint64_t choose_period_ns(struct attach *attach, const struct attach_thread *thread)
{
	uint64_t wanted = (uint64_t)(thread->perf_part * attach->clocks.price_ns * PERF_BUDGET);
	if (wanted < PERIOD_MIN_NS)
		wanted = PERIOD_MIN_NS;
	if (wanted < attach->period_ns / SAMPLES_PER_LOOK)
		wanted = attach->period_ns / SAMPLES_PER_LOOK;
	return wanted * 3 / 4 + attach_random(attach) % (wanted / 2);
}

/* ---- who has a clock ---- */

void attach_perf_end(struct attach *attach, struct attach_thread *thread)
{
	if (thread->perf == NULL)
		return;
	perf_clock_close(thread->perf);
	free(thread->perf);
	thread->perf = NULL;
	attach->clocks.open--;
}

static void begin(struct attach *attach, struct attach_thread *thread)
{
	struct attach_clocks *clocks = &attach->clocks;
	struct perf_clock clock;
	enum perf_clock_result result = PERF_CLOCK_FULL;
	if (clocks->open < ATTACH_CLOCKS_MAX)
		result = perf_clock_open(&clock, thread->remote.tid, choose_period_ns(attach, thread),
					 clocks->has_kernel);
	if (result == PERF_CLOCK_GONE)
		return;
	if (result == PERF_CLOCK_OK && clock.fd >= attach->files_max) {
		perf_clock_close(&clock);
		result = PERF_CLOCK_FULL;
	}
	if (result != PERF_CLOCK_OK) {
		clocks->refused = result;
		return;
	}
	thread->perf = mem_alloc(sizeof(*thread->perf));
	*thread->perf = clock;
	thread->perf_left = PERIOD_SAMPLES;
	thread->has_had_perf = true;
	clocks->open++;
}

/* A thread that leaves its CPU often pays for the clock at each switch, so it has
 * one for a part of its time only, drawn by lot, and then a faster one. */
static double affordable_part(const struct attach_clocks *clocks, uint64_t ran_ns, uint64_t turns)
{
	uint64_t cost_ns = price_of_switches(clocks->price_ns, turns) * PERF_BUDGET;
	return cost_ns <= ran_ns ? 1 : (double)ran_ns / (double)cost_ns;
}

static void decide(struct attach *attach, struct attach_thread *thread, uint64_t ran_ns, uint64_t turns)
{
	struct attach_clocks *clocks = &attach->clocks;
	if (!prepare(clocks))
		return;
	thread->perf_part = affordable_part(clocks, ran_ns, turns);
	bool is_drawn = (double)(attach_random(attach) % 1000) < thread->perf_part * 1000;
	if (!is_drawn)
		attach_perf_end(attach, thread);
	else if (thread->perf == NULL)
		begin(attach, thread);
}

/* What threads without a clock do is unknown where there was no room for them; those that the lot
 * has passed over are like the others. */
static void note_seen(struct attach_clocks *clocks, const struct attach_thread *thread, uint64_t ran_ns)
{
	*(thread->has_had_perf ? &clocks->seen_ns : &clocks->missed_ns) += ran_ns;
	clocks->is_partial = clocks->refused == PERF_CLOCK_FULL && clocks->missed_ns > MISSED_NS &&
			     clocks->missed_ns > clocks->seen_ns / 4;
}

void attach_perf_manage(struct attach *attach, struct attach_process *process, struct attach_thread *thread,
			const struct procfs_schedule *now)
{
	if (attach->options->has_gil_only || attach->options->has_no_perf)
		return;
	if (thread->decided.ran_ns == 0)
		thread->decided = *now;
	attach_perf_drain(attach, process, thread);
	uint64_t listed_ns = thread->listed.ran_ns == 0 ? 0 : now->ran_ns - thread->listed.ran_ns;
	thread->idle_lists = listed_ns == 0 ? thread->idle_lists + 1 : 0;
	note_seen(&attach->clocks, thread, listed_ns);
	uint64_t ran_ns = now->ran_ns - thread->decided.ran_ns;
	if (thread->idle_lists > IDLE_LISTS)
		attach_perf_end(attach, thread);
	if (ran_ns < DECIDE_NS)
		return;
	decide(attach, thread, ran_ns, now->turns - thread->decided.turns);
	thread->decided = *now;
}

/* ---- where a sample stood ---- */

static int compare_ranges(const void *one, const void *other)
{
	const struct attach_range *a = one, *b = other;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* All known code objects' instructions, by address. */
static void list_ranges(struct attach *attach, struct attach_process *process)
{
	process->ranges.count = 0;
	process->has_new_codes = false;
	for (uint32_t i = 0; i < process->codes.count; i++) {
		const struct attach_code *known = &process->codes.items[i];
		if (known->identity <= CODE_HIDDEN || known->bytecode == 0)
			continue;
		uint32_t size = attach->collector->codes.items[known->code].bytecode_size;
		vec_push(&process->ranges, ((struct attach_range){known->bytecode, known->bytecode + size, known->code}));
	}
	if (process->ranges.count > 0)
		qsort(process->ranges.items, process->ranges.count, sizeof(*process->ranges.items), compare_ranges);
}

/* The last range that begins before the address, which is behind an instruction. */
static const struct attach_range *find_range(const struct attach_process *process, uint64_t address)
{
	uint32_t low = 0, high = process->ranges.count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (process->ranges.items[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address > process->ranges.items[low - 1].end)
		return NULL;
	return &process->ranges.items[low - 1];
}

/* The evaluation loop keeps where the next instruction is, which is behind this one or, in 3.11,
 * in its inline cache. */
static bool find_place(const struct attach *attach, const struct attach_process *process,
		       const struct perf_sample *sample, struct tree_frame *place)
{
	const uint64_t *words = sample->words;
	if (process->ranges.count == 0)
		return false;
	uint64_t lowest = process->ranges.items[0].start;
	uint64_t highest = process->ranges.items[process->ranges.count - 1].end;
	for (uint32_t i = 0; i < sample->word_count; i++) {
		if (words[i] <= lowest || words[i] > highest || words[i] % 2 != 0)
			continue;
		const struct attach_range *range = find_range(process, words[i]);
		if (range == NULL || words[i] - range->start < 2)
			continue;
		struct code *code = &attach->collector->codes.items[range->code];
		*place = (struct tree_frame){range->code,
					     codes_op_start(code, (uint32_t)(words[i] - range->start) - 2)};
		return true;
	}
	return false;
}

static enum split_kind kind_of(struct attach *attach, struct attach_process *process,
			       const struct perf_sample *sample, struct tree_frame place)
{
	if (sample->is_kernel)
		return SPLIT_SYSTEM;
	const struct code *code = &attach->collector->codes.items[place.code];
	uint8_t opcode = place.offset < code->bytecode_size ? code->bytecode[place.offset] : 0;
	enum image_kind image = images_find(&process->process->images, process->remote.pid, sample->pc,
					    clock_monotonic_ns());
	return classify_image(image, code->version, opcode) == VERDICT_NATIVE ? SPLIT_NATIVE : SPLIT_INTERPRETER;
}

void attach_perf_drain(struct attach *attach, struct attach_process *process, struct attach_thread *thread)
{
	struct perf_sample sample;
	if (thread->perf == NULL)
		return;
	while (perf_clock_next(thread->perf, &sample)) {
		struct tree_frame place;
		if (process->has_new_codes)
			list_ranges(attach, process);
		if (!find_place(attach, process, &sample, &place)) {
			if (thread->node == TREE_ROOT)
				continue;
			place = tree_frame(&attach->collector->tree, thread->node);
		}
		split_add(&attach->clocks.split, &attach->collector->codes, place,
			  kind_of(attach, process, &sample, place));
		if (--thread->perf_left == 0) {
			thread->perf_left = PERIOD_SAMPLES / 2 + (uint32_t)(attach_random(attach) % PERIOD_SAMPLES);
			perf_clock_set_period(thread->perf, choose_period_ns(attach, thread));
		}
	}
}

/* ---- splitting ---- */

bool attach_perf_is_used(const struct attach *attach)
{
	return split_samples(&attach->clocks.split) >= SAMPLES_MIN;
}

struct profile *attach_perf_build(struct attach *attach, bool is_partial)
{
	struct collector *collector = attach->collector;
	size_t count = collector->tree.weights.count, size = sizeof(*collector->tree.weights.items);
	struct tree_weights *kept = mem_alloc(count * size);
	memcpy(kept, collector->tree.weights.items, count * size);
	if (attach_perf_is_used(attach))
		split_apply(&attach->clocks.split, &collector->codes, &collector->tree,
			    !attach->clocks.is_partial);
	struct profile *profile = build_profile(collector, is_partial);
	memcpy(collector->tree.weights.items, kept, count * size);
	free(kept);
	return profile;
}

/* ---- telling ---- */

#define BY_INSTRUCTION                                                                              \
	"looked at from outside: Python and native are told apart by the current instruction and " \
	"the GIL; time in the kernel counts as one of them"

/* Why the kernel refuses, and what permits it. */
static void explain(enum perf_clock_result refused, char *text, size_t size)
{
	struct perf_refusal refusal;
	perf_clock_refuse(refused, &refusal);
	if (refusal.permit != NULL)
		snprintf(text, size, "%s; %s permits them", refusal.why, refusal.permit);
	else
		snprintf(text, size, "%s", refusal.why);
}

void attach_perf_tell(const struct attach *attach, char *text, size_t size)
{
	const struct attach_clocks *clocks = &attach->clocks;
	char why[200];
	explain(clocks->refused == PERF_CLOCK_OK ? PERF_CLOCK_FORBIDDEN : clocks->refused, why, sizeof(why));
	if (attach_perf_is_used(attach) && clocks->has_kernel)
		snprintf(text, size,
			 "looked at from outside: Python, native and system time are told apart by perf "
			 "events on the threads%s",
			 clocks->is_partial ? "; some threads have none, there is no room for more" : "");
	else if (attach_perf_is_used(attach))
		snprintf(text, size,
			 "looked at from outside: Python and native are told apart by perf events on the threads; "
			 "time in the kernel counts as one of them, since it may not be watched (%s)",
			 why);
	else if (attach->options->has_gil_only || attach->options->has_no_perf)
		snprintf(text, size, BY_INSTRUCTION);
	else if (clocks->refused == PERF_CLOCK_OK)
		snprintf(text, size, BY_INSTRUCTION "; perf events were too few to tell more");
	else
		snprintf(text, size, BY_INSTRUCTION "; there are no perf events on the threads (%s)", why);
}
