/* fuzz_read.c - any bytes as a profile: read, and if accepted, write again.
 *
 * The unit test test_fuzz replays the corpus and mutates it a few thousand
 * times.  For longer, with libFuzzer, from the root of the tree:
 *
 *	clang -g -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE \
 *		-DHEATLINE_VERSION='""' -Isrc tests/fuzz/fuzz_read.c src/profile/[a-z]*.c \
 *		src/base/[a-z]*.c -ljansson -lm -o fuzz_read
 *	./fuzz_read tests/fuzz/corpus/read
 *
 * The other harnesses in this folder are built the same way. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/read.h"
#include "profile/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	struct profile *profile = profile_read_text((const char *)data, size, "fuzz", &err);
	if (!profile) {
		if (err.code != ERR_FORMAT || strlen(err.message) < 20)
			abort();
		return 0;
	}
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	options.cpu_percent_threshold = 0;
	size_t text_size;
	char *text = profile_write_text(profile, &options, &text_size);
	struct profile *again = profile_read_text(text, text_size, "fuzz", &err);
	if (!again) /* what was accepted must be writable */
		abort();
	profile_free(again);
	free(text);
	profile_free(profile);
	return 0;
}
