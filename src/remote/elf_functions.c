/* elf_functions.c - see elf_functions.h. */
#include "remote/elf_functions.h"

#include <string.h>

#include "base/starts.h"

#define FUNCTIONS_MAX 1000000u

/* How the index is written; all linkers do it so. */
#define INDEX_VERSION  1
#define COUNT_ENCODING 0x03 /* four bytes */
#define TABLE_ENCODING 0x3b /* four bytes with a sign, from the beginning of the index */

struct index_head {
	uint8_t version, frames_encoding, count_encoding, table_encoding;
	int32_t frames;
	uint32_t count;
};

struct index_row {
	int32_t start, frame;
};

/* The index does not tell where the last one ends. */
static uint64_t find_end(const struct elf_file *elf, uint64_t start)
{
	struct elf_piece text;

	if (!elf_find_section(elf, ".text", &text) || start - text.address >= text.size)
		return start;
	return text.address + text.size;
}

bool elf_functions_read(struct elf_functions *functions, const struct elf_file *elf)
{
	struct elf_piece section;
	struct index_head head;
	struct index_row row;
	uint64_t last = 0;

	*functions = (struct elf_functions){ VEC_EMPTY, 0 };
	if (!elf_find_section(elf, ".eh_frame_hdr", &section))
		return false;
	const unsigned char *bytes = elf_loaded(elf, section.address, section.size);
	if (bytes == NULL || section.size < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.version != INDEX_VERSION || head.count_encoding != COUNT_ENCODING ||
	    head.table_encoding != TABLE_ENCODING || head.count > FUNCTIONS_MAX ||
	    (section.size - sizeof(head)) / sizeof(row) < head.count)
		return false;
	for (uint32_t i = 0; i < head.count; i++) {
		memcpy(&row, bytes + sizeof(head) + i * sizeof(row), sizeof(row));
		uint64_t start = section.address + (uint64_t)(int64_t)row.start;
		if (start > last)
			vec_push(&functions->starts, start);
		else if (start < last) /* no order: searching would not find anything */
			break;
		last = start;
	}
	functions->end = find_end(elf, last);
	return functions->starts.count > 0;
}

void elf_functions_fini(struct elf_functions *functions)
{
	vec_free(&functions->starts);
}

uint32_t elf_functions_at(const struct elf_functions *functions, uint64_t address)
{
	if (address > functions->end || address < functions->starts.items[0])
		return NO_FUNCTION; /* most that are asked for are no code at all */
	return starts_until(functions->starts.items, functions->starts.count,
			    sizeof(functions->starts.items[0]), address) - 1;
}

uint32_t elf_functions_starting_at(const struct elf_functions *functions, uint64_t address)
{
	uint32_t number = elf_functions_at(functions, address);

	return number != NO_FUNCTION && functions->starts.items[number] == address ? number
										   : NO_FUNCTION;
}

struct elf_piece elf_functions_piece(const struct elf_functions *functions, uint32_t number)
{
	const uint64_t *start = &functions->starts.items[number];

	uint64_t end = number + 1 < functions->starts.count ? start[1] : functions->end;
	return (struct elf_piece){ *start, end - *start };
}
