/* samples.c - CPU samples, from a record to the weights of a stack.
 *
 * A record is a copy that has been taken out of the ring; its fields are still
 * the program's word and are checked here. */
#include "collect/samples.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/classify.h"
#include "collect/collector.h"
#include "collect/helped.h"
#include "collect/stacks.h"
#include "collect/threads.h"

/* To read an interpreter's names takes a millisecond or two. */
#define CALLS_BEFORE_NAMES 8u
#define OPEN_BEFORE_NAMES 16u
#define DELAY_SAMPLES 8u /* at least so many share in a time ready to run */

static uint64_t next_random(struct collector *collector)
{
	collector->random ^= collector->random << 13;
	collector->random ^= collector->random >> 7;
	collector->random ^= collector->random << 17;
	return collector->random;
}

/* Keeps when the line was hot: each moment has the same chance to stay. */
static void note_moment(struct collector *collector, struct tree_frame frame, uint64_t time_ns)
{
	bool is_new;
	uint64_t key = (uint64_t)frame.code << 32 | frame.offset;
	uint64_t *index = map_put(&collector->moment_index, key, &is_new);
	if (is_new) {
		*index = collector->moments.count;
		vec_push(&collector->moments,
			 ((struct moments){.code = frame.code, .offset = frame.offset}));
	}
	struct moments *moments = &collector->moments.items[*index];
	uint64_t at = moments->seen < MOMENTS_PER_PLACE ? moments->seen
							: next_random(collector) % (moments->seen + 1);
	moments->seen++;
	if (at < MOMENTS_PER_PLACE && time_ns >= collector->start_ns)
		moments->times_s[at] = (float)((double)(time_ns - collector->start_ns) * 1e-9);
}

static enum image_kind image_of(struct process *process, const struct record_sample *sample)
{
	enum image_kind kind = images_find(&process->images, process->pid, sample->pc,
					   sample->time_ns);
	if (kind != IMAGE_UNKNOWN)
		return kind;
	return sample->place == PLACE_INTERPRETER ? IMAGE_INTERPRETER : IMAGE_EXTENSION;
}

/* Whose work it is: the C library's functions are used by all, and those that move
 * memory or compute a sine call nobody themselves. */
static enum image_kind worker_of(struct process *process, const struct record_sample *sample)
{
	enum image_kind image = image_of(process, sample);
	if (image != IMAGE_SUPPORT || sample->caller == 0)
		return image;
	enum image_kind caller = images_find(&process->images, process->pid, sample->caller,
					     sample->time_ns);
	return caller == IMAGE_EXTENSION ? caller : image;
}

/* Whether the thread of the sample is the one that collects garbage: that works
 * in the interpreter, while another thread can be anywhere else. */
static bool is_collecting(struct process *process, const struct record_sample *sample)
{
	if ((sample->flags & SAMPLE_GC) == 0)
		return false;
	enum image_kind image = image_of(process, sample);
	return image == IMAGE_INTERPRETER || image == IMAGE_SUPPORT || process->threads.count == 1;
}

/* What is known of the interpreter of a process; read when it is asked for at an instruction that was
 * seen to make some calls, or after some that may be long. */
static const struct evaluator *evaluator_of(struct collector *collector, struct process *process,
					    uint32_t calls)
{
	static const struct evaluator none;
	struct images *images = &process->images;
	if (images->evaluator != NULL)
		return images->evaluator;
	if (images->interpreter_path == NULL ||
	    (calls < CALLS_BEFORE_NAMES && images->open_samples < OPEN_BEFORE_NAMES))
		return &none;
	for (uint32_t i = 0; i < collector->interpreters.count; i++) {
		struct interpreter *known = collector->interpreters.items[i];
		if (strcmp(known->path, images->interpreter_path) == 0)
			return images->evaluator = &known->evaluator;
	}
	struct interpreter *met = mem_alloc(sizeof(*met));
	met->path = mem_copy_text(images->interpreter_path);
	evaluator_read(&met->evaluator, process->pid, met->path);
	vec_push(&collector->interpreters, met);
	return images->evaluator = &met->evaluator;
}

/* The C library works for all. */
static enum evaluator_part place_in(const struct process *process,
				    const struct evaluator *evaluator, enum image_kind image,
				    uint64_t pc)
{
	if (image != IMAGE_INTERPRETER)
		return EVALUATOR_CHORES;
	return evaluator_find(evaluator, images_offset(&process->images, pc));
}

/* Counts a sample at an instruction, and where it was if that is known. */
static void count_leaf(const struct process *process, const struct evaluator *evaluator,
		       enum image_kind image, uint64_t pc, struct code_op *op)
{
	op->leaf++;
	if (!evaluator->is_complete || evaluator->pieces.count == 0)
		return;
	/* The C library's part in an operation is to move and compare memory: large pieces, if it is met. */
	enum evaluator_part part = image == IMAGE_INTERPRETER ? place_in(process, evaluator, image, pc)
							      : EVALUATOR_NONE;
	classify_note_place(op, part, evaluator->has_names);
}

/* For a sample at an instruction, in the interpreter or in the C library below it. */
static enum verdict judge(struct collector *collector, struct process *process,
			  const struct record_sample *sample, enum image_kind image,
			  const struct code *code, uint32_t offset, struct code_op *op)
{
	enum verdict verdict = classify_sample(code, offset, sample->opcode);
	if (op == NULL)
		return verdict;
	if (verdict == VERDICT_PYTHON) {
		count_leaf(process, evaluator_of(collector, process, 0), image, sample->pc, op);
		return verdict;
	}
	process->images.open_samples += verdict == VERDICT_OPEN;
	op->calls_c |= verdict == VERDICT_NATIVE; /* as long as that calls no Python functions */
	uint32_t calls = classify_calls_back(code, offset, op) ? op->callee : 0;
	const struct evaluator *evaluator = evaluator_of(collector, process, calls);
	if (evaluator->pieces.count > 0) {
		enum evaluator_part part = place_in(process, evaluator, image, sample->pc);
		classify_note_part(op, part);
		if (classify_calls_back(code, offset, op))
			return classify_call_back(op, part, evaluator->is_complete,
						  next_random(collector));
	}
	count_leaf(process, evaluator, image, sample->pc, op);
	return VERDICT_OPEN;
}

/* Books the user time of a sample by where its program counter stood.  Which
 * instruction makes the allocation that sets garbage collection off is chance, so its time
 * is the interpreter's whatever the instruction, and tells nothing of that.  The
 * timeline cannot wait for what the counts per instruction will say in the end:
 * it takes their word as it is now. */
static enum timeline_kind book_user_time(struct collector *collector, struct process *process,
					 const struct record_sample *sample, bool collects,
					 struct tree_weights *self, bool *is_open)
{
	uint64_t user_ns = sample->user_ns;
	enum image_kind image = worker_of(process, sample);
	if (sample->count == 0) {
		self->native_ns += user_ns;
		return TIMELINE_NATIVE;
	}
	struct tree_frame leaf = collector->tree_frames[0];
	struct code *code = &collector->codes.items[leaf.code];
	struct code_op *op = (sample->flags & SAMPLE_GC) != 0 ? NULL : codes_count(code, leaf.offset);
	bool is_system = sample->place == PLACE_SYSTEM;
	enum verdict by_image = is_system && image == IMAGE_GENERATED
					? VERDICT_OPEN
					: classify_image(image, code->version, sample->opcode);
	if (by_image == VERDICT_NATIVE) {
		if (op != NULL)
			op->native++;
		self->native_ns += user_ns;
		return TIMELINE_NATIVE;
	}
	enum verdict verdict;
	if (by_image == VERDICT_PYTHON || collects)
		verdict = VERDICT_PYTHON;
	else if (is_system)
		verdict = VERDICT_NATIVE;
	else
		verdict = judge(collector, process, sample, image, code, leaf.offset, op);
	if (verdict == VERDICT_OPEN && op != NULL && image == IMAGE_INTERPRETER)
		spread_add(&op->spread, sample->pc);
	if (verdict == VERDICT_PYTHON) {
		self->python_ns += user_ns;
		return TIMELINE_PYTHON;
	}
	if (verdict == VERDICT_NATIVE) {
		self->native_ns += user_ns;
		return TIMELINE_NATIVE;
	}
	self->open_ns += user_ns;
	*is_open = true;
	return classify_is_native(code, leaf.offset) ? TIMELINE_NATIVE : TIMELINE_PYTHON;
}

static void count_callees(struct collector *collector, uint32_t count, bool is_direct)
{
	struct code *codes = collector->codes.items;
	const struct tree_frame *frames = collector->tree_frames;
	for (uint32_t i = 1; i < count; i++) {
		struct code_op *op = codes_note_call(&codes[frames[i].code], frames[i].offset,
						     &codes[frames[i - 1].code], 1);
		if (i == 1 && is_direct && op != NULL)
			op->direct++;
	}
}

/* The weights to book to: a node's; for a thread of a C library the main
 * thread's line, which is where such threads are put to work; for a main
 * thread without Python the interpreter's own start or end. */
static struct tree_weights *weights_of(struct collector *collector, struct process *process,
				       const struct thread *thread, uint32_t count, uint32_t *node)
{
	*node = stacks_node(collector, count);
	if (count == 0 && thread->is_main)
		return &collector->startup;
	if (count == 0)
		*node = process->main_node;
	else if (thread->is_main)
		process->main_node = *node;
	return tree_weights(&collector->tree, *node);
}

/* --- time ready to run --- */

static void book_part(struct collector *collector, struct thread *thread,
		      const struct recent_sample *sample, uint64_t ns)
{
	struct tree_weights *self = sample->node == TREE_ROOT
					    ? &collector->startup
					    : tree_weights(&collector->tree, sample->node);
	collector->delay_ns += ns;
	if (sample->kind == TIMELINE_SYSTEM)
		self->system_ns += ns;
	else if (sample->is_open)
		self->open_ns += ns;
	else if (sample->kind == TIMELINE_PYTHON)
		self->python_ns += ns;
	else
		self->native_ns += ns;
	if (sample->is_collecting)
		self->gc_ns += ns;
	if (sample->node == TREE_ROOT)
		return;
	if (sample->is_collecting)
		stacks_note_time(collector, thread, sample->node, TIMELINE_GC, sample->time_ns, ns);
	stacks_note_time(collector, thread, sample->node, (enum timeline_kind)sample->kind,
			 sample->time_ns, ns);
}

/* Some samples in a row of a main thread, and what is to be shared out among them. */
struct stretch {
	uint64_t first, count;
	uint64_t cpu_ns;
	uint64_t off_ns; /* between them, by the clock: ready to run, or waiting */
};

static const struct recent_sample *sample_at(const struct process *process, uint64_t number)
{
	return &process->main_samples[number % RECENT_SAMPLES];
}

static struct stretch stretch_of(const struct process *process, uint64_t first, uint64_t count)
{
	struct stretch stretch = {.first = first, .count = count};
	for (uint64_t i = first; i < first + count; i++)
		stretch.cpu_ns += sample_at(process, i)->cpu_ns;
	uint64_t since_ns = first > 0 ? sample_at(process, first - 1)->time_ns : UINT64_MAX;
	uint64_t until_ns = sample_at(process, first + count - 1)->time_ns;
	if (until_ns > since_ns && until_ns - since_ns > stretch.cpu_ns)
		stretch.off_ns = until_ns - since_ns - stretch.cpu_ns;
	return stretch;
}

/* part of whole, of ns; never more than ns. */
static uint64_t part_of(uint64_t ns, uint64_t part, uint64_t whole)
{
	return part == whole ? ns : (uint64_t)((double)ns * ((double)part / (double)whole));
}

/* Each sample has its part by its CPU time. */
static void share_out(struct collector *collector, const struct process *process,
		      struct thread *thread, struct stretch stretch, uint64_t ns)
{
	uint64_t left_cpu_ns = stretch.cpu_ns;
	for (uint64_t i = stretch.first; i < stretch.first + stretch.count && left_cpu_ns > 0; i++) {
		const struct recent_sample *sample = sample_at(process, i);
		uint64_t part_ns = part_of(ns, sample->cpu_ns, left_cpu_ns);
		book_part(collector, thread, sample, part_ns);
		thread->pending_delay_ns -= part_ns;
		ns -= part_ns;
		left_cpu_ns -= sample->cpu_ns;
	}
}

#define STRETCHES_MAX (RECENT_SAMPLES / DELAY_SAMPLES)

/* The last `count` samples, some in a row at a time; returns how many stretches that are. */
static uint32_t cut_up(const struct process *process, const struct thread *thread, uint64_t count,
		       struct stretch *stretches)
{
	uint32_t used = 0;
	for (uint64_t first = thread->samples - count; count > 0; used++) {
		uint64_t taken = count < 2 * DELAY_SAMPLES ? count : DELAY_SAMPLES;
		stretches[used] = stretch_of(process, first, taken);
		first += taken;
		count -= taken;
	}
	return used;
}

/* A look finds it in one lump for many samples: those since the look before.  Where these are
 * few some before them have theirs too: a lump on one or two would be chance.  Where they are many the
 * clock tells when it was: each few in a row have so much of it as there is time between them. */
void samples_book_delay(struct collector *collector, struct process *process,
			struct thread *thread, bool is_end)
{
	uint64_t count = thread->samples - thread->paid_samples;
	if (count == 0 && !is_end)
		return;
	thread->paid_samples = thread->samples;
	if (count < DELAY_SAMPLES)
		count = DELAY_SAMPLES;
	if (count > RECENT_SAMPLES - 1) /* the time of the one before is needed */
		count = RECENT_SAMPLES - 1;
	if (count > thread->samples)
		count = thread->samples;
	if (thread->pending_delay_ns == 0 || count == 0)
		return;
	struct stretch stretches[STRETCHES_MAX];
	uint32_t used = cut_up(process, thread, count, stretches);
	uint64_t off_ns = 0;
	for (uint32_t i = 0; i < used; i++)
		off_ns += stretches[i].off_ns;
	if (off_ns < thread->pending_delay_ns / 2 || off_ns == 0) { /* it was told late */
		share_out(collector, process, thread,
			  stretch_of(process, thread->samples - count, count),
			  thread->pending_delay_ns);
		return;
	}
	for (uint32_t i = 0; i < used && off_ns > 0; i++) {
		uint64_t ns = part_of(thread->pending_delay_ns, stretches[i].off_ns, off_ns);
		share_out(collector, process, thread, stretches[i], ns);
		off_ns -= stretches[i].off_ns;
	}
}

bool samples_on_record(struct collector *collector, struct process *process,
		      const struct record_sample *sample)
{
	uint64_t need = sizeof(*sample) + (uint64_t)sample->count * sizeof(sample->frames[0]);
	if (sample->count > WALK_MAX_FRAMES || need > sample->head.size ||
	    threads_at(process, sample->thread) == NULL)
		return false;
	uint64_t alive_ns = sample->time_ns - process->start_ns;
	if (sample->time_ns < process->start_ns || sample->user_ns > alive_ns + 1000000000u ||
	    sample->system_ns > alive_ns + 1000000000u ||
	    !stacks_translate(collector, process, sample->frames, sample->count))
		return false;

	struct thread *thread = threads_at(process, sample->thread);
	uint32_t node;
	struct tree_weights *self = weights_of(collector, process, thread, sample->count, &node);
	uint64_t cpu_ns = sample->user_ns + sample->system_ns;
	bool is_open = false, collects = is_collecting(process, sample);
	enum timeline_kind kind = book_user_time(collector, process, sample, collects, self, &is_open);
	self->system_ns += sample->system_ns;
	if (collects) {
		self->gc_ns += cpu_ns;
		thread->gc_ns += cpu_ns;
		if (self != &collector->startup)
			stacks_note_time(collector, thread, node, TIMELINE_GC, sample->time_ns, cpu_ns);
	}
	if (thread->is_main)
		process->main_samples[thread->samples % RECENT_SAMPLES] = (struct recent_sample){
			.time_ns = sample->time_ns,
			.cpu_ns = cpu_ns,
			.node = node,
			.kind = sample->system_ns > sample->user_ns ? TIMELINE_SYSTEM : kind,
			.is_open = is_open,
			.is_collecting = collects,
		};
	self->cpu_ns += cpu_ns;
	self->samples++;
	thread->cpu_ns += cpu_ns;
	thread->recent[thread->samples++ % RECENT_SAMPLES] = node;
	collector->cpu_samples++;
	collector->sampled_cpu_ns += cpu_ns;
	if (sample->count == 0 && !thread->is_main)
		helped_note(process, cpu_ns);
	if (self != &collector->startup) {
		stacks_note_time(collector, thread, node, kind, sample->time_ns, sample->user_ns);
		stacks_note_time(collector, thread, node, TIMELINE_SYSTEM, sample->time_ns,
				 sample->system_ns);
	}
	if ((sample->flags & SAMPLE_CUT) != 0)
		collector->cut_samples++;
	if (sample->count > 0) {
		count_callees(collector, sample->count, (sample->flags & SAMPLE_DIRECT) != 0);
		struct tree_frame line =
			collector->tree_frames[stacks_line_frame(collector, sample->count)];
		stacks_at_line(collector, thread, line);
		if (!stacks_are_startup(collector, sample->count))
			note_moment(collector, line, sample->time_ns);
	}
	return true;
}

/* Books CPU time to a node that has samples, in the proportions of what they were. */
static void book_as_before(struct collector *collector, struct thread *thread, uint32_t node,
			   uint64_t end_ns, uint64_t ns)
{
	struct tree_weights *self = tree_weights(&collector->tree, node);
	uint64_t *const parts[] = {&self->python_ns, &self->native_ns, &self->open_ns,
				   &self->system_ns};
	struct tree_frame frame = tree_frame(&collector->tree, node);
	bool is_native = classify_is_native(&collector->codes.items[frame.code], frame.offset);
	const enum timeline_kind kinds[] = {TIMELINE_PYTHON, TIMELINE_NATIVE,
					    is_native ? TIMELINE_NATIVE : TIMELINE_PYTHON,
					    TIMELINE_SYSTEM};
	double all_ns = 0;
	for (size_t i = 0; i < 4; i++)
		all_ns += (double)*parts[i];
	if (all_ns == 0)
		return;
	for (size_t i = 0; i < 4; i++) {
		uint64_t part_ns = (uint64_t)((double)ns * (double)*parts[i] / all_ns);
		*parts[i] += part_ns;
		stacks_note_time(collector, thread, node, kinds[i], end_ns, part_ns);
	}
	self->cpu_ns += ns;
	thread->cpu_ns += ns;
	collector->sampled_cpu_ns += ns;
}

void samples_book_rest(struct collector *collector, struct thread *thread, uint64_t end_ns,
		       uint64_t rest_ns)
{
	uint64_t count = thread->samples < RECENT_SAMPLES ? thread->samples : RECENT_SAMPLES;
	if (end_ns < thread->start_ns || rest_ns > end_ns - thread->start_ns)
		return;
	for (uint64_t i = 0; i < count; i++)
		book_as_before(collector, thread, thread->recent[i], end_ns, rest_ns / count);
}
