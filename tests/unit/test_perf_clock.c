/* test_perf_clock.c - samples out of a ring: whole ones are taken, and what cannot be one is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "base/clock.h"
#include "remote/perf_clock.h"

#if defined(__x86_64__)
#define REGISTER_COUNT 16u
#elif defined(__aarch64__)
#define REGISTER_COUNT 31u
#else
#define REGISTER_COUNT 0u
#endif

#define STACK_WORDS 4u
#define WORDS (5u + REGISTER_COUNT + 1u + STACK_WORDS + 1u)
#define FILLED_AT (WORDS - 1u)
#define STACK_SIZE_AT (5u + REGISTER_COUNT)

/* A record as the kernel makes it. */
struct made {
	uint64_t words[WORDS];
};

static void set_head(struct made *made, unsigned mode, size_t size)
{
	struct perf_event_header head = {.type = PERF_RECORD_SAMPLE, .misc = (uint16_t)mode, .size = (uint16_t)size};
	memcpy(made->words, &head, sizeof(head));
}

static struct made make(void)
{
	struct made made = {.words = {0}};
	set_head(&made, PERF_RECORD_MISC_USER, sizeof(made));
	made.words[1] = 0x1234; /* program counter */
	made.words[3] = 99;     /* time */
	made.words[4] = PERF_SAMPLE_REGS_ABI_64;
	for (uint32_t i = 0; i < REGISTER_COUNT; i++)
		made.words[5 + i] = 100 + i;
	made.words[STACK_SIZE_AT] = STACK_WORDS * 8;
	for (uint32_t i = 0; i < STACK_WORDS; i++)
		made.words[STACK_SIZE_AT + 1 + i] = 200 + i;
	made.words[FILLED_AT] = 3 * 8;
	return made;
}

static bool parse(const struct made *made, size_t size, struct perf_sample *sample)
{
	/* On the heap, so that a read behind its end is found. */
	unsigned char *copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, made, size);
	bool is_sample = perf_sample_parse(copy, size, sample);
	free(copy);
	return is_sample;
}

static void test_a_whole_sample(void **state)
{
	(void)state;
	struct perf_sample sample;
	struct made made = make();
	assert_true(parse(&made, sizeof(made), &sample));
	assert_false(sample.is_kernel);
	assert_int_equal(sample.pc, 0x1234);
	assert_int_equal(sample.time_ns, 99);
	/* Of the stack only what was filled. */
	assert_int_equal(sample.word_count, REGISTER_COUNT + 3);
	assert_int_equal(sample.words[REGISTER_COUNT], 200);
	assert_int_equal(sample.words[REGISTER_COUNT + 2], 202);
	set_head(&made, PERF_RECORD_MISC_KERNEL, sizeof(made));
	assert_true(parse(&made, sizeof(made), &sample));
	assert_true(sample.is_kernel);
}

static void test_no_user_side(void **state)
{
	(void)state;
	struct perf_sample sample;
	struct made made = make();
	set_head(&made, PERF_RECORD_MISC_KERNEL, 48);
	made.words[4] = PERF_SAMPLE_REGS_ABI_NONE;
	made.words[5] = 0; /* no stack */
	assert_true(parse(&made, 48, &sample));
	assert_int_equal(sample.word_count, 0);
}

static void test_records_that_are_cut(void **state)
{
	(void)state;
	struct perf_sample sample;
	for (size_t size = 0; size < sizeof(struct made); size++) {
		struct made made = make();
		set_head(&made, PERF_RECORD_MISC_USER, size);
		assert_false(parse(&made, size, &sample));
	}
}

static void test_sizes_that_cannot_be(void **state)
{
	(void)state;
	static const uint64_t wrong[] = {4, 8 * (STACK_WORDS + 1), 1ull << 32, UINT64_MAX, UINT64_MAX - 7};
	struct perf_sample sample;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct made made = make();
		made.words[STACK_SIZE_AT] = wrong[i];
		assert_false(parse(&made, sizeof(made), &sample));
		made = make();
		made.words[FILLED_AT] = wrong[i];
		assert_true(!parse(&made, sizeof(made), &sample) || wrong[i] <= STACK_WORDS * 8);
	}
}

static void test_other_records(void **state)
{
	(void)state;
	struct perf_sample sample;
	struct made made = make();
	struct perf_event_header head = {.type = PERF_RECORD_LOST, .size = sizeof(made)};
	memcpy(made.words, &head, sizeof(head));
	assert_false(parse(&made, sizeof(made), &sample));
	set_head(&made, PERF_RECORD_MISC_HYPERVISOR, sizeof(made));
	assert_false(parse(&made, sizeof(made), &sample));
}

/* Where it is permitted; elsewhere it has to say so. */
static void test_our_own_clock(void **state)
{
	(void)state;
	struct perf_clock clock;
	struct perf_sample *sample = malloc(sizeof(*sample));
	assert_non_null(sample);
	uint32_t samples = 0;
	if (perf_clock_open(&clock, 0, 1000000, false) == PERF_CLOCK_OK) {
		uint64_t last_ns = clock_monotonic_ns(), end_cpu_ns = clock_thread_cpu_ns() + 100000000;
		/* More than the ring holds, so it goes round. */
		while (clock_thread_cpu_ns() < end_cpu_ns) {
			if (!perf_clock_next(&clock, sample))
				continue;
			samples++;
			assert_false(sample->is_kernel);
			assert_true(sample->time_ns >= last_ns && sample->time_ns <= clock_monotonic_ns());
			assert_true(sample->word_count > REGISTER_COUNT);
			last_ns = sample->time_ns;
			perf_clock_set_period(&clock, 900000 + samples);
		}
		assert_true(samples > 0);
		perf_clock_close(&clock);
	}
	/* No process has this number. */
	assert_int_not_equal(perf_clock_open(&clock, 0x7ffffff0, 1000000, false), PERF_CLOCK_OK);
	free(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_sample),
		cmocka_unit_test(test_no_user_side),
		cmocka_unit_test(test_records_that_are_cut),
		cmocka_unit_test(test_sizes_that_cannot_be),
		cmocka_unit_test(test_other_records),
		cmocka_unit_test(test_our_own_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
