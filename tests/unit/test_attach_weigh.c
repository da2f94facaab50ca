/* test_attach_weigh.c - what looks at a running thread stand for: the kernel's
 * clock moves in jumps, and each belongs to the looks before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/attach_parts.h"

#define MS 1000000ull
#define START (1000 * MS)

struct session {
	struct run_options run;
	struct attach attach;
	struct thread kept;
	struct attach_thread thread;
	FILE *clock; /* stands for the thread's schedstat file */
	uint32_t nodes[2];
};

static struct session *begin(void)
{
	struct session *session = calloc(1, sizeof(*session));
	assert_non_null(session);
	session->clock = tmpfile();
	assert_non_null(session->clock);
	session->attach.collector = collector_new(&session->run);
	session->attach.period_ns = MS;
	session->kept.row = TIMELINE_NO_ROW;
	session->kept.schedstat_fd = fileno(session->clock);
	session->thread.thread = &session->kept;
	session->thread.cpu_part = 1;
	bool is_new;
	const struct code_info info = {.filename = "a.py", .filename_size = 4, .qualname = "f", .qualname_size = 1};
	uint32_t code = codes_add(&session->attach.collector->codes, &info, 0x030d, &is_new);
	for (uint32_t i = 0; i < 2; i++)
		session->nodes[i] = tree_add(&session->attach.collector->tree,
					     &(struct tree_frame){code, 2 * i}, 1, 0);
	return session;
}

static void end(struct session *session)
{
	vec_free(&session->thread.due);
	collector_free(session->attach.collector);
	fclose(session->clock);
	free(session);
}

static void set_clock(struct session *session, uint64_t ns)
{
	char text[40];
	int size = snprintf(text, sizeof(text), "%llu 0 0\n", (unsigned long long)ns);
	assert_int_equal(pwrite(fileno(session->clock), text, (size_t)size, 0), size);
}

/* A look after another millisecond. */
static void look(struct session *session, uint64_t at_ms, uint32_t node)
{
	struct attach_due due = {.time_ns = START + at_ms * MS, .node = session->nodes[node],
				 .kind = TIMELINE_PYTHON};
	attach_add_due(&session->attach, &session->thread, &due, MS);
	attach_weigh(&session->attach, &session->thread, due.time_ns);
}

static uint64_t booked(const struct session *session, uint32_t node)
{
	return tree_weights(&session->attach.collector->tree, session->nodes[node])->python_ns;
}

/* Three looks at one place and one at another, then 4 ms at once. */
static void test_jump(void **unused)
{
	(void)unused;
	struct session *session = begin();
	set_clock(session, 50 * MS);
	look(session, 0, 0);
	for (uint32_t i = 1; i < 4; i++)
		look(session, i, 0);
	assert_int_equal(booked(session, 0), 0);
	set_clock(session, 54 * MS);
	look(session, 4, 1);
	/* Of the millisecond before the clock was first read nothing is known. */
	assert_in_range(booked(session, 0) + booked(session, 1), 4 * MS - 10, 5 * MS);
	assert_in_range(booked(session, 0), 4 * booked(session, 1) - 10, 4 * booked(session, 1) + 10);
	end(session);
}

/* It stood for 10 ms without a CPU, then ran for 2. */
static void test_without_a_cpu(void **unused)
{
	(void)unused;
	struct session *session = begin();
	set_clock(session, 50 * MS);
	for (uint32_t i = 0; i < 10; i++)
		look(session, i, 0);
	look(session, 10, 1);
	look(session, 11, 1);
	set_clock(session, 52 * MS);
	look(session, 12, 1);
	assert_true(booked(session, 1) >= 2 * MS);
	assert_true(booked(session, 0) <= booked(session, 1) / 2);
	end(session);
}

/* The kernel tells nothing: all time counts. */
static void test_no_clock(void **unused)
{
	(void)unused;
	struct session *session = begin();
	session->kept.schedstat_fd = -1;
	for (uint32_t i = 0; i < 10; i++)
		look(session, i, i % 2);
	attach_weigh_now(&session->attach, &session->thread, START + 10 * MS);
	assert_true(booked(session, 0) + booked(session, 1) >= 8 * MS);
	end(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jump),
		cmocka_unit_test(test_without_a_cpu),
		cmocka_unit_test(test_no_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
