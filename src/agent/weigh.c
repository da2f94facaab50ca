/* weigh.c - see weigh.h. */
#include "agent/weigh.h"

/* A sample carries this part of the balance with it. */
#define BALANCE_SHARE 16
/* A larger balance means that the clocks were not heard for a while. */
#define BALANCE_MAX_NS 50000000

void weigher_init(struct weigher *weigher, uint64_t cpu_ns, struct weight tally)
{
	*weigher = (struct weigher){.cpu_ns = cpu_ns, .tally = tally};
}

static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static uint64_t sum(struct weight weight)
{
	return weight.user_ns + weight.system_ns;
}

struct weight weigher_tick(struct weigher *weigher, struct weight tally)
{
	struct weight ticked = {grown(weigher->tally.user_ns, tally.user_ns),
				grown(weigher->tally.system_ns, tally.system_ns)};
	weigher->tally = tally;
	weigher->ticked_ns += sum(ticked);
	return ticked;
}

void weigher_hear(struct weigher *weigher, struct weight tally)
{
	weigher->ticked_ns += grown(sum(weigher->tally), sum(tally));
}

static int64_t balance_after(const struct weigher *weigher, uint64_t cpu_ns, struct weight nominal)
{
	return weigher->balance_ns + (int64_t)grown(weigher->cpu_ns, cpu_ns) - (int64_t)sum(nominal);
}

bool weigher_is_behind(const struct weigher *weigher, uint64_t cpu_ns, struct weight nominal)
{
	return balance_after(weigher, cpu_ns, nominal) > BALANCE_MAX_NS;
}

/* What is added to a weight to bring the balance towards zero; lost_ns: what the thread has
 * worked unheard. */
static int64_t correction(int64_t balance_ns, int64_t weight_ns, int64_t lost_ns)
{
	if (balance_ns > BALANCE_MAX_NS && lost_ns > BALANCE_MAX_NS)
		return lost_ns < balance_ns ? lost_ns : balance_ns;
	int64_t part = balance_ns / BALANCE_SHARE;
	return part < -weight_ns / 2 ? -weight_ns / 2 : part;
}

struct weight weigher_take(struct weigher *weigher, uint64_t cpu_ns, struct weight nominal)
{
	uint64_t *larger = nominal.system_ns > nominal.user_ns ? &nominal.system_ns : &nominal.user_ns;
	int64_t lost_ns = (int64_t)weigher->ticked_ns - (int64_t)sum(nominal);
	weigher->balance_ns = balance_after(weigher, cpu_ns, nominal);
	weigher->ticked_ns = 0;
	if (cpu_ns > weigher->cpu_ns)
		weigher->cpu_ns = cpu_ns;
	int64_t more_ns = correction(weigher->balance_ns, (int64_t)*larger, lost_ns);
	*larger += (uint64_t)more_ns;
	weigher->balance_ns -= more_ns;
	return nominal;
}

int64_t weigher_rest_ns(const struct weigher *weigher, uint64_t cpu_ns)
{
	return weigher->balance_ns + (int64_t)grown(weigher->cpu_ns, cpu_ns);
}
