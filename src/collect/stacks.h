/* stacks.h - what all stacks need: from code ids to a node of the tree, and whose time it is.
 *
 * A stack is on its way in collector->tree_frames, innermost first: translated or walked into it, then
 * made a node.  There is one such place: with the next stack the one before is gone. */
#ifndef HEATLINE_COLLECT_STACKS_H
#define HEATLINE_COLLECT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/timeline.h"
#include "collect/tree.h"

struct code;
struct collector;
struct process;
struct record_frame;
struct thread;

/* Of a stack that is about to be booked: texts that a library runs
 * (exec("from %s import *")) are the library's, not the program's. */
void stacks_settle_texts(struct collector *collector, uint32_t count);

/* How many of the innermost frames are the process's own: a fork has below them those of its
 * parent, which went on elsewhere, so what the fork does is no part of their time.  All of them
 * where none of its own is in scope: the line that started it is the one it is known by. */
uint32_t stacks_count_own(const struct collector *collector, uint32_t count);

/* Books a stack of code indexes (in collector->tree_frames, innermost first), as far as it is
 * the process's own, and returns its node. */
uint32_t stacks_node(struct collector *collector, uint32_t count);

/* The stack of a node (into collector->tree_frames); returns how many frames it has. */
uint32_t stacks_of_node(struct collector *collector, uint32_t node);

/* Turns a record's code ids into frames (in collector->tree_frames); false when
 * one is not known. */
bool stacks_translate(struct collector *collector, struct process *process,
			 const struct record_frame *frames, uint32_t count);

/* Turns the first count of collector->walk_frames into frames (in
 * collector->tree_frames, *kept of them); false when one could not be read. */
bool stacks_from_walk(struct collector *collector, struct process *process, uint32_t count,
		      uint32_t *kept);

/* Notes that the thread is at this frame's line; true when it was last seen at
 * another. */
bool stacks_at_line(struct collector *collector, struct thread *thread,
		       struct tree_frame frame);

/* The frame whose line a stack of count frames is booked to: the innermost in
 * scope, else the innermost. */
uint32_t stacks_line_frame(const struct collector *collector, uint32_t count);

/* The code whose function what the frame `at` of count (innermost first) does belongs to; the rule is
 * that of profile_book. */
const struct code *stacks_function_code(const struct collector *collector, uint32_t at, uint32_t count);

/* Whether the outermost of count frames (at least 1) is the import system's,
 * which runs by itself only while the interpreter starts. */
bool stacks_are_startup(const struct collector *collector, uint32_t count);

/* Whether the node's stack is the interpreter's own start or end. */
bool stacks_is_startup_node(const struct collector *collector, uint32_t node);

/* Puts what a thread did in the ns before end_ns on the timeline. */
void stacks_note_time(struct collector *collector, struct thread *thread, uint32_t node,
		      enum timeline_kind kind, uint64_t end_ns, uint64_t ns);

/* The same of waiting that is no line's. */
void stacks_note_unasked(struct collector *collector, struct thread *thread, uint64_t end_ns,
			 uint64_t ns);

/* The same of waiting at a node that does not count, since others compute for it. */
void stacks_note_helped(struct collector *collector, struct thread *thread, uint32_t node,
			uint64_t end_ns, uint64_t ns);

#endif
