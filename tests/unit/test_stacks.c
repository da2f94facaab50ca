/* The stack tree: equal stacks share a node, a full tree keeps lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/collector.h"
#include "collect/stacks.h"

static void test_equal_stacks_share_nodes(void **state)
{
	(void)state;
	struct tree tree;
	tree_init(&tree);
	struct tree_frame deep[] = {{3, 8}, {2, 4}, {1, 0}};
	struct tree_frame other[] = {{3, 10}, {2, 4}, {1, 0}};
	uint32_t node = tree_add(&tree, deep, 3, 0);
	assert_int_equal(tree_add(&tree, deep, 3, 0), node);
	uint32_t sibling = tree_add(&tree, other, 3, 0);
	assert_int_not_equal(sibling, node);
	assert_int_equal(tree.nodes[sibling].parent, tree.nodes[node].parent);
	assert_int_equal(tree_frame(&tree, node).code, 3);
	assert_int_equal(tree_frame(&tree, tree.nodes[tree.nodes[node].parent].parent).code, 1);
	assert_int_equal(tree_add(&tree, deep, 0, 0), TREE_ROOT);
	assert_int_equal(tree.count, 5); /* root, 1, 2, and the two leaves */
	tree_fini(&tree);
}

static void test_full_tree_keeps_the_line(void **state)
{
	(void)state;
	struct tree tree;
	tree_init(&tree);
	for (uint32_t i = 0; i < TREE_MAX_NODES; i++) {
		struct tree_frame stack[] = {{7, i}, {6, i}, {5, 0}};
		tree_add(&tree, stack, 3, 1);
	}
	assert_true(tree.cut > 0);
	assert_true(tree.count <= 2 * TREE_MAX_NODES);
	struct tree_frame stack[] = {{9, 2}, {8, 4}, {5, 0}};
	uint32_t node = tree_add(&tree, stack, 3, 1);
	assert_int_equal(tree_frame(&tree, node).code, 8);
	assert_int_equal(tree.nodes[node].parent, TREE_ROOT);
	tree_fini(&tree);
}

/* Whatever stack was added before: the node's way up is the stack, and the same
 * stack has the same node. */
static void test_any_order_of_stacks(void **state)
{
	(void)state;
	enum { STACKS = 200, DEPTH = 12 };
	static struct tree_frame stacks[STACKS][DEPTH];
	static uint32_t counts[STACKS], nodes[STACKS];
	struct tree tree;
	uint64_t random = 99;
	tree_init(&tree);
	for (uint32_t i = 0; i < STACKS; i++) {
		counts[i] = 1 + i % DEPTH;
		for (uint32_t k = 0; k < counts[i]; k++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			stacks[i][k] = (struct tree_frame){1 + (uint32_t)(random >> 62),
							   (uint32_t)(random >> 40) % 2};
		}
	}
	for (uint32_t turn = 0; turn < 20 * STACKS; turn++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		uint32_t i = turn < STACKS ? turn : (uint32_t)(random >> 33) % STACKS;
		uint32_t node = tree_add(&tree, stacks[i], counts[i], 0);
		assert_true(turn < STACKS || node == nodes[i]);
		nodes[i] = node;
		for (uint32_t k = 0; k < counts[i]; k++, node = tree.nodes[node].parent)
			assert_memory_equal(&tree.places.items[tree.nodes[node].place], &stacks[i][k],
					    sizeof(stacks[i][k]));
		assert_int_equal(node, TREE_ROOT);
	}
	assert_true(tree.places.count <= 1 + 4 * 2);
	tree_fini(&tree);
}

static void test_figures_are_the_nodes_own(void **state)
{
	(void)state;
	struct tree tree;
	tree_init(&tree);
	for (uint32_t i = 0; i < 3000; i++) {
		struct tree_frame stack[] = {{2, i}, {1, 0}};
		uint32_t node = tree_add(&tree, stack, 2, 0);
		if (i % 2 == 0)
			tree_weights(&tree, node)->wait_ns += i;
		if (i % 3 == 0) {
			uint32_t memory = tree_memory(&tree, node); /* may move the items */
			tree.memory.items[memory].alloc_bytes += i;
		}
	}
	for (uint32_t i = 0; i < 3000; i++) {
		struct tree_frame stack[] = {{2, i}, {1, 0}};
		const struct tree_node *node = &tree.nodes[tree_add(&tree, stack, 2, 0)];
		assert_int_equal(tree.weights.items[node->weights].wait_ns, i % 2 == 0 ? i : 0);
		assert_int_equal(tree.memory.items[node->memory].alloc_bytes, i % 3 == 0 ? i : 0);
	}
	assert_int_equal(tree.nodes[TREE_ROOT].weights, 0);
	assert_int_equal(tree_find_place(&tree, (struct tree_frame){2, 3000}), 0);
	tree_fini(&tree);
}

static uint32_t add_code(struct collector *collector, const char *filename, const char *name,
			 bool in_scope)
{
	struct code_info info = {.filename = filename, .filename_size = (uint32_t)strlen(filename),
				 .qualname = name, .qualname_size = (uint32_t)strlen(name)};
	bool is_new;
	uint32_t index = codes_add(&collector->codes, &info, 0x030b, &is_new);
	collector->codes.items[index].in_scope = in_scope;
	return index;
}

/* What a fork does is not done by the lines below it, which are its parent's. */
static void test_a_fork_has_its_own_frames(void **state)
{
	(void)state;
	struct run_options options = {0};
	struct collector *collector = collector_new(&options);
	uint32_t work = add_code(collector, "/p/a.py", "work", true);
	uint32_t run = add_code(collector, "/lib/multiprocessing/process.py", "BaseProcess.run", false);
	uint32_t begin = add_code(collector, "/lib/multiprocessing/process.py", "BaseProcess._bootstrap", false);
	struct tree_frame *frames = collector->tree_frames;
	frames[0] = (struct tree_frame){work, 0};
	frames[1] = (struct tree_frame){run, 0};
	frames[2] = (struct tree_frame){begin, 0};
	assert_int_equal(stacks_count_own(collector, 3), 3); /* spawned */
	uint32_t launch = add_code(collector, "/lib/multiprocessing/popen_fork.py", "Popen._launch", false);
	uint32_t start = add_code(collector, "/p/a.py", "start", true);
	frames[3] = (struct tree_frame){launch, 0};
	frames[4] = (struct tree_frame){start, 0};
	assert_int_equal(stacks_count_own(collector, 5), 3);
	uint32_t node = stacks_node(collector, 5);
	assert_int_equal(stacks_of_node(collector, node), 3);
	frames[0] = (struct tree_frame){run, 4}; /* only a library works: the line that started it is left */
	frames[3] = (struct tree_frame){launch, 0};
	frames[4] = (struct tree_frame){start, 0};
	assert_int_equal(stacks_count_own(collector, 5), 5);
	frames[2] = (struct tree_frame){run, 0}; /* the parent, as it forks */
	assert_int_equal(stacks_count_own(collector, 5), 5);
	collector_free(collector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_stacks_share_nodes),
		cmocka_unit_test(test_a_fork_has_its_own_frames),
		cmocka_unit_test(test_full_tree_keeps_the_line),
		cmocka_unit_test(test_any_order_of_stacks),
		cmocka_unit_test(test_figures_are_the_nodes_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
