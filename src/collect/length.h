/* length.h - is an operation long, by the samples beside it?
 *
 * The instructions of a straight piece of code run equally often, and each takes the evaluation
 * loop at least a load's time, a nanosecond or so.  An operation with a thousand times the
 * samples of a load takes microseconds.  Samples are few, so this is a question of
 * chance, asked three times: of the instruction alone; where it cannot be told, of the
 * operators of its piece, as they are on average; and of all of the code.  What is decided so has few
 * samples beside those that have decided.
 *
 * Pure: depends on the counts alone (and keeps the code's shape with it). */
#ifndef HEATLINE_COLLECT_LENGTH_H
#define HEATLINE_COLLECT_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/codes.h"

/* Whether an instruction of the code, which calls nothing, is a long operation. */
bool length_is_long(struct code *code, const struct code_op *op);

#endif
