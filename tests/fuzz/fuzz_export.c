/* fuzz_export.c - any bytes as a profile: if accepted, compare it with itself, merge it
 * with itself, and export it in every format.  Built as fuzz_read, with src/report/[a-z]*.c,
 * src/report/export/[a-z]*.c and -lz added. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/diff.h"
#include "profile/merge.h"
#include "profile/read.h"
#include "profile/write.h"
#include "report/export/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void export_all(const struct profile *profile)
{
	for (const struct export_format *format = export_formats; format->name; format++) {
		for (int metric = 0; metric < EXPORT_METRIC_COUNT; metric++) {
			char *text = NULL;
			size_t text_size = 0;
			FILE *out = open_memstream(&text, &text_size);
			if (!out)
				abort();
			if (export_check(format, profile, (enum export_metric)metric, NULL) == 0)
				export_write(format, profile, (enum export_metric)metric, out);
			fclose(out);
			free(text);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *profile = profile_read_text((const char *)data, size, "fuzz", NULL);
	if (!profile)
		return 0;
	struct profile *other = profile_read_text((const char *)data, size, "fuzz", NULL);
	struct profile_diff diff;
	profile_diff_init(&diff, profile, other);
	if (diff.slower + diff.faster + diff.heavier + diff.lighter > 0)
		abort(); /* nothing differs from itself */
	profile_diff_fini(&diff);
	profile_merge(profile, other);
	profile_diff_init(&diff, other, profile);
	profile_diff_fini(&diff);
	profile_free(other); /* the merged one has no string of it */
	export_all(profile);
	struct write_options options = WRITE_OPTIONS_DEFAULT;
	free(profile_write_text(profile, &options, NULL));
	profile_free(profile);
	return 0;
}
