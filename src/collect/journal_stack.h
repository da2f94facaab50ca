/* journal_stack.h - records of the journal without the frames that repeat.
 *
 * Nine tenths of a journal were stacks, and a stack is often the one before it but
 * for its innermost frames.  So a record is written without those of its outermost
 * frames that the last record of the same process with a stack had too; who reads
 * the journal from its start has that record and puts them back.
 *
 * Writer and reader take the same steps in the same order, which is why a reader may
 * go on as a writer. */
#ifndef HEATLINE_COLLECT_JOURNAL_STACK_H
#define HEATLINE_COLLECT_JOURNAL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/record.h"

struct journal_stack;

struct journal_stack *journal_stack_new(void);
void journal_stack_free(struct journal_stack *stack);

/* How many of the record's last frames need not be written: its last bytes. */
uint32_t journal_stack_shared(const struct journal_stack *stack, uint32_t process,
			      const struct record *record);

/* The record has been written, or read. */
void journal_stack_note(struct journal_stack *stack, uint32_t process, const struct record *record);

/* The whole record of which `size` bytes were written, without `shared` frames; NULL
 * when that cannot be.  Valid until the next call. */
const struct record *journal_stack_restore(struct journal_stack *stack, uint32_t process,
					   const struct record *record, uint64_t size,
					   uint32_t shared);

#endif
