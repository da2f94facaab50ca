/* test_live_table.c - blocks come and go in any order, and each is found until it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/live_table.h"

#define MANY 5000u

static struct live entry_of(uint32_t process, uint64_t id)
{
	return (struct live){.key = live_key(process, id), .bytes = id};
}

static void test_keys_tell_processes_apart(void **state)
{
	(void)state;
	assert_int_not_equal(live_key(0, 7), live_key(1, 7));
	assert_true(live_is_of_process(live_key(3, 1ull << 40), 3));
	assert_false(live_is_of_process(live_key(3, 1ull << 40), 2));
}

static void test_come_and_go(void **state)
{
	(void)state;
	struct live_table table;
	live_table_init(&table);
	for (uint64_t id = 1; id <= MANY; id++)
		assert_int_equal(live_table_add(&table, entry_of(id % 3, id))->bytes, id);
	assert_int_equal(table.count, MANY);
	assert_true(table.count <= table.mask / 2 + 1);
	for (uint64_t id = 1; id <= MANY; id += 2)
		live_table_remove(&table, live_table_find(&table, live_key(id % 3, id)));
	for (uint64_t id = 1; id <= MANY; id++) {
		const struct live *found = live_table_find(&table, live_key(id % 3, id));
		assert_int_equal(found->key, id % 2 == 1 ? 0 : live_key(id % 3, id));
		assert_true(id % 2 == 1 || found->bytes == id);
	}
	assert_int_equal(table.count, MANY / 2);
	live_table_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_tell_processes_apart),
		cmocka_unit_test(test_come_and_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
