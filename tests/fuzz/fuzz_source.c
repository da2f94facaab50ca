/* fuzz_source.c - any bytes as a Python source file: always UTF-8 comes out. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t text_size;
	char *text = source_decode((const char *)data, size, &text_size);
	if (strlen(text) != text_size || memchr(text, '\r', text_size))
		abort();
	for (size_t at = 0; at < text_size;) {
		size_t length = text_utf8_length(text + at, text_size - at);
		if (length == 0)
			abort();
		at += length;
	}
	struct source_lines lines;
	source_lines_init(&lines, text, text_size);
	for (uint32_t line = 0; line <= lines.count + 1; line++) {
		size_t line_size;
		source_line(&lines, line, &line_size);
		if (line_size > text_size)
			abort();
	}
	source_lines_fini(&lines);
	free(text);
	return 0;
}
