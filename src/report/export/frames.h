/* frames.h - the different frames of a tree, numbered, and how they are named. */
#ifndef HEATLINE_REPORT_EXPORT_FRAMES_H
#define HEATLINE_REPORT_EXPORT_FRAMES_H

#include "base/buf.h"
#include "report/export/tree.h"

/* What makes two nodes the same frame. */
enum export_frame_kind {
	EXPORT_BY_FUNCTION, /* function and file */
	EXPORT_BY_LINE,     /* and the line that was executed */
};

struct export_frames {
	uint32_t *of_node; /* owned; frame of each node; the root has none: UINT32_MAX */
	uint32_t *nodes;   /* owned; a node that has the frame */
	uint32_t count;
};

void export_frames_init(struct export_frames *frames, const struct export_tree *tree,
			enum export_frame_kind kind);
void export_frames_fini(struct export_frames *frames);

/* The function's name; never NULL or empty. */
const char *export_function(const struct stack_node *node);

/* The node's file, or NULL for what is not Python. */
const char *export_file(const struct profile *profile, const struct stack_node *node);

/* The path as people know it: relative to the program's folder, to the folder
 * of installed packages or to the standard library.  Points into path. */
const char *export_short_path(const struct profile *profile, const char *path);

/* Replaces buf by "function (path:line)", one line of valid UTF-8 without what ends
 * lines, controls a terminal or turns the direction of writing; `separator` (0: none)
 * becomes a comma. */
void export_label(struct buf *buf, const struct profile *profile, const struct stack_node *node,
		  char separator);

/* Appends the text as such a line. */
void export_clean(struct buf *buf, const char *text, size_t size, char separator);

#define EXPORT_LABEL_BYTES 4096u /* longer ones are cut */

#endif
