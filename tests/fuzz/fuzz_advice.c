/* fuzz_advice.c - any bytes as the source of a program whose every line is hot. */
#include <stdint.h>
#include <stdlib.h>

#include "profile/book.h"
#include "profile/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *profile = profile_new();
	uint32_t index = profile_file_index(profile, "<fuzz>", true);
	for (uint32_t line = 1; line <= 20; line++) {
		struct profile_line *hot = profile_memory_line(profile, index, line);
		hot->self = (struct metrics){.native_s = 1, .wait_s = 1, .samples = 100,
					     .copy_bytes = 1e9, .alloc_bytes = 1e9};
		hot->inclusive_s = 2;
	}
	struct profile_file *file = &profile->files[index];
	file->source = source_decode((const char *)data, size, &file->source_size);
	profile->sum.samples = 2000;
	profile_finish(profile);
	if (profile->advice_count > ADVICE_MAX)
		abort();
	for (uint32_t i = 0; i < profile->advice_count; i++) {
		if (profile->advice[i].line < 1 || profile->advice[i].line > 20)
			abort();
	}
	profile_free(profile);
	return 0;
}
