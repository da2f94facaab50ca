/* test_code_ids.c - each code object is told once, and known by its number from then on. */
#include <sys/mman.h>

#include "agent/agent.h"
#include "agent/codes.h"
#include "fake_python.h"

#define MANY 3000u
#define MANY_BASE 0x40000000u /* code objects that all have the contents of the first */

struct agent g_agent;

/* Reads what is at one of the many from where the first is. */
static bool read_any(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	const struct fake *fake = reader->context;
	if (addr >= MANY_BASE)
		addr = fake_code(0) + (addr & 0x3ff);
	return fake->reader.read(&fake->reader, addr, dst, size);
}

static py_addr one_of_many(uint32_t index)
{
	return MANY_BASE + index * 0x400u;
}

struct scene {
	struct fake *fake;
	struct mem_reader reader;
	struct walker walker;
	struct agent_thread *self;
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct fake *fake = scene->fake = fake_new_code(0x030c);
	scene->reader = (struct mem_reader){.read = read_any, .read_many = mem_reader_read_each,
					    .context = fake};
	scene->walker = fake->walker;
	scene->walker.reader = &scene->reader;
	scene->self = calloc(1, sizeof(*scene->self));
	g_agent.ring = mmap(NULL, sizeof(struct ring), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(g_agent.ring, MAP_FAILED);
	atomic_store(&g_agent.ring->room, RING_BYTES);
	assert_int_equal(codes_reset(), 0);
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;
	munmap(g_agent.ring, sizeof(struct ring));
	fake_free(scene->fake);
	free(scene->self);
	free(scene);
	return 0;
}

static uint32_t find(struct scene *scene, uint32_t index, uint32_t identity)
{
	return codes_find(scene->self, &scene->walker, one_of_many(index), identity);
}

static uint64_t told_bytes(void)
{
	return atomic_load(&g_agent.ring->head);
}

/* More than have their place among the first. */
static void test_each_is_told_once(void **state)
{
	struct scene *scene = *state;
	uint32_t ids[MANY];
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t before = told_bytes();
		ids[i] = find(scene, i, 7);
		assert_int_not_equal(ids[i], CODE_ID_NONE);
		assert_true(told_bytes() > before);
		assert_true(i == 0 || ids[i] == ids[i - 1] + 1);
	}
	uint64_t told = told_bytes();
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(find(scene, i, 7), ids[i]);
	assert_int_equal(told_bytes(), told);
}

/* Another code object at the address of one that has gone. */
static void test_another_at_its_place(void **state)
{
	struct scene *scene = *state;
	uint32_t first = find(scene, 5, 7), second = find(scene, 5, 8);
	assert_int_not_equal(first, second);
	assert_int_equal(find(scene, 5, 8), second);
	assert_int_equal(find(scene, 5, CODE_TORN), CODE_ID_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_is_told_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_at_its_place, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
