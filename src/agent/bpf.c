/* bpf.c - see bpf.h.  What is not known stays so through arithmetic and memory, which filters
 * hardly use; jumps only lead forward, as the kernel demands too, so that each way ends. */
#include "agent/bpf.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define STEPS_MAX 100000u /* of all ways together */
#define OPEN_MAX 128u     /* questions on one way that are answered by both */

struct value {
	uint32_t number;
	bool is_known;
};

/* A place in the filter, and its two registers there. */
struct place {
	size_t at;
	struct value a, x;
};

struct search {
	const struct sock_filter *steps;
	size_t count;
	uint32_t call;
	uint32_t steps_left;
	struct place open[OPEN_MAX]; /* where else a way goes on */
	uint32_t open_count;
};

static struct value known(uint32_t number)
{
	return (struct value){number, true};
}

static struct value unknown(void)
{
	return (struct value){0, false};
}

static struct value given(const struct search *search, uint32_t offset)
{
	if (offset == offsetof(struct seccomp_data, nr))
		return known(search->call);
	if (offset == offsetof(struct seccomp_data, arch))
		return known(OWN_ARCHITECTURE);
	return unknown();
}

static bool is_end(const struct search *search, struct value action)
{
	if (!action.is_known)
		return true;
	switch (action.number & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return false;
	case SECCOMP_RET_ERRNO:
		return search->call == SYS_rt_sigreturn; /* a handler's end cannot fail */
	default:
		return true;
	}
}

static bool holds(uint32_t question, uint32_t a, uint32_t operand)
{
	switch (question) {
	case BPF_JEQ:
		return a == operand;
	case BPF_JGT:
		return a > operand;
	case BPF_JGE:
		return a >= operand;
	default:
		return (a & operand) != 0; /* BPF_JSET */
	}
}

/* False: there are too many questions. */
static bool jump(struct search *search, struct place *now, const struct sock_filter *step)
{
	struct value operand = BPF_SRC(step->code) == BPF_X ? now->x : known(step->k);
	size_t next = now->at + 1;
	if (BPF_OP(step->code) == BPF_JA) {
		now->at = next + step->k;
		return true;
	}
	if (now->a.is_known && operand.is_known) {
		bool is_so = holds(BPF_OP(step->code), now->a.number, operand.number);
		now->at = next + (is_so ? step->jt : step->jf);
		return true;
	}
	if (search->open_count == OPEN_MAX)
		return false;
	search->open[search->open_count] = *now;
	search->open[search->open_count++].at = next + step->jf;
	now->at = next + step->jt;
	return true;
}

static void load(const struct search *search, struct place *now, const struct sock_filter *step)
{
	struct value value = unknown();
	if (BPF_MODE(step->code) == BPF_ABS)
		value = given(search, step->k);
	else if (BPF_MODE(step->code) == BPF_IMM)
		value = known(step->k);
	if (BPF_CLASS(step->code) == BPF_LD)
		now->a = value;
	else
		now->x = value;
}

/* Whether the way from here may end the call. */
static bool may_end_from(struct search *search, struct place now)
{
	while (now.at < search->count && search->steps_left-- > 0) {
		const struct sock_filter *step = &search->steps[now.at];
		switch (BPF_CLASS(step->code)) {
		case BPF_RET:
			return is_end(search, BPF_RVAL(step->code) == BPF_A ? now.a : known(step->k));
		case BPF_JMP:
			if (!jump(search, &now, step))
				return true;
			continue;
		case BPF_LD:
		case BPF_LDX:
			load(search, &now, step);
			break;
		case BPF_ALU:
			now.a = unknown();
			break;
		case BPF_MISC:
			if (BPF_MISCOP(step->code) == BPF_TAX)
				now.x = now.a;
			else
				now.a = now.x;
			break;
		default:
			break; /* ST and STX: what is loaded from memory is not known */
		}
		now.at++;
	}
	return true;
}

bool bpf_may_end(const struct sock_filter *steps, size_t count, uint32_t call)
{
	struct search search = {.steps = steps, .count = count, .call = call, .steps_left = STEPS_MAX};
	/* Both registers begin as 0. */
	search.open[search.open_count++] = (struct place){0, known(0), known(0)};
	while (search.open_count > 0) {
		if (may_end_from(&search, search.open[--search.open_count]))
			return true;
	}
	return false;
}
