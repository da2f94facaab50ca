/* test_peak.c - peaks of programs that are known, out of samples as the agent takes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collect/peak.h"

#define ROOM 256u

/* A line whose blocks are sampled once a stretch of bytes, anywhere in it. */
struct line {
	struct peak peak;
	double raw; /* the highest estimate */
	double stretch, left, point; /* of the stretch that goes on */
	double born[ROOM]; /* rounds that live samples belong to */
	uint32_t alive;
	double time_s;
	uint64_t random;
};

static double next_random(struct line *line)
{
	line->random = line->random * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(line->random >> 11) / 9007199254740992.0;
}

/* Drops what came before a round. */
static void drop_before(struct line *line, double round)
{
	uint32_t kept = 0, alive = line->alive;

	for (uint32_t i = 0; i < alive; i++) {
		if (line->born[i] >= round) {
			line->born[kept++] = line->born[i];
			continue;
		}
		peak_pass_time(&line->peak, line->alive * line->stretch, line->time_s);
		line->alive--;
	}
	assert_int_equal(kept, line->alive);
}

static void allocate(struct line *line, double bytes, double round)
{
	for (double block = 1; bytes > 0; bytes -= block) {
		line->time_s += 1e-6;
		if (line->left <= 0) {
			line->left = line->stretch;
			line->point = next_random(line) * line->stretch;
		}
		double before = line->left;
		line->left -= block;
		if (before <= line->point || line->left > line->point)
			continue;
		assert_true(line->alive < ROOM);
		line->born[line->alive++] = round;
		double live = line->alive * line->stretch;
		line->raw = live > line->raw ? live : line->raw;
		peak_grow(&line->peak,
			  &(struct peak_growth){ live, live, line->stretch, line->stretch, 0 },
			  line->time_s);
	}
}

static struct line line_new(double stretch)
{
	return (struct line){ .stretch = stretch, .random = 1 };
}

/* Each round is built while the one before it still lives, so that two do at the most. */
static void test_replaced(void **unused)
{
	(void)unused;
	static const double stretches[] = { 7, 33, 99, 250, 800 };

	for (size_t i = 0; i < sizeof(stretches) / sizeof(stretches[0]); i++) {
		struct line line = line_new(stretches[i]);

		for (int round = 0; round < 4000; round++) {
			allocate(&line, 100, round);
			drop_before(&line, round);
		}
		assert_true(peak_bytes(&line.peak) > 140 && peak_bytes(&line.peak) < 260);
		assert_true(stretches[i] < 99 || line.raw > 290);
	}
}

static void test_dropped(void **unused)
{
	(void)unused;
	static const double stretches[] = { 7, 33, 99, 250 };

	for (size_t i = 0; i < sizeof(stretches) / sizeof(stretches[0]); i++) {
		struct line line = line_new(stretches[i]);

		for (int round = 0; round < 4000; round++) {
			allocate(&line, 100, round);
			drop_before(&line, round + 1);
		}
		assert_true(peak_bytes(&line.peak) > 55 && peak_bytes(&line.peak) < 140);
	}
}

/* What is built once among many smaller rounds is seen, though in part of one round only. */
static void test_once(void **unused)
{
	(void)unused;
	struct line line = line_new(20);

	for (int round = 0; round < 4000; round++) {
		allocate(&line, round == 2000 ? 2000 : 30, round);
		drop_before(&line, round);
	}
	assert_true(peak_bytes(&line.peak) > 1850 && peak_bytes(&line.peak) < 2100);
}

/* Nothing was dropped before: the only estimate of it is that. */
static void test_kept(void **unused)
{
	(void)unused;
	struct line line = line_new(10);

	allocate(&line, 2000, 0);
	assert_float_equal(peak_bytes(&line.peak), line.raw, 1e-9);
	assert_float_equal(line.raw, 2000, 1e-9);
}

/* It was used for something else before, but what it holds at the end, or for long, is no chance. */
static void test_what_stays(void **unused)
{
	(void)unused;
	struct line line = line_new(50);

	for (int round = 0; round < 1000; round++) {
		allocate(&line, 100, round);
		drop_before(&line, round + 1);
	}
	allocate(&line, 1000, 1001);
	double live = line.alive * line.stretch;
	assert_true(peak_bytes(&line.peak) < live);
	struct line lasting = line;
	peak_hold(&line.peak, live);
	assert_float_equal(peak_bytes(&line.peak), live, 1e-9);
	lasting.time_s *= 1.2;
	drop_before(&lasting, 2000);
	assert_float_equal(peak_bytes(&lasting.peak), live, 1e-9);
}

/* What is kept beside it does not go up and down with what comes and goes. */
static void test_beside_what_is_kept(void **unused)
{
	(void)unused;
	struct line line = line_new(25);

	allocate(&line, 5000, 1e9);
	for (int round = 0; round < 400; round++) {
		allocate(&line, 100, round);
		uint32_t kept = 0;
		for (uint32_t i = 0; i < line.alive; i++)
			kept += line.born[i] > 1e8;
		peak_pass_time(&line.peak, line.alive * line.stretch, line.time_s);
		line.alive = kept; /* kept ones were first */
	}
	assert_true(peak_bytes(&line.peak) > 5050 && peak_bytes(&line.peak) < 5250);
}

/* Blocks that stand for themselves are not doubted, however often they come and go. */
static void test_exact(void **unused)
{
	(void)unused;
	struct peak peak = { .sure = 0 };
	double time_s = 0;

	assert_float_equal(peak_bytes(&peak), 0, 1e-9);
	for (int i = 0; i < 1000; i++) {
		double bytes = i == 500 ? 700 : 50;

		time_s += 0.01;
		peak_grow(&peak, &(struct peak_growth){ bytes, 0, bytes, 0, 0 }, time_s);
		peak_pass_time(&peak, bytes, time_s + 0.001);
	}
	assert_float_equal(peak_bytes(&peak), 700, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replaced), cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_once),	 cmocka_unit_test(test_kept),
		cmocka_unit_test(test_what_stays), cmocka_unit_test(test_exact),
		cmocka_unit_test(test_beside_what_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
