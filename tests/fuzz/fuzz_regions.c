/* fuzz_regions.c - any text as Python source: regions and imports. */
#include <stdint.h>
#include <stdlib.h>

#include "profile/regions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct regions regions;
	regions_find(&regions, (const char *)data, size);
	for (uint32_t line = 1; line <= regions.line_count; line++) {
		struct line_region found = regions_line(&regions, line);
		uint32_t last = regions.line_count;
		if (found.region_start < 1 || found.region_start > line)
			abort();
		if (found.region_end < line || found.region_end > last)
			abort();
		if (found.loop_start > line || found.loop_end < line || found.loop_end > last)
			abort();
		if (found.function_start > line || found.function_end > last)
			abort();
	}
	regions_fini(&regions);
	return 0;
}
