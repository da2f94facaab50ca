/* test_watch.c - time off the CPU: what is waiting, and what only looks like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "collect/waited.h"
#include "collect/watch.h"

#define MS 1000000ull

/* A process with one thread; files stand for what the kernel tells of it. */
struct watched {
	struct run_options run;
	struct collector *collector;
	struct process process;
	struct thread thread;
	FILE *schedstat, *syscall;
};

static struct ring ring; /* nothing is read from it */

static struct watched *begin(uint64_t start_ns)
{
	struct watched *watched = calloc(1, sizeof(*watched));
	assert_non_null(watched);
	watched->collector = collector_new(&watched->run);
	watched->schedstat = tmpfile();
	watched->syscall = tmpfile();
	assert_non_null(watched->schedstat);
	assert_non_null(watched->syscall);
	fputs("running\n", watched->syscall);
	fflush(watched->syscall);
	watched->process.ring = &ring;
	watched->process.state = RING_ACTIVE;
	watched->thread = (struct thread){.is_main = true, .row = TIMELINE_NO_ROW, .start_ns = start_ns,
					  .schedstat_fd = fileno(watched->schedstat),
					  .syscall_fd = fileno(watched->syscall)};
	vec_push(&watched->process.threads, &watched->thread);
	vec_push(&watched->collector->processes, &watched->process);
	return watched;
}

/* A look that finds the thread ready or running, after so much of either. */
static void look(struct watched *watched, uint64_t ran_ms, uint64_t ready_ms)
{
	rewind(watched->schedstat);
	fprintf(watched->schedstat, "%llu %llu 1\n", (unsigned long long)(ran_ms * MS),
		(unsigned long long)(ready_ms * MS));
	fflush(watched->schedstat);
	watch_round(watched->collector);
}

static void end_process(struct watched *watched)
{
	watched->thread.schedstat_fd = watched->thread.syscall_fd = -1;
	watch_end(watched->collector, &watched->process, &watched->thread, clock_monotonic_ns());
}

static void free_watched(struct watched *watched)
{
	watched->collector->processes.count = 0;
	collector_free(watched->collector);
	vec_free(&watched->process.threads);
	fclose(watched->schedstat);
	fclose(watched->syscall);
	free(watched);
}

/* Returns what it has waited in all. */
static uint64_t end(struct watched *watched)
{
	end_process(watched);
	uint64_t waited_ns = watched->thread.off_ns;
	free_watched(watched);
	return waited_ns;
}

/* The kernel says how long a thread was ready when it gets a CPU: before that the
 * time is missing in what it tells, as if the thread had waited. */
static void test_standing_ready_is_no_waiting(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 1000 * MS);
	look(watched, 600, 400);
	look(watched, 1600, 400);
	watched->thread.start_ns -= 1150 * MS; /* since then it has been ready, untold */
	look(watched, 1601, 400);
	assert_true(watched->thread.pending_off_ns > 90 * MS);
	assert_true(end(watched) < 10 * MS);
}

/* Waits that are too short to be met add up, and are told at every look. */
static void test_short_waits_count(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 1000 * MS);
	look(watched, 600, 100);
	look(watched, 601, 100);
	look(watched, 602, 100);
	uint64_t waited_ns = end(watched);
	assert_in_range(waited_ns, 290 * MS, 5000 * MS);
}

/* What they were for nobody saw: it is not what an earlier one was for, nor a lock. */
static void test_short_waits_are_for_something_else(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 1000 * MS);
	struct tree *tree = &watched->collector->tree;
	const struct code_info info = {.filename = "a.py", .filename_size = 4, .qualname = "f", .qualname_size = 1};
	bool is_new;
	uint32_t code = codes_add(&watched->collector->codes, &info, 0x030d, &is_new);
	watched->process.main_node = tree_add(tree, &(struct tree_frame){.code = code}, 1, 0);
	watched->thread.counts_waiting = true;
	watched->thread.wait_kind = WAIT_SLEEP;
	look(watched, 600, 100);
	look(watched, 601, 100);
	end_process(watched);
	const struct tree_weights *booked = tree_weights(tree, watched->process.main_node);
	assert_in_range(booked->wait_ns, 290 * MS, 5000 * MS);
	assert_int_equal(booked->wait_kind, WAIT_OTHER);
	free_watched(watched);
}

/* A sample of 5 ms of the interpreter's start, which needs no stack. */
static void take_sample(struct watched *watched, uint64_t time_ns, enum timeline_kind kind)
{
	watched->process.main_samples[watched->thread.samples++ % RECENT_SAMPLES] =
		(struct recent_sample){.time_ns = time_ns, .cpu_ns = 5 * MS, .node = TREE_ROOT, .kind = kind};
}

/* So many, of which the clock tells nothing. */
static void take_samples(struct watched *watched, uint32_t count, enum timeline_kind kind)
{
	for (uint32_t i = 0; i < count; i++)
		take_sample(watched, 0, kind);
}

/* Time ready to run is of the samples between the two looks that it was found by, not of those
 * before or after. */
static void test_time_ready_is_of_its_samples(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 2000 * MS);
	struct tree_weights *booked = &watched->collector->startup;
	take_samples(watched, 20, TIMELINE_PYTHON);
	look(watched, 100, 0);
	assert_int_equal(booked->python_ns, 0);
	take_samples(watched, 20, TIMELINE_NATIVE);
	look(watched, 200, 300);
	assert_int_equal(booked->python_ns, 0);
	assert_int_equal(booked->native_ns, 300 * MS);
	/* Two samples are too few: six before them have a part too. */
	take_samples(watched, 2, TIMELINE_PYTHON);
	look(watched, 210, 380);
	assert_int_equal(booked->python_ns, 20 * MS);
	assert_int_equal(booked->native_ns, 360 * MS);
	/* Without any it waits for the next. */
	look(watched, 210, 400);
	take_samples(watched, 8, TIMELINE_PYTHON);
	assert_int_equal(booked->python_ns, 20 * MS);
	look(watched, 250, 400);
	assert_int_equal(booked->python_ns, 40 * MS);
	assert_int_equal(watched->collector->delay_ns, 400 * MS);
	end(watched);
}

/* Of many samples in one lump those have it that stand apart by the clock. */
static void test_time_ready_is_where_the_clock_says(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 2000 * MS);
	struct tree_weights *booked = &watched->collector->startup;
	uint64_t time_ns = 1000 * MS;
	for (uint32_t i = 0; i < 40; i++) {
		bool is_beside_others = i >= 24;
		time_ns += (is_beside_others ? 15 : 5) * MS;
		take_sample(watched, time_ns, is_beside_others ? TIMELINE_NATIVE : TIMELINE_PYTHON);
	}
	look(watched, 200, 160);
	assert_int_equal(booked->native_ns, 160 * MS);
	assert_int_equal(booked->python_ns, 0);
	end(watched);
}

/* What came after the last look the process has said itself. */
static void test_time_ready_at_the_end(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 2000 * MS);
	struct tree_weights *booked = &watched->collector->startup;
	take_samples(watched, 8, TIMELINE_PYTHON);
	look(watched, 100, 40);
	take_samples(watched, 8, TIMELINE_NATIVE);
	watched->process.exit_delay_ns = 90 * MS;
	watched->thread.look_ns -= 500 * MS;
	end_process(watched);
	assert_int_equal(booked->python_ns, 40 * MS);
	assert_int_equal(booked->native_ns, 50 * MS);
	free_watched(watched);
}

/* After each wait a thread stands ready; without samples that is of the wait. */
static void test_time_ready_of_a_waiting_thread_is_waiting(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 2000 * MS);
	struct tree_weights *booked = &watched->collector->startup;
	watched->thread.counts_waiting = true;
	watched->thread.wait_kind = WAIT_SLEEP;
	look(watched, 600, 100);
	watched->thread.is_waiting = true;
	look(watched, 600, 500);
	assert_in_range(booked->wait_ns, 1400 * MS, 1800 * MS);
	assert_int_equal(watched->collector->delay_ns, 0);
	uint64_t waited_ns = booked->wait_ns;
	watched->thread.is_waiting = true;
	look(watched, 600, 500);
	assert_in_range(booked->wait_ns, waited_ns, waited_ns + 400 * MS); /* and not again */
	end(watched);
}

/* What an earlier collector has seen and booked as such a wait is not booked to samples, too. */
static void test_time_ready_is_not_booked_twice_after_another_collector(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 2000 * MS);
	watched->thread.counts_waiting = true;
	watch_ready_again(watched->collector, &watched->process, &watched->thread, 300 * MS);
	watch_book_again(watched->collector, &watched->process, &watched->thread, TREE_ROOT,
			 clock_monotonic_ns(), 700 * MS);
	assert_int_equal(watched->collector->startup.wait_ns, 700 * MS);
	assert_int_equal(watched->thread.pending_delay_ns, 0);
	end(watched);
}

static uint32_t add_node(struct watched *watched, uint32_t offset)
{
	static const struct code_info info = {.filename = "a.py", .filename_size = 4, .qualname = "f",
					      .qualname_size = 1};
	bool is_new;
	uint32_t code = codes_add(&watched->collector->codes, &info, 0x030d, &is_new);
	return tree_add(&watched->collector->tree, &(struct tree_frame){.code = code, .offset = offset},
			1, 0);
}

/* --- the rest of a wait --- */

/* A main thread that was met waiting for 400 of its 600 ms, and computes at another line since;
 * returns where it waited. */
static uint32_t meet_and_compute(struct watched *watched)
{
	uint32_t node = add_node(watched, 2);
	watched->thread.counts_waiting = true;
	watched->thread.wait_kind = WAIT_SLEEP;
	watched->thread.pending_off_ns = 400 * MS;
	waited_book(watched->collector, &watched->process, &watched->thread, node, clock_monotonic_ns());
	watched->process.main_node = add_node(watched, 4);
	return node;
}

static uint64_t wait_ms(struct watched *watched, uint32_t node)
{
	return (tree_weights(&watched->collector->tree, node)->wait_ns + MS / 2) / MS;
}

/* A wait goes on for a while after the last look that met it: that is not of the line that the thread computes
 * at when the program ends. */
static void test_the_rest_of_a_wait_is_of_it(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 600 * MS);
	uint32_t node = meet_and_compute(watched);
	look(watched, 175, 0);
	look(watched, 176, 0);
	look(watched, 177, 0);
	end_process(watched);
	assert_in_range(wait_ms(watched, node), 422, 500);
	assert_int_equal(tree_weights(&watched->collector->tree, node)->wait_kind, WAIT_SLEEP);
	assert_int_equal(wait_ms(watched, add_node(watched, 4)), 0);
	free_watched(watched);
}

/* Little that comes later, of a thread that was met computing, is of what it computes. */
static void test_what_comes_after_the_rest_is_not_of_the_wait(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 600 * MS);
	uint32_t node = meet_and_compute(watched), line = watched->process.main_node;
	look(watched, 199, 0);
	look(watched, 200, 0);
	watched->thread.start_ns -= 112 * MS; /* since then it has run for 100 */
	watched->thread.end_cpu_ns = 300 * MS;
	watched->thread.end_delay_ns = 1;
	end_process(watched);
	assert_in_range(wait_ms(watched, node), 400, 410);
	assert_in_range(wait_ms(watched, line), 11, 14);
	assert_int_equal(tree_weights(&watched->collector->tree, line)->wait_kind, WAIT_OTHER);
	free_watched(watched);
}

/* A thread that waited at the last look has run since, by what it says: that is no waiting. */
static void test_what_ran_after_a_wait_is_no_waiting(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 600 * MS);
	uint32_t node = meet_and_compute(watched);
	watched->thread.look_cpu_ns = 110 * MS;
	watched->thread.look_ns = clock_monotonic_ns() - 90 * MS;
	watched->thread.end_cpu_ns = 180 * MS;
	watched->thread.end_delay_ns = 10 * MS;
	end_process(watched);
	assert_in_range(wait_ms(watched, node), 410, 420);
	assert_int_equal(wait_ms(watched, add_node(watched, 4)), 0);
	free_watched(watched);
}

/* A thread that stands ready after a wait looks as if it waited on: what was booked so is not
 * booked to its samples, too, when the kernel tells how long that was. */
static void test_time_ready_that_was_waiting_is_booked_once(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns() - 600 * MS);
	struct tree_weights *booked = &watched->collector->startup;
	uint32_t node = meet_and_compute(watched);
	look(watched, 200, 0);
	watched->thread.start_ns -= 50 * MS;
	take_samples(watched, 8, TIMELINE_PYTHON);
	look(watched, 210, 300); /* 260 of them at most since it was met */
	assert_in_range(booked->python_ns, 40 * MS, 60 * MS);
	assert_int_equal(watched->thread.pending_delay_ns, 0);
	end_process(watched);
	assert_int_equal(wait_ms(watched, node), 400);
	free_watched(watched);
}

/* --- short-lived threads --- */

/* A thread that lived for so long, of which it says that it computed and stood ready for a part;
 * node: where a look met it; TREE_ROOT: none did.  Returns what it is said to have waited. */
static uint64_t live_short(struct watched *watched, uint64_t life_ms, uint64_t cpu_ms,
			   uint64_t delay_ms, uint32_t node, uint32_t looks)
{
	uint64_t end_ns = clock_monotonic_ns();
	struct thread thread = {.row = TIMELINE_NO_ROW, .schedstat_fd = -1, .syscall_fd = -1,
				.start_ns = end_ns - life_ms * MS, .looks = looks,
				.end_cpu_ns = cpu_ms * MS + 1, .end_delay_ns = delay_ms * MS};
	if (node != TREE_ROOT) {
		thread.wait_kind = WAIT_SLEEP;
		thread.pending_off_ns = (life_ms - cpu_ms - delay_ms) * MS;
		thread.look_ns = end_ns;
		waited_book(watched->collector, &watched->process, &thread, node, end_ns);
	}
	watch_end(watched->collector, &watched->process, &thread, end_ns);
	return thread.off_ns;
}

static uint64_t idle_ms(struct watched *watched, uint32_t node)
{
	return (tree_weights(&watched->collector->tree, node)->idle_ns + MS / 2) / MS;
}

static void free_short(struct watched *watched)
{
	free(watched->process.unmet_threads);
	end(watched);
}

/* Who was gone before a look has waited where its like were met; its own figure is its own. */
static void test_short_threads_stand_for_each_other(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns());
	uint32_t node = add_node(watched, 2);
	assert_in_range(live_short(watched, 40, 5, 15, TREE_ROOT, 0), 19 * MS, 20 * MS);
	assert_int_equal(waited_settle(watched->collector) / MS, 19); /* none was met yet */
	live_short(watched, 20, 0, 0, node, 1);
	assert_int_equal(waited_settle(watched->collector), 0);
	assert_int_equal(idle_ms(watched, node), 40);
	live_short(watched, 30, 0, 0, TREE_ROOT, 0);
	assert_int_equal(waited_settle(watched->collector), 0);
	assert_int_equal(idle_ms(watched, node), 70);
	assert_int_equal(tree_weights(&watched->collector->tree, node)->wait_kind, WAIT_SLEEP);
	free_short(watched);
}

/* Each meeting is a sample of as much time, whether those that it stands for wait long or not,
 * and whoever ends first. */
static void test_each_meeting_has_an_equal_part(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns());
	uint32_t longer = add_node(watched, 2), shorter = add_node(watched, 4);
	for (uint32_t i = 0; i < 30; i++) { /* looks every 30 ms: 20 of 30 are met, and 4 of 30 */
		live_short(watched, 4, 0, 0, i % 15 < 2 ? shorter : TREE_ROOT, i % 15 < 2);
		live_short(watched, 20, 0, 0, i % 3 < 2 ? longer : TREE_ROOT, i % 3 < 2);
	}
	assert_int_equal(waited_settle(watched->collector), 0);
	assert_in_range(idle_ms(watched, longer), 580, 620);
	assert_in_range(idle_ms(watched, shorter), 100, 140);
	free_short(watched);
}

/* Of a row, or of all: what the table of idle threads has. */
static uint64_t on_row_ns(struct watched *watched, uint32_t row)
{
	uint32_t count;
	uint64_t ns = 0;
	struct stack_part *list = timeline_list(&watched->collector->timeline.idle, &count);
	for (uint32_t i = 0; i < count; i++)
		ns += row == TIMELINE_NO_ROW || list[i].part == row ? list[i].us : 0;
	free(list);
	return ns;
}

/* Who waited at a place is told for all of that time, and of no thread is more told than it has lived:
 * not of one that was met, nor of one that others were joined to before it was shared out. */
static void test_what_is_shared_out_is_its_threads_own(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns());
	uint32_t node = add_node(watched, 2), other = add_node(watched, 4);
	for (uint32_t i = 0; i < 4; i++) /* rows 0 to 3 */
		live_short(watched, 20, 0, 0, TREE_ROOT, 0);
	const uint32_t moved_to[] = {0, 3, 3, 3};
	waited_move_rows(&watched->process, moved_to, 4);
	live_short(watched, 20, 0, 0, node, 1);
	live_short(watched, 30, 0, 0, other, 1);
	assert_int_equal(waited_settle(watched->collector), 0);
	assert_int_equal(idle_ms(watched, node) + idle_ms(watched, other), 130);
	uint64_t idle_ns = tree_weights(&watched->collector->tree, node)->idle_ns +
			   tree_weights(&watched->collector->tree, other)->idle_ns;
	assert_int_equal(on_row_ns(watched, TIMELINE_NO_ROW), idle_ns);
	static const uint64_t lived_ms[] = {20, 0, 0, 60, 20, 30};
	for (uint32_t row = 0; row < 6; row++)
		assert_int_equal((on_row_ns(watched, row) + MS / 2) / MS, lived_ms[row]);
	free_short(watched);
}

/* A thread that could not have been missed stands for no other. */
static void test_long_threads_stand_for_themselves(void **state)
{
	(void)state;
	struct watched *watched = begin(clock_monotonic_ns());
	uint32_t node = add_node(watched, 2);
	live_short(watched, 20, 0, 0, TREE_ROOT, 0);
	live_short(watched, 100, 0, 0, node, 3);
	assert_int_equal(waited_settle(watched->collector) / MS, 19);
	assert_int_equal(idle_ms(watched, node), 100);
	free_short(watched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standing_ready_is_no_waiting),
		cmocka_unit_test(test_short_waits_count),
		cmocka_unit_test(test_short_waits_are_for_something_else),
		cmocka_unit_test(test_time_ready_is_of_its_samples),
		cmocka_unit_test(test_time_ready_is_where_the_clock_says),
		cmocka_unit_test(test_time_ready_at_the_end),
		cmocka_unit_test(test_time_ready_of_a_waiting_thread_is_waiting),
		cmocka_unit_test(test_time_ready_is_not_booked_twice_after_another_collector),
		cmocka_unit_test(test_the_rest_of_a_wait_is_of_it),
		cmocka_unit_test(test_what_comes_after_the_rest_is_not_of_the_wait),
		cmocka_unit_test(test_what_ran_after_a_wait_is_no_waiting),
		cmocka_unit_test(test_time_ready_that_was_waiting_is_booked_once),
		cmocka_unit_test(test_short_threads_stand_for_each_other),
		cmocka_unit_test(test_each_meeting_has_an_equal_part),
		cmocka_unit_test(test_what_is_shared_out_is_its_threads_own),
		cmocka_unit_test(test_long_threads_stand_for_themselves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
