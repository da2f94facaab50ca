/* nameless.h - what the functions do of an interpreter that was stripped of their names.
 *
 * The names that the loader needs are left, and what functions are for can be told by who refers to them:
 * the fields of types and the tables that the interpreter keeps, and the calls in its code.
 * Checked against the names, see docs/ARCHITECTURE.md. */
#ifndef HEATLINE_REMOTE_NAMELESS_H
#define HEATLINE_REMOTE_NAMELESS_H

#include <stdbool.h>

#include "remote/elf_file.h"
#include "remote/evaluator.h"

/* Hands out those without a name that are of some part.  False, and none, when the file is not
 * understood. */
bool nameless_each(const struct elf_file *elf,
		   void (*found)(void *context, enum evaluator_part part, struct elf_piece where),
		   void *context);

#endif
