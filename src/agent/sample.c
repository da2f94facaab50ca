/* sample.c - one sample of the interrupted thread, from walk to record.
 *
 * Runs in the sampling signal.  What a sample weighs is weigh.h's matter; when
 * one is lost its time is carried by those after it. */
#include "agent/agent.h"

#include <string.h>

/* Ticks without a word from perf, after which they take over. */
#define SILENT_TICKS_MAX 8u

struct agent g_agent;
__thread struct agent_thread *g_self __attribute__((tls_model("initial-exec")));

/* The program counter just behind a system call instruction: the signal was
 * delivered on the way out of the kernel. */
static bool is_behind_system_call(uint64_t pc)
{
	/* The page of pc is mapped, since it is being run; the one before it
	 * need not be. */
#if defined(__x86_64__)
	const unsigned char *at = (const unsigned char *)(uintptr_t)pc; /* NOLINT */
	return (pc & 4095) >= 2 && at[-2] == 0x0f && at[-1] == 0x05;
#elif defined(__aarch64__)
	uint32_t instruction;
	if ((pc & 4095) < 4)
		return false;
	memcpy(&instruction, (const void *)(uintptr_t)(pc - 4), 4);
	return (instruction & 0xffe0001fu) == 0xd4000001u;
#else
#error "Heatline knows x86_64 and aarch64"
#endif
}

static enum sample_place place_of(uint64_t pc)
{
	if (is_behind_system_call(pc))
		return PLACE_SYSTEM;
	const struct ring *ring = g_agent.ring;
	return pc >= ring->image_start && pc < ring->image_end ? PLACE_INTERPRETER : PLACE_NATIVE;
}

/* The instruction as the interpreter has specialised it (3.11+); before that
 * the collector takes it from the code itself. */
static uint8_t current_opcode(const struct walk_frame *frame)
{
	uint8_t opcode = 0;
	const struct py_layout *layout = &g_agent.layout;
	if (layout->frame_kind != PY_FRAME_OBJECT)
		g_agent.reader.read(&g_agent.reader, frame->code + layout->code_code + frame->offset,
				    &opcode, 1);
	return opcode;
}

bool sample_walk(struct agent_thread *self, const struct walker *walker, uint32_t *count,
		 uint8_t *flags)
{
	*count = 0;
	py_addr state = (py_addr)(uintptr_t)g_agent.this_thread_state();
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
		return false;
	}
	code_identities(walker, self->frames, *count, self->identities);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < *count; i++) {
		if (self->identities[i] == CODE_HIDDEN)
			continue;
		uint32_t id = codes_find(self, self->frames[i].code, self->identities[i]);
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

static void note_cost(struct agent_thread *self, uint64_t begin_ns)
{
	uint64_t cost = now_wall_ns() - begin_ns;
	/* Being switched away in the middle is not our cost. */
	if (cost > 200000)
		cost = self->mean_cost_ns;
	self->last_cost_ns = (uint32_t)cost;
	self->mean_cost_ns = self->mean_cost_ns - self->mean_cost_ns / 32 + (uint32_t)(cost / 32);
	atomic_fetch_add_explicit(&g_agent.ring->agent_ns, cost, memory_order_relaxed);
}

/* Whether a tick that stands for this much is worth a walk.  With perf running
 * ticks are there for kernel time, which perf does not see, and in case perf
 * is not heard; without it they are all there is, as many as we can afford. */
static bool is_tick_due(const struct agent_thread *self, struct weight ticked)
{
	if (self->is_first || g_agent.has_fixed_rate)
		return true;
	if (self->has_perf)
		return ticked.system_ns > 0 || self->skipped_ticks >= SILENT_TICKS_MAX;
	uint64_t spent_ns = (ticked.user_ns + ticked.system_ns) * (self->skipped_ticks + 1);
	return spent_ns >= (uint64_t)self->mean_cost_ns * AGENT_BUDGET;
}

/* What a signal stands for by its own clock; false: it is to be passed over. */
static bool weigh_signal(struct agent_thread *self, bool is_tick, struct weight *nominal)
{
	*nominal = (struct weight){self->period_ns, 0};
	if (is_tick) {
		*nominal = weigher_tick(&self->weigher, now_tally());
		if (!is_tick_due(self, *nominal)) {
			self->skipped_ticks++;
			return false;
		}
		if (!self->has_perf) {
			nominal->user_ns *= self->skipped_ticks + 1;
			nominal->system_ns *= self->skipped_ticks + 1;
		}
	}
	self->skipped_ticks = 0;
	return true;
}

void sample_take(struct agent_thread *self, uint64_t pc, bool is_tick)
{
	uint64_t now_ns = now_wall_ns();
	struct weight nominal;
	if (!weigh_signal(self, is_tick, &nominal))
		return;
	struct record_sample sample = {
		.time_ns = now_ns,
		.pc = pc,
		.thread = self->slot,
		.place = (uint8_t)place_of(pc),
		.flags = is_tick ? SAMPLE_TICK : 0,
		.cost_ns = self->last_cost_ns,
	};
	struct weigher after = self->weigher;
	struct weight weight = weigher_take(&after, now_cpu_ns(), nominal);
	sample.user_ns = weight.user_ns;
	sample.system_ns = weight.system_ns;
	if (self->is_first)
		sample.user_ns += atomic_exchange(&g_agent.ring->carry_ns, 0);

	if (sample_walk(self, &g_agent.walker, &sample.count, &sample.flags)) {
		if (sample.count > 0)
			sample.opcode = current_opcode(&self->frames[0]);
		if (push_sample(self, &sample)) {
			self->weigher = after;
			self->is_first = false;
		}
	}
	if (is_tick ? !self->has_perf : --self->period_left == 0)
		clock_refine(self);
	note_cost(self, now_ns);
}
