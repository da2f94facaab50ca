/* fuzz_suggest.c - any bytes as what a provider sends, as an answer, as a diff, as code to mask. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "suggest/answer.h"
#include "suggest/child.h"
#include "suggest/mask.h"
#include "suggest/patch.h"
#include "suggest/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_text(void *closure, const char *text, size_t size)
{
	*(size_t *)closure += size;
}

static void try_stream(const char *text, size_t size)
{
	for (int shape = STREAM_RESPONSES; shape <= STREAM_OLLAMA; shape++) {
		struct stream stream;
		size_t given = 0;

		stream_init(&stream, (enum stream_shape)shape, count_text, &given);
		for (size_t at = 0; at < size; at += 13)
			stream_feed(&stream, text + at, size - at < 13 ? size - at : 13);
		stream_end(&stream);
		if (given > size) /* text is part of what came */
			abort();
		stream_fini(&stream);
	}
}

static void try_patch(const char *diff)
{
	static const char file[] = "def f(x):\n    a = list(x)\n    for i in x:\n        if i in a:\n"
				   "            pass\n    return a\n";
	struct patch patch;

	if (patch_apply(&patch, "/p/x.py", file, sizeof(file) - 1, diff, NULL) == 0 &&
	    patch.text.size > sizeof(file) + 2 * strlen(diff) * (sizeof(file) + 1))
		abort();
	patch_fini(&patch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_copy_bytes(data, size);
	child_words words = VEC_EMPTY;
	struct answer answer;
	struct buf masked;

	try_stream((const char *)data, size);
	buf_init(&masked, SIZE_MAX);
	mask_append(&masked, (const char *)data, size);
	if (masked.size && !size)
		abort();
	buf_fini(&masked);
	answer_parse(&answer, (const char *)data, size);
	try_patch(answer.diff);
	try_patch(text);
	answer_fini(&answer);
	child_split(text, &words, NULL);
	child_free_words(&words);
	free(text);
	return 0;
}
