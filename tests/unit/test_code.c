/* test_code.c - identities and contents of code objects, good and bad. */
#include "fake_python.h"

#define NAME FAKE_NAME
#define FILENAME FAKE_FILENAME
#define LINES FAKE_LINES

static bool read_code(struct fake *fake, struct code_info *info)
{
	static unsigned char buffer[4096];

	return code_read(&fake->walker, fake_code(0), buffer, sizeof(buffer), info);
}

/* What fake_new_code makes. */
static void assert_is_run(const struct code_info *info, unsigned version)
{
	assert_memory_equal(info->filename, "prog.py", 7);
	assert_memory_equal(info->qualname, "run", 3);
	assert_int_equal(info->lines_size, 3);
	assert_memory_equal(info->lines, "\1\2\3", 3);
	assert_int_equal(info->bytecode_size, version < 0x030b ? 4 : 0x100);
}

static void test_read(void **state)
{
	static const unsigned versions[] = { 0x0306, 0x0308, 0x030a, 0x030b, 0x030c };
	struct code_info info;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct fake *fake = fake_new_code(versions[i]);

		assert_true(read_code(fake, &info));
		assert_int_equal(info.first_line, 1);
		assert_int_equal(info.filename_size, 7);
		assert_is_run(&info, versions[i]);
		fake_free(fake);
	}
}

/* A reader by system calls, which are counted. */
static uint32_t calls;
static struct mem_reader counted_target;

static bool counted_read(const struct mem_reader *reader, py_addr addr, void *dst, size_t size)
{
	(void)reader;
	calls++;
	return counted_target.read(&counted_target, addr, dst, size);
}

static size_t counted_read_many(const struct mem_reader *reader, const struct iovec *dst,
				const struct iovec *src, size_t count)
{
	(void)reader;
	calls++;
	return counted_target.read_many(&counted_target, dst, src, count);
}

static bool read_code_counted(struct fake *fake, struct code_info *info)
{
	static unsigned char buffer[128 * 1024];
	const struct mem_reader counted = { .read = counted_read, .read_many = counted_read_many, .pid = 1 };
	struct walker walker = fake->walker;

	counted_target = *fake->walker.reader;
	walker.reader = &counted;
	calls = 0;
	return code_read(&walker, fake_code(0), buffer, sizeof(buffer), info);
}

static void test_read_takes_two_calls(void **state)
{
	static const unsigned versions[] = { 0x0308, 0x030a, 0x030b, 0x030d };
	struct code_info info;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct fake *fake = fake_new_code(versions[i]);

		assert_true(read_code_counted(fake, &info));
		assert_int_equal(calls, 2);
		assert_is_run(&info, versions[i]);
		fake_free(fake);
	}
}

/* What is long, or lies across the end of a page, takes more calls and comes out the same; a part
 * that is nowhere makes the whole none. */
static void test_read_with_more_calls(void **state)
{
	struct fake *fake = fake_new_code(0x0308);
	static unsigned char table[4000];
	py_addr across = FAKE_HEAP + 0x20000 + 4096 - 8;
	struct code_info info;

	for (size_t i = 0; i < sizeof(table); i++)
		table[i] = (unsigned char)(i * 7);
	fake_put_bytes(fake, FAKE_HEAP + 0x22000, table, sizeof(table));
	fake_put(fake, fake_code(0) + fake->layout.code_lines, FAKE_HEAP + 0x22000);
	fake_put_str(fake, across, 1, true, "run_across", 10);
	fake_put(fake, fake_code(0) + fake->layout.code_name, across);
	assert_true(read_code_counted(fake, &info));
	assert_in_range(calls, 3, 5);
	assert_int_equal(info.qualname_size, 10);
	assert_memory_equal(info.qualname, "run_across", 10);
	assert_int_equal(info.lines_size, sizeof(table));
	assert_memory_equal(info.lines, table, sizeof(table));
	assert_memory_equal(info.bytecode, "abcd", 4);
	fake_put(fake, fake_code(0) + fake->layout.code_filename, FAKE_BASE + FAKE_SIZE + 0x1000);
	assert_false(read_code_counted(fake, &info));
	fake_free(fake);
}

static void expect_name(struct fake *fake, const char *utf8)
{
	struct code_info info;

	assert_true(read_code(fake, &info));
	assert_int_equal(info.qualname_size, strlen(utf8));
	assert_memory_equal(info.qualname, utf8, strlen(utf8));
}

static void test_read_texts(void **state)
{
	struct fake *fake = fake_new_code(0x0308);

	fake_put_str(fake, NAME, 1, false, "gr\xf6\xdf"
				      "e", 5);
	expect_name(fake, "größe");
	fake_put_str(fake, NAME, 2, false, (const uint16_t[]){ 0x6d4b, 0x41, 0xd800 }, 3);
	expect_name(fake, "测A\xef\xbf\xbd");
	fake_put_str(fake, NAME, 4, false, (const uint32_t[]){ 0x10330, 0x7ff, 0x110000 }, 3);
	expect_name(fake, "\xf0\x90\x8c\xb0\xdf\xbf\xef\xbf\xbd");
	fake_put_str(fake, NAME, 1, true, "", 0);
	expect_name(fake, "");
	fake_free(fake);
}

static void test_read_cuts_names(void **state)
{
	struct fake *fake = fake_new_code(0x0308);
	uint16_t text[600];
	struct code_info info;

	for (size_t i = 0; i < 600; i++)
		text[i] = 0x6d4b; /* three bytes each */
	fake_put_str(fake, FAKE_HEAP + 0x20000, 2, false, text, 600);
	fake_put(fake, fake_code(0) + fake->layout.code_name, FAKE_HEAP + 0x20000);
	assert_true(read_code(fake, &info));
	assert_int_equal(info.qualname_size, 999);
	fake_free(fake);
}

/* Tables that do not fit in are left out, the names are kept. */
static void test_read_leaves_out_tables(void **state)
{
	const unsigned versions[] = { 0x0308, 0x030d };
	unsigned char room[32];
	struct code_info info;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct fake *fake = fake_new_code(versions[i]);

		assert_true(code_read(&fake->walker, fake_code(0), room, 7 + 3 + 2, &info));
		assert_memory_equal(info.qualname, "run", 3);
		assert_int_equal(info.lines_size, 0);
		assert_true(info.is_cut);
		assert_true(code_read(&fake->walker, fake_code(0), room, 7 + 3 + 3, &info));
		assert_int_equal(info.lines_size, 3);
		assert_int_equal(info.bytecode_size, 0);
		assert_true(info.is_cut);
		assert_true(read_code(fake, &info));
		assert_false(info.is_cut);
		fake_free(fake);
	}
}

static void test_read_refuses(void **state)
{
	struct fake *fake = fake_new_code(0x0308);
	struct code_info info = { .first_line = 77 };
	unsigned char small[12];

	fake_put_bytes(fake, LINES, "", 1ull << 40);
	assert_false(read_code(fake, &info));
	fake_put_bytes(fake, LINES, "", UINT64_MAX);
	assert_false(read_code(fake, &info));
	fake_put_bytes(fake, LINES, "\1\2\3", 3);
	fake_put32(fake, NAME + fake->layout.unicode_state, 0); /* not compact */
	assert_false(read_code(fake, &info));
	fake_put_str(fake, NAME, 1, true, "run", 3);
	fake_put(fake, fake_code(0) + fake->layout.object_type, FAKE_TYPE + 8);
	assert_false(read_code(fake, &info));
	fake->walker.code_type = 0; /* not known: any type will do */
	assert_true(read_code(fake, &info));
	assert_false(code_read(&fake->walker, 0, small, sizeof(small), &info));
	assert_false(code_read(&fake->walker, FAKE_BASE + FAKE_SIZE - 8, small, sizeof(small), &info));
	fake_free(fake);
}

/* ---- identities ---- */

static uint32_t identity(struct fake *fake, py_addr code, uint32_t offset)
{
	struct walk_frame frame = { .code = code, .offset = offset };
	uint32_t found;

	code_identities(&fake->walker, &frame, 1, &found);
	return found;
}

static void test_identity_follows_what_matters(void **state)
{
	struct fake *fake = fake_new_code(0x030c);
	const struct py_layout *layout = &fake->layout;
	const uint32_t fields[] = { layout->code_filename, layout->code_qualname, layout->code_lines,
				    layout->code_firstlineno, layout->code_version };
	uint32_t first = identity(fake, fake_code(0), 2);

	assert_true(first > CODE_HIDDEN);
	fake_put32(fake, fake_code(0), 99); /* the reference count */
	assert_int_equal(identity(fake, fake_code(0), 2), first);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		unsigned char *at = fake->bytes + (fake_code(0) + fields[i] - FAKE_BASE);

		at[0] ^= 16;
		assert_int_not_equal(identity(fake, fake_code(0), 2), first);
		at[0] ^= 16;
	}
	fake_free(fake);
}

static void test_identity_torn(void **state)
{
	struct fake *fake = fake_new_code(0x030c);

	assert_int_equal(identity(fake, fake_code(3), 0), CODE_TORN);
	assert_int_equal(identity(fake, FAKE_BASE + FAKE_SIZE, 0), CODE_TORN);
	assert_int_equal(identity(fake, fake_code(0), 0x5000), CODE_TORN); /* past its end */
	fake_put(fake, fake_code(0) + fake->layout.code_filename, 5);
	assert_int_equal(identity(fake, fake_code(0), 0), CODE_TORN);
	fake_free(fake);
}

static void test_identity_hidden(void **state)
{
	struct fake *fake = fake_new_code(0x030c);

	fake_put(fake, fake_code(0) + fake->layout.code_name, FILENAME);
	assert_true(identity(fake, fake_code(0), 0) > CODE_HIDDEN);
	fake_put32(fake, fake_code(0) + fake->layout.code_firstlineno, 0);
	assert_int_equal(identity(fake, fake_code(0), 0), CODE_HIDDEN);
	fake_free(fake);
}

/* More code objects than are read at once, some of them unreadable, many
 * times each: every frame gets what it would get alone. */
static void test_identities_of_many(void **state)
{
	struct fake *fake = fake_new(0x0308);

	for (uint32_t i = 0; i < 40; i++) {
		py_addr code = FAKE_HEAP + i * 0x100;

		fake_put(fake, code + fake->layout.object_type, FAKE_TYPE);
		fake_put(fake, code + fake->layout.code_filename, FILENAME);
		fake_put(fake, code + fake->layout.code_name, NAME);
		fake_put(fake, code + fake->layout.code_lines, LINES + i * 8);
	}
	for (uint32_t count = 0; count < WALK_MAX_FRAMES; count += 1 + count / 2) {
		for (uint32_t i = 0; i < count; i++)
			fake->frames[i] = (struct walk_frame){
				.code = i % 7 == 3 ? 0xdead0000u + i : FAKE_HEAP + i * 13 % 40 * 0x100
			};
		code_identities(&fake->walker, fake->frames, count, fake->identities);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(fake->identities[i], identity(fake, fake->frames[i].code, 0));
	}
	fake_free(fake);
}

static void test_generator_without_caller(void **state)
{
	struct fake *fake = fake_new_code(0x0309);
	struct walk_frame frames[2] = { { .code = fake_code(0), .offset = 2, .is_entry = 1 },
					{ .code = fake_code(1), .offset = 2, .is_entry = 1 } };

	fake_put_code(fake, 1, 0);
	fake_put32(fake, fake_code(0) + fake->layout.code_flags, 0x20);
	code_identities(&fake->walker, frames, 2, fake->identities);
	assert_true(fake->identities[0] > CODE_HIDDEN);
	assert_true(fake->identities[1] > CODE_HIDDEN);
	code_identities(&fake->walker, frames, 1, fake->identities);
	assert_int_equal(fake->identities[0], CODE_TORN);
	frames[0].is_entry = 0; /* a waiting task's */
	code_identities(&fake->walker, frames, 1, fake->identities);
	assert_true(fake->identities[0] > CODE_HIDDEN);
	fake_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_takes_two_calls),
		cmocka_unit_test(test_read_with_more_calls),
		cmocka_unit_test(test_read_texts),
		cmocka_unit_test(test_read_cuts_names),
		cmocka_unit_test(test_read_leaves_out_tables),
		cmocka_unit_test(test_read_refuses),
		cmocka_unit_test(test_identity_follows_what_matters),
		cmocka_unit_test(test_identity_torn),
		cmocka_unit_test(test_identity_hidden),
		cmocka_unit_test(test_identities_of_many),
		cmocka_unit_test(test_generator_without_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
