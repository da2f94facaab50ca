/* collapsed.c - one line a stack, for flamegraph.pl and all that read its input:
 * "outer (a.py:1);inner (a.py:7) 1234", in microseconds or bytes.
 *
 * Each line repeats its whole stack, so runaway recursion would grow as the square
 * of its depth: what lies below MAX_FRAMES is counted to the frame there. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/export/formats.h"
#include "report/export/frames.h"

#define MAX_FRAMES 1000u

void export_collapsed(FILE *out, const struct profile *profile, enum export_metric metric)
{
	struct export_tree tree;
	struct buf label;
	uint32_t *path = NULL, room = 0;
	export_tree_init(&tree, profile, metric);
	buf_init(&label, EXPORT_LABEL_BYTES);
	for (uint32_t i = 1; i < tree.count; i++) {
		if (tree.values[i] == 0)
			continue;
		uint32_t depth = export_tree_path(&tree, i, &path, &room);
		for (uint32_t j = 0; j < depth && j < MAX_FRAMES; j++) {
			export_label(&label, profile, &tree.nodes[path[j]], ';');
			fprintf(out, "%s%s", j ? ";" : "", label.data);
		}
		fprintf(out, " %" PRIu64 "\n", tree.values[i]);
	}
	free(path);
	buf_fini(&label);
	export_tree_fini(&tree);
}
