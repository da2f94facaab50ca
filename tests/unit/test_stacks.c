/* The stack tree: equal stacks share a node, a full tree keeps lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/tree.h"

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
	assert_int_equal(tree.nodes[node].code, 3);
	assert_int_equal(tree.nodes[tree.nodes[tree.nodes[node].parent].parent].code, 1);
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
	assert_int_equal(tree.nodes[node].code, 8);
	assert_int_equal(tree.nodes[node].parent, TREE_ROOT);
	tree_fini(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_stacks_share_nodes),
		cmocka_unit_test(test_full_tree_keeps_the_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
