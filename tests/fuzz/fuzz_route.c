/* fuzz_route.c - any bytes as a path, and as a request's headers and an editor's command. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/editor.h"
#include "serve/request.h"
#include "serve/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next line of the text, in a block of its own; NULL when there is none. */
static char *take_line(const char **text)
{
	if (!**text)
		return NULL;
	size_t size = strcspn(*text, "\n");
	char *line = mem_copy_bytes(*text, size);
	*text += size + ((*text)[size] == '\n');
	return line;
}

static void try_headers(const char *text)
{
	char *lines[7];
	for (size_t i = 0; i < 7; i++)
		lines[i] = take_line(&text);
	struct request_headers headers = {lines[0], lines[1], lines[2], lines[3],
					  lines[4], lines[5], lines[6]};
	request_is_for_loopback(&headers);
	if (request_may_act(&headers) && !headers.origin)
		abort();
	request_is_same_origin(&headers, true);
	request_body_bytes(&headers);
	request_accepts_gzip(&headers);
	for (size_t i = 0; i < 7; i++)
		free(lines[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct token token = {"0123456789abcdef0123456789abcdef"};
	char *text = mem_copy_bytes(data, size);
	struct route route = route_parse(text, &token);
	if (route.kind != ROUTE_NONE && strncmp(text + 1, token.text, TOKEN_LETTERS) != 0)
		abort();
	if (strlen(route.format) > ROUTE_FORMAT_LETTERS || route.profile > 999999999)
		abort();
	try_headers(text);
	free(request_decode(text));
	char **words = editor_words(text, "/a/file.py", 12);
	editor_free_words(words);
	free(text);
	return 0;
}
