/* sample.c - one sample of the interrupted thread, from walk to record.
 *
 * Runs in the sampling signal.  What a sample weighs is weigh.h's matter; when
 * one is lost its time is carried by those after it. */
#include "agent/sample.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/codes.h"
#include "agent/perf.h"
#include "agent/restart.h"

/* Samples from ticks may cost this part (1/n) of the CPU time, where perf is not
 * to be had. */
#define TICK_BUDGET 100u

/* How busy a thread has to be to get a perf clock. */
#define PERF_AFTER_TICKS 4u

/* Ticks without a word from perf, after which they take over. */
#define SILENT_TICKS_MAX 16u

struct agent g_agent;
__thread struct agent_thread *g_self __attribute__((tls_model("initial-exec")));

/* The program counter just behind a system call instruction: the signal was
 * delivered on the way out of the kernel. */
static bool is_behind_system_call(uint64_t pc)
{
	/* The page of pc is mapped, since it is being run; the one before it
	 * need not be. */
	return (pc & 4095) >= CALL_BYTES && restart_is_call(pc - CALL_BYTES);
}

static enum sample_place place_of(uint64_t pc)
{
	if (is_behind_system_call(pc))
		return PLACE_SYSTEM;
	const struct ring *ring = g_agent.ring;
	return pc >= ring->image_start && pc < ring->image_end ? PLACE_INTERPRETER : PLACE_NATIVE;
}

/* Of states that had the GIL: one of this thread's own, and one that was another's.  Allocations ask
 * so often that a system call each took a fifth of the program's time. */
static __thread py_addr own_state __attribute__((tls_model("initial-exec")));
static __thread py_addr foreign_state __attribute__((tls_model("initial-exec")));
static __thread uint64_t own_id __attribute__((tls_model("initial-exec"))); /* the thread's in its states */

static uint64_t load_word(py_addr at)
{
	uint64_t word;
	memcpy(&word, (const void *)(uintptr_t)at, sizeof(word)); /* NOLINT: an address */
	return word;
}

/* Whether the state that has the GIL is the calling thread's, as `state` is. */
static bool is_own_state(py_addr state, py_addr holder)
{
	uint32_t place = g_agent.layout.thread_id;
	uint64_t ids[2];
	struct iovec to[2] = {{&ids[0], 8}, {&ids[1], 8}};
	struct iovec from[2] = {{(void *)(uintptr_t)(holder + place), 8}, /* NOLINT: addresses */
				{(void *)(uintptr_t)(state + place), 8}}; /* NOLINT */
	if (holder == foreign_state)
		return false;
	if (holder == own_state && load_word(holder + place) == own_id)
		return true; /* it lives, and has not become another's */
	int saved = errno; /* allocations and copies ask too */
	bool is_read = g_agent.reader.read_many(&g_agent.reader, to, from, 2) == 2;
	errno = saved;
	if (!is_read)
		return false; /* another's, which is freed */
	bool is_own = ids[0] == ids[1];
	*(is_own ? &own_state : &foreign_state) = holder;
	own_id = ids[1];
	return is_own;
}

/* A thread has a state in each interpreter whose code it runs.  From 3.12 on Python tells the one
 * in use; before, the one that the thread had first, so who has the GIL is looked at too. */
py_addr sample_state(void)
{
	const struct py_layout *layout = &g_agent.layout;
	py_addr state = (py_addr)(uintptr_t)g_agent.this_thread_state();
	if (state == 0 || layout->runtime_gilstate_current == PY_ABSENT || g_agent.ring->runtime == 0)
		return state;
	py_addr holder = load_word(g_agent.ring->runtime + layout->runtime_gilstate_current);
	return holder != 0 && holder != state && is_own_state(state, holder) ? holder : state;
}

/* Where the calling thread's interpreter says that it collects garbage, or 0;
 * looked up once for each thread state. */
static py_addr find_gc_flag(struct agent_thread *self)
{
	const struct py_layout *layout = &g_agent.layout;
	py_addr state = sample_state();
	py_addr interpreter = 0;
	if (layout->runtime_gc_collecting != PY_ABSENT)
		return g_agent.ring->runtime + layout->runtime_gc_collecting;
	if (layout->interp_gc_collecting == PY_ABSENT || state == self->gc_state)
		return self->gc_flag;
	self->gc_state = state;
	self->gc_flag = 0;
	if (g_agent.reader.read(&g_agent.reader, state + layout->thread_interp, &interpreter,
				sizeof(interpreter)) && interpreter != 0)
		self->gc_flag = interpreter + layout->interp_gc_collecting;
	return self->gc_flag;
}

/* What else there is to know of this moment, in one read: the instruction as the
 * interpreter has specialised it (3.11+; before that the collector takes it from the code
 * itself), whether it collects garbage, and outside of it who called: much of what
 * an extension does is done by the C library's memmove and its like, which make no frame. */
static void look_closer(struct agent_thread *self, const struct interrupted *at,
			struct record_sample *sample)
{
	const struct py_layout *layout = &g_agent.layout;
	const struct walk_frame *frame = &self->frames[0];
	py_addr instruction = layout->has_copies ? self->scratch.instruction
						 : frame->code + layout->code_code + frame->offset;
	py_addr gc_flag = find_gc_flag(self);
	int32_t is_collecting = 0;
	struct iovec to[3], from[3];
	size_t count = 0;
	if (layout->frame_kind != PY_FRAME_OBJECT && instruction != 0) {
		to[count] = (struct iovec){&sample->opcode, 1};
		from[count++] = (struct iovec){(void *)(uintptr_t)instruction, 1};
	}
	if (gc_flag != 0) {
		to[count] = (struct iovec){&is_collecting, sizeof(is_collecting)};
		from[count++] = (struct iovec){(void *)(uintptr_t)gc_flag, sizeof(is_collecting)};
	}
	sample->caller = at->link;
	if (sample->place == PLACE_NATIVE && at->stack != 0) {
		to[count] = (struct iovec){&sample->caller, sizeof(sample->caller)};
		from[count++] = (struct iovec){(void *)(uintptr_t)at->stack, sizeof(sample->caller)};
	}
	if (count > 0)
		g_agent.reader.read_many(&g_agent.reader, to, from, count);
	if (is_collecting == 1)
		sample->flags |= SAMPLE_GC;
	if (sample->count > 1 && !frame->is_entry)
		sample->flags |= SAMPLE_DIRECT;
}

bool sample_walk(struct agent_thread *self, const struct walker *walker, uint32_t *count,
		 uint8_t *flags)
{
	return sample_walk_state(self, walker, sample_state(), count, flags);
}

bool sample_walk_state(struct agent_thread *self, const struct walker *walker, py_addr state,
		       uint32_t *count, uint8_t *flags)
{
	*count = 0;
	if (state == 0)
		return true;
	switch (walk_thread(walker, state, &self->scratch, self->frames, count)) {
	case WALK_OK:
	case WALK_NO_PYTHON:
		break;
	case WALK_CUT:
		*flags |= SAMPLE_CUT;
		break;
	case WALK_TORN:
		ring_count_lost(g_agent.ring, LOST_TORN);
		mem_reader_fall_back(&g_agent.reader);
		return false;
	}
	code_identities(walker, self->frames, *count, self->identities);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < *count; i++) {
		if (self->identities[i] == CODE_HIDDEN) {
			if (i == 0)
				self->scratch.instruction = 0;
			continue;
		}
		uint32_t id = codes_find(self, walker, self->frames[i].code,
					 self->identities[i]);
		if (id == CODE_ID_NONE)
			return false;
		self->frames[kept] = self->frames[i];
		self->identities[kept++] = id;
	}
	*count = kept;
	return true;
}

static bool push_sample(struct agent_thread *self, const struct record_sample *sample)
{
	uint32_t size = (uint32_t)(sizeof(*sample) + sample->count * sizeof(struct record_frame));
	struct record *record = ring_reserve(g_agent.ring, size);
	if (record == NULL)
		return false;
	struct record_sample *out = (struct record_sample *)record;
	memcpy((char *)out + sizeof(out->head), (const char *)sample + sizeof(out->head),
	       sizeof(*out) - sizeof(out->head));
	for (uint32_t i = 0; i < sample->count; i++) {
		out->frames[i].code = self->identities[i];
		out->frames[i].offset = self->frames[i].offset;
	}
	ring_commit(record, size, RECORD_SAMPLE);
	return true;
}

/* What the handler took, and what the kernel took to get here. */
static void note_cost(struct agent_thread *self, uint64_t begin_ns, bool is_tick)
{
	uint64_t cost = now_wall_ns() - begin_ns;
	/* Being switched away in the middle is not our cost. */
	if (cost > 200000)
		cost = self->mean_cost_ns;
	self->mean_cost_ns = self->mean_cost_ns - self->mean_cost_ns / 32 + (uint32_t)(cost / 32);
	if (!is_tick)
		cost += atomic_load_explicit(&g_agent.control->perf_price_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&g_agent.ring->agent_ns, cost, memory_order_relaxed);
}

/* With perf running ticks are there for kernel time, which perf does not see,
 * and in case perf is not heard. */
static bool is_tick_beside_perf_due(struct agent_thread *self, struct weight ticked)
{
	return ticked.system_ns > 0 || ++self->skipped_ticks > SILENT_TICKS_MAX;
}

/* Ticks are drawn by lot as often as we can afford, and one that is drawn
 * stands for those that were not.  (To wait until enough time has gone by
 * books it to what comes after: deep recursion, whose samples are dear, lost a
 * tenth of its time to the function that was called next.) */
static bool is_tick_drawn(struct agent_thread *self, struct weight *ticked)
{
	uint64_t dear_ns = (uint64_t)self->mean_cost_ns * TICK_BUDGET;
	uint64_t ticked_ns = ticked->user_ns + ticked->system_ns;
	if (dear_ns > ticked_ns) {
		if (thread_random(self) % dear_ns >= ticked_ns)
			return false;
		double others = (double)dear_ns / (double)ticked_ns;
		ticked->user_ns = (uint64_t)((double)ticked->user_ns * others);
		ticked->system_ns = (uint64_t)((double)ticked->system_ns * others);
	}
	return true;
}

/* What a tick stands for; false: it is passed over. */
static bool weigh_tick(struct agent_thread *self, struct weight *nominal)
{
	*nominal = weigher_tick(&self->weigher, now_tally());
	self->ticks++;
	if (nominal->user_ns + nominal->system_ns == 0 && !self->is_first)
		return false; /* the host had the CPU all the time */
	if (self->is_first)
		return true;
	if (self->has_perf)
		perf_watch(self);
	if (self->has_perf)
		return is_tick_beside_perf_due(self, *nominal);
	return g_agent.has_fixed_rate || is_tick_drawn(self, nominal);
}

/* A thread that ends soon does without. */
static bool wants_perf(const struct agent_thread *self)
{
	return !self->has_perf && (g_agent.has_fixed_rate || self->ticks >= PERF_AFTER_TICKS);
}

/* Where yama forbids it, only the collector may look at waiting threads; when it
 * was killed, that is another one. */
static void permit_collector(void)
{
	int32_t collector = atomic_load_explicit(&g_agent.control->collector_pid,
						 memory_order_relaxed);
	if (collector == atomic_load_explicit(&g_agent.permitted_pid, memory_order_relaxed))
		return;
	atomic_store_explicit(&g_agent.permitted_pid, collector, memory_order_relaxed);
	syscall(SYS_prctl, PR_SET_PTRACER, (unsigned long)collector, 0UL, 0UL, 0UL);
}

/* Whether profiling is suspended, or was until this moment. */
static bool is_passed_over(struct agent_thread *self)
{
	bool is_off = agent_is_off();
	if (!is_off && !self->is_off)
		return false;
	if (is_off)
		clock_suspend(self);
	else
		clock_resume(self);
	return true;
}

/* The event that measured its own price leaves a signal behind. */
static bool is_trial_signal(struct agent_thread *self, bool is_tick)
{
	bool is_due = self->is_trial_signal_due && !is_tick;
	self->is_trial_signal_due = false;
	return is_due;
}

/* The first sample of a thread makes up for those that ended before it. */
static uint64_t settle_carry(uint64_t user_ns)
{
	int64_t carry_ns = atomic_exchange(&g_agent.ring->carry_ns, 0);
	int64_t least_ns = -(int64_t)(user_ns - user_ns / 4);
	if (carry_ns < least_ns) {
		atomic_fetch_add(&g_agent.ring->carry_ns, carry_ns - least_ns);
		carry_ns = least_ns;
	}
	return (uint64_t)((int64_t)user_ns + carry_ns);
}

void sample_take(struct agent_thread *self, const struct interrupted *at, bool is_tick)
{
	permit_collector();
	if (self->is_new) {
		clock_begin(self);
		return;
	}
	if (is_passed_over(self) || is_trial_signal(self, is_tick))
		return;
	uint64_t now_ns = now_wall_ns();
	struct weight nominal = {self->period_ns, 0};
	if (is_tick && !weigh_tick(self, &nominal))
		return;
	self->skipped_ticks = 0;
	struct record_sample sample = {
		.time_ns = now_ns,
		.pc = at->pc,
		.thread = self->slot,
		.place = (uint8_t)place_of(at->pc),
		.flags = is_tick ? SAMPLE_TICK : 0,
	};
	struct weigher after = self->weigher;
	uint64_t cpu_ns = now_cpu_ns();
	if (weigher_is_behind(&after, cpu_ns, nominal))
		weigher_hear(&after, now_tally());
	struct weight weight = weigher_take(&after, cpu_ns, nominal);
	sample.user_ns = weight.user_ns;
	sample.system_ns = weight.system_ns;
	if (self->is_first)
		sample.user_ns = settle_carry(sample.user_ns);

	if (sample_walk(self, &g_agent.walker, &sample.count, &sample.flags)) {
		if (sample.count > 0)
			look_closer(self, at, &sample);
		if (push_sample(self, &sample)) {
			self->weigher = after;
			self->is_first = false;
		}
	}
	note_cost(self, now_ns, is_tick);
	if (is_tick ? wants_perf(self) : --self->period_left == 0)
		perf_renew(self);
}
