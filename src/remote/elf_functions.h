/* elf_functions.h - where the functions of a file lie, also of one that was stripped of their names.
 *
 * Exceptions are thrown through C code, too, so every file tells for each of its functions how to
 * leave it, and has an index of that by address (.eh_frame_hdr).  What compilers moved out of a function
 * because it is rarely run counts as one of its own. */
#ifndef HEATLINE_REMOTE_ELF_FUNCTIONS_H
#define HEATLINE_REMOTE_ELF_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "remote/elf_file.h"

#define NO_FUNCTION UINT32_MAX

struct elf_functions {
	VEC(uint64_t) starts; /* rising, one at least; each ends where the next begins */
	uint64_t end;         /* of the last */
};

/* False when the file has no such index. */
bool elf_functions_read(struct elf_functions *functions, const struct elf_file *elf);
void elf_functions_fini(struct elf_functions *functions);

/* The number of the function that an address lies in; NO_FUNCTION where there is none. */
uint32_t elf_functions_at(const struct elf_functions *functions, uint64_t address);

/* The same for one that begins there. */
uint32_t elf_functions_starting_at(const struct elf_functions *functions, uint64_t address);

struct elf_piece elf_functions_piece(const struct elf_functions *functions, uint32_t number);

#endif
