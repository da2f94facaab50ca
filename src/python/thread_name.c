/* thread_name.c - see thread_name.h. */
#include "python/thread_name.h"

#include <string.h>

#include "python/inspect.h"

static bool read_word(const struct walker *walker, py_addr addr, uint64_t *value)
{
	return walker->reader->read(walker->reader, addr, value, sizeof(*value));
}

/* Whether the code object is Thread._bootstrap. */
static bool is_bootstrap(const struct walker *walker, py_addr code)
{
	char text[16];
	py_addr name;

	return read_word(walker, code + walker->layout->code_name, &name) &&
	       inspect_text(walker, name, text, sizeof(text)) && strcmp(text, "_bootstrap") == 0;
}

bool thread_name_read(const struct walker *walker, py_addr place, py_addr code, char *text, size_t size)
{
	uint64_t thread;

	if (walker->layout->frame_locals == PY_ABSENT || !is_bootstrap(walker, code) ||
	    !read_word(walker, place + walker->layout->frame_locals, &thread))
		return false;
	/* 3.14+: the low bits of a variable are not part of the address. */
	return inspect_text(walker, inspect_attribute(walker, thread & ~7ull, "_name"), text, size) &&
	       text[0] != '\0';
}
