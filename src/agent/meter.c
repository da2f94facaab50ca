/* meter.c - see meter.h. */
#include "agent/meter.h"

#define SHIFT_MAX 14u /* of 8 KiB: 128 MiB */
#define REFILL_NS 50000000u

/* A window of another size: the marks ahead move apart or together, so that
 * they are again one window apart on average. */
static void change_window(struct meter *meter, uint64_t *left, uint64_t window)
{
	*left = *left * window / meter->window;
	meter->window = window;
}

static void begin(struct meter *meter, uint64_t *left, uint64_t window, uint64_t seed)
{
	/* Seeds that are near each other must not give streams that are. */
	meter->random = (seed ^ seed >> 31) * 0x9e3779b97f4a7c15ull | 1;
	meter->window = window;
	meter_random(meter);
	*left = meter_random(meter) % window;
}

uint64_t meter_take(struct meter *meter, uint64_t *left, uint64_t size, uint64_t window,
		    uint64_t seed)
{
	if (meter->window == 0)
		begin(meter, left, window, seed);
	uint64_t weight = meter_is_steady(meter, size, meter->window) ? meter_pass(meter, left, size)
								      : size;
	if (window != meter->window)
		change_window(meter, left, window);
	return weight;
}

/* --- rate --- */

/* Two threads may do this at the same time: then one change is lost, and made
 * the next time. */
static void widen(struct meter_rate *rate)
{
	uint16_t shift = atomic_load_explicit(&rate->shift, memory_order_relaxed);
	if (shift < SHIFT_MAX)
		atomic_store_explicit(&rate->shift, (uint16_t)(shift + 1), memory_order_relaxed);
}

static void narrow(struct meter_rate *rate)
{
	uint16_t shift = atomic_load_explicit(&rate->shift, memory_order_relaxed);
	if (shift > atomic_load_explicit(&rate->shift_floor, memory_order_relaxed))
		atomic_store_explicit(&rate->shift, (uint16_t)(shift - 1), memory_order_relaxed);
}

void meter_rate_raise_floor(struct meter_rate *rate)
{
	uint16_t least = (uint16_t)(atomic_load(&rate->shift_floor) + 1);
	if (least > SHIFT_MAX)
		return;
	atomic_store(&rate->shift_floor, least);
	if (atomic_load(&rate->shift) < least)
		atomic_store(&rate->shift, least);
}

static void refill(struct meter_rate *rate, const struct meter_budget *budget, uint64_t now_ns)
{
	uint64_t last_ns = atomic_load_explicit(&rate->refilled_ns, memory_order_relaxed);
	bool is_due = last_ns == 0 || now_ns >= last_ns + REFILL_NS;
	if (!is_due || !atomic_compare_exchange_strong(&rate->refilled_ns, &last_ns, now_ns))
		return;
	uint64_t more = (now_ns - last_ns) / 1000000u * budget->per_s / 1000u;
	int64_t tokens = atomic_load(&rate->tokens);
	tokens = last_ns == 0 || more > budget->burst ? budget->burst : tokens + (int64_t)more;
	if (tokens > budget->burst / 2)
		narrow(rate);
	atomic_store(&rate->tokens, (int32_t)(tokens < budget->burst ? tokens : budget->burst));
}

void meter_rate_begin(struct meter_rate *rate, uint32_t tokens, uint64_t now_ns)
{
	atomic_store(&rate->tokens, (int32_t)tokens);
	atomic_store(&rate->refilled_ns, now_ns);
}

void meter_rate_spend(struct meter_rate *rate, const struct meter_budget *budget, int32_t tokens,
		      uint64_t now_ns)
{
	refill(rate, budget, now_ns);
	if (atomic_fetch_sub_explicit(&rate->tokens, tokens, memory_order_relaxed) >= tokens)
		return;
	widen(rate);
	atomic_store_explicit(&rate->tokens, (int32_t)budget->grace, memory_order_relaxed);
}
