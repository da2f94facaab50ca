/* test_fuzz.c - replay the fuzzers' corpora, and mutate them with a fixed seed.
 *
 * Every input is handed over in a block of exactly its size, so that the
 * sanitizers see each byte read beyond it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define LLVMFuzzerTestOneInput fuzz_advice
#include "../fuzz/fuzz_advice.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_export
#include "../fuzz/fuzz_export.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_mcp
#include "../fuzz/fuzz_mcp.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_read
#include "../fuzz/fuzz_read.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_regions
#include "../fuzz/fuzz_regions.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_route
#include "../fuzz/fuzz_route.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_source
#include "../fuzz/fuzz_source.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_suggest
#include "../fuzz/fuzz_suggest.c"
#undef LLVMFuzzerTestOneInput

#define CORPUS HEATLINE_GOLDEN "/../fuzz/corpus/"
#define MUTATIONS 4000

typedef int (*fuzz_target)(const uint8_t *data, size_t size);

static uint64_t random_state;

static size_t pick(size_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below ? (size_t)(random_state % below) : 0;
}

static void feed(fuzz_target target, const char *data, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);
	assert_non_null(exact);
	if (size)
		memcpy(exact, data, size);
	target(exact, size);
	free(exact);
}

/* Changes a few bytes, or cuts, repeats or removes a piece. */
static size_t mutate(char *data, size_t size, size_t room)
{
	static const char interesting[] = "\"'{}[]():,\\\n\r\t #-0123456789eE.<>ftrb\xff\x80\xe2";
	for (size_t rounds = 1 + pick(4); rounds-- && size;) {
		size_t at = pick(size), length = pick(size - at < 40 ? size - at : 40);
		switch (pick(5)) {
		case 0:
			data[at] = (char)pick(256);
			break;
		case 1:
			data[at] = interesting[pick(sizeof(interesting) - 1)];
			break;
		case 2:
			size = pick(8) ? size : at;
			break;
		case 3:
			memmove(data + at, data + at + length, size - at - length);
			size -= length;
			break;
		case 4:
			if (size + length <= room) {
				memmove(data + at + length, data + at, size - at);
				size += length;
			}
			break;
		}
	}
	return size;
}

static void fuzz_file(fuzz_target target, const char *path, unsigned mutations)
{
	char *data;
	size_t size;
	assert_int_equal(file_read(path, 1 << 20, &data, &size, NULL), 0);
	feed(target, data, size);
	char *changed = mem_alloc(size + 1000);
	for (unsigned i = 0; i < mutations; i++) {
		memcpy(changed, data, size);
		feed(target, changed, mutate(changed, size, size + 1000));
	}
	free(changed);
	free(data);
}

static void fuzz_corpus(fuzz_target target, const char *folder)
{
	struct dirent **entries;
	random_state = 88172645463325252u;
	int count = scandir(folder, &entries, NULL, alphasort);
	assert_true(count > 2);
	for (int i = 0; i < count; i++) {
		char path[1024];
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			fuzz_file(target, path, MUTATIONS / (unsigned)(count - 2));
		free(entries[i]);
	}
	free(entries);
}

static void test_advice(void **state)
{
	fuzz_corpus(fuzz_advice, CORPUS "regions");
}

static void test_mcp(void **state)
{
	fuzz_corpus(fuzz_mcp, CORPUS "mcp");
}

static void test_read(void **state)
{
	fuzz_corpus(fuzz_read, CORPUS "read");
	fuzz_file(fuzz_read, HEATLINE_GOLDEN "/heatline.json", MUTATIONS / 8);
	fuzz_file(fuzz_read, HEATLINE_GOLDEN "/scalene.json", MUTATIONS / 8);
}

static void test_export(void **state)
{
	fuzz_corpus(fuzz_export, CORPUS "read");
	fuzz_file(fuzz_export, HEATLINE_GOLDEN "/heatline.json", MUTATIONS / 40);
}

static void test_regions(void **state)
{
	fuzz_corpus(fuzz_regions, CORPUS "regions");
}

static void test_route(void **state)
{
	fuzz_corpus(fuzz_route, CORPUS "route");
}

static void test_source(void **state)
{
	fuzz_corpus(fuzz_source, CORPUS "source");
	fuzz_corpus(fuzz_source, CORPUS "regions");
}

static void test_suggest(void **state)
{
	fuzz_corpus(fuzz_suggest, CORPUS "suggest");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_mcp),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_route),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_suggest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
