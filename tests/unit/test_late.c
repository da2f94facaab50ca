/* test_late.c - ends that are told late are told once, whoever else puts and pushes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>

#include <cmocka.h>

#include "agent/late.h"

#define THREADS 4u
#define EACH (LATE_MAX / 2 / THREADS)
#define ROUNDS 8u

static _Atomic uint32_t told[THREADS * EACH + 1];
static _Atomic uint32_t put_count, lost_count;

static bool take(uint64_t id)
{
	atomic_fetch_add(&told[id], 1);
	return true;
}

static bool refuse(uint64_t id)
{
	(void)id;
	return false;
}

static void test_in_and_out(void **state)
{
	(void)state;
	for (uint64_t id = 1; id <= LATE_MAX; id++)
		assert_true(late_put(id % 100 + 1));
	assert_false(late_put(1));
	assert_int_equal(late_push(refuse), 0);
	assert_false(late_put(1));
	late_drop();
	assert_int_equal(late_push(take), 0);
	assert_int_equal(told[1], 0);
}

static void *put_each(void *first)
{
	for (uint32_t i = 0; i < EACH; i++) {
		if (!late_put((uint64_t)(uintptr_t)first + i))
			atomic_fetch_add(&lost_count, 1);
		atomic_fetch_add(&put_count, 1);
	}
	return NULL;
}

static void *keep_refusing(void *unused)
{
	while (atomic_load(&put_count) < THREADS * EACH)
		atomic_fetch_add(&lost_count, late_push(refuse));
	return unused;
}

static void test_none_is_lost_while_the_ring_is_full(void **state)
{
	(void)state;
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		pthread_t threads[THREADS + 2];
		atomic_store(&put_count, 0);
		for (uint32_t i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, put_each, (void *)(uintptr_t)(i * EACH + 1));
		for (uint32_t i = THREADS; i < THREADS + 2; i++)
			pthread_create(&threads[i], NULL, keep_refusing, NULL);
		for (uint32_t i = 0; i < THREADS + 2; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(lost_count, 0);
		assert_int_equal(late_push(take), 0);
		for (uint32_t id = 1; id <= THREADS * EACH; id++)
			assert_int_equal(told[id], round);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_and_out),
		cmocka_unit_test(test_none_is_lost_while_the_ring_is_full),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
