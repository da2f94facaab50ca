/* What is remembered of a code object is never another one's. */
#include "base/intern.h"
#include "collect/collector.h"
#include "collect/stacks.h"
#include "fake_python.h"

#define NAME (FAKE_HEAP + 0x10100u)
#define FILENAME (FAKE_HEAP + 0x10000u)
#define LINES (FAKE_HEAP + 0x11000u)

static struct code_info info_of(const char *lines, uint32_t size)
{
	static const unsigned char bytecode[64];
	return (struct code_info){
		.first_line = 10,
		.filename = "/p/a.py",
		.filename_size = 7,
		.qualname = "f",
		.qualname_size = 1,
		.lines = (const unsigned char *)lines,
		.lines_size = size,
		.bytecode = bytecode,
		.bytecode_size = sizeof(bytecode),
	};
}

static uint32_t add(struct codes *codes, const char *lines, uint32_t size, bool *is_new)
{
	struct code_info info = info_of(lines, size);
	return codes_add(codes, &info, 0x0309, is_new);
}

/* The same name, place and sizes, and other lines. */
static void test_codes_are_told_apart_by_contents(void **state)
{
	(void)state;
	struct codes codes;
	struct intern *strings = intern_new();
	bool is_new;
	codes_init(&codes, strings);
	uint32_t first = add(&codes, "\4\1\4\1\4\1", 6, &is_new);
	assert_true(is_new);
	assert_int_equal(codes_line(&codes.items[first], 6), 11);
	assert_int_equal(codes_line(&codes.items[first], 12), 13);
	uint32_t second = add(&codes, "\4\5\4\5\4\5", 6, &is_new);
	assert_true(is_new);
	assert_int_equal(codes_line(&codes.items[second], 6), 15);
	assert_int_equal(codes_line(&codes.items[second], 12), 25);
	assert_int_equal(add(&codes, "\4\1\4\1\4\1", 6, &is_new), first);
	assert_false(is_new);
	assert_int_equal(codes_line(&codes.items[first], 6), 11);
	codes_fini(&codes);
	intern_free(strings);
}

/* 3.12 leaves a caller at the end of the call's inline cache; what it called counts for the call. */
static void test_calls(void **state)
{
	(void)state;
	enum { RESUME = 151, LOAD_FAST = 124, CALL = 171, POP_TOP = 1 };
	static const unsigned char bytecode[] = {RESUME, 0, LOAD_FAST, 0, CALL, 1, 17, 0, 3, 0, 9, 9, POP_TOP, 0};
	struct codes codes;
	struct intern *strings = intern_new();
	bool is_new;
	struct code_info info = info_of("", 0);
	codes_init(&codes, strings);
	info.bytecode = bytecode;
	info.bytecode_size = sizeof(bytecode);
	struct code *caller = &codes.items[codes_add(&codes, &info, 0x030c, &is_new)];
	assert_int_equal(py_op_caches(0x030c, CALL), 3);
	assert_int_equal(codes_call_start(caller, 10), 4);
	assert_int_equal(codes_call_start(caller, 4), 4);
	assert_int_equal(codes_call_start(caller, 12), 12);
	assert_int_equal(codes_call_start(caller, 1000), 1000);
	struct code callee = {0};
	assert_ptr_equal(codes_note_call(caller, 10, &callee, 3), codes_count(caller, 4));
	assert_int_equal(codes_count(caller, 4)->callee, 3);
	assert_false(codes_count(caller, 4)->makes);
	assert_null(codes_note_call(caller, 1000, &callee, 1));
	info.qualname = "Point.__init__";
	info.qualname_size = 14;
	struct code *maker = &codes.items[codes_add(&codes, &info, 0x030c, &is_new)];
	caller = &codes.items[1];
	codes_note_call(caller, 4, maker, 1);
	assert_int_equal(codes_count(caller, 4)->callee, 4);
	assert_true(codes_count(caller, 4)->makes);
	caller->version = 0x030d; /* stays at the call itself */
	assert_int_equal(codes_call_start(caller, 10), 10);
	codes_fini(&codes);
	intern_free(strings);
}

/* Lines of large code are read from places on the way. */
static void test_lines_of_large_code(void **state)
{
	(void)state;
	enum { ENTRIES = 9000 };
	static unsigned char table[2 * ENTRIES], bytecode[4 * ENTRIES];
	struct codes codes;
	struct intern *strings = intern_new();
	bool is_new;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		table[2 * i] = 4;
		table[2 * i + 1] = (unsigned char)(i % 3);
	}
	struct code_info info = info_of((const char *)table, sizeof(table));
	info.bytecode = bytecode;
	info.bytecode_size = sizeof(bytecode);
	codes_init(&codes, strings);
	struct code *code = &codes.items[codes_add(&codes, &info, 0x0309, &is_new)];
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint32_t offset = i * 7919 % ENTRIES * 4 + 2;
		struct py_location where = py_locate(PY_LINES_LNOTAB, table, sizeof(table), 10, offset);
		assert_int_equal(codes_line(code, offset), where.line);
	}
	codes_fini(&codes);
	intern_free(strings);
}

/* Whatever is asked, in whatever order and how often, the line is the table's. */
static void test_lines_in_any_order(void **state)
{
	(void)state;
	static const char table[] = "\2\1\2\1\4\3\2\377\6\2\10\1\2\1\2\1";
	struct codes codes;
	struct intern *strings = intern_new();
	uint64_t random = 7;
	bool is_new;
	codes_init(&codes, strings);
	struct code *code = &codes.items[add(&codes, table, sizeof(table) - 1, &is_new)];
	for (uint32_t i = 0; i < 500; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		uint32_t offset = (uint32_t)(random >> 33) % 64 & ~1u;
		struct py_location where = py_locate(PY_LINES_LNOTAB, (const unsigned char *)table,
						     sizeof(table) - 1, 10, offset);
		assert_int_equal(codes_line(code, offset), where.line);
		if (i % 3 == 0)
			codes_count(code, offset)->leaf++;
	}
	uint32_t counted = 0;
	for (uint32_t i = 0; i < code->op_count; i++) {
		counted += code->ops[i].leaf;
		assert_true(i == 0 || code->ops[i - 1].op < code->ops[i].op);
	}
	assert_int_equal(counted, 167);
	assert_int_equal(codes_line(code, 64), 10); /* outside: the code's first */
	assert_null(codes_count(code, 64));
	assert_null(codes_find_op(code, 64));
	codes_fini(&codes);
	intern_free(strings);
}

/* --- a code object that another takes the place of --- */

static void put_text(struct fake *fake, py_addr addr, const char *text)
{
	const struct py_layout *layout = &fake->layout;
	fake_put(fake, addr + layout->unicode_length, strlen(text));
	fake_put32(fake, addr + layout->unicode_state, 25u << layout->unicode_kind_shift);
	memcpy(fake->bytes + (addr + layout->unicode_ascii_data - FAKE_BASE), text, strlen(text));
}

static void put_lines(struct fake *fake, py_addr addr, const char *lines, uint32_t size)
{
	fake_put(fake, addr + fake->layout.bytes_length, size);
	memcpy(fake->bytes + (addr + fake->layout.bytes_data - FAKE_BASE), lines, size);
}

/* A collector that looks at a fake process of Python 3.12. */
struct run {
	struct run_options options;
	struct fake *fake;
	struct collector *collector;
	struct process process;
};

static void run_init(struct run *run)
{
	memset(run, 0, sizeof(*run));
	run->options = (struct run_options){.program = "/p/a.py", .entrypoint_dir = "/p"};
	run->fake = fake_new(0x030c);
	run->collector = collector_new(&run->options);
	run->process.python = 0x030c;
	run->process.walker = run->fake->walker;
	put_text(run->fake, FILENAME, "/p/a.py");
	put_text(run->fake, NAME, "f");
	fake_put_code(run->fake, 0, 20);
}

static void run_fini(struct run *run)
{
	map_fini(&run->process.addresses);
	collector_free(run->collector);
	fake_free(run->fake);
}

/* The line at which a look finds the thread: one frame, of the code at this place. */
static uint32_t look(struct run *run, uint32_t offset, uint32_t *code)
{
	uint32_t kept;
	run->collector->walk_frames[0] = (struct walk_frame){.code = fake_code(0), .offset = offset};
	assert_true(stacks_from_walk(run->collector, &run->process, 1, &kept));
	assert_int_equal(kept, 1);
	*code = run->collector->tree_frames[0].code;
	return codes_line(&run->collector->codes.items[*code], offset);
}

/* Freed, and another made at the same address, of the same file and name: its
 * table of lines lies elsewhere, or its version is another. */
static void test_replaced_at_the_same_address(void **state)
{
	(void)state;
	struct run run;
	uint32_t first, second, third;
	run_init(&run);
	fake_put(run.fake, fake_code(0) + run.fake->layout.code_lines, LINES);
	put_lines(run.fake, LINES, "\xe8\2\xe8\2", 4);
	assert_int_equal(look(&run, 0, &first), 2);
	assert_int_equal(look(&run, 2, &first), 3);

	fake_put(run.fake, fake_code(0) + run.fake->layout.code_lines, LINES + 0x100);
	put_lines(run.fake, LINES + 0x100, "\xe8\12\xe8\12", 4);
	assert_int_equal(look(&run, 0, &second), 6);
	assert_int_equal(look(&run, 2, &second), 11);
	assert_int_not_equal(first, second);

	/* Even the table is made where the last one was. */
	fake_put32(run.fake, fake_code(0) + run.fake->layout.code_version, 4711);
	put_lines(run.fake, LINES + 0x100, "\xe8\22\xe8\22", 4);
	assert_int_equal(look(&run, 2, &third), 19);
	assert_int_not_equal(second, third);

	/* And the first one comes back. */
	fake_put32(run.fake, fake_code(0) + run.fake->layout.code_version, 0);
	fake_put(run.fake, fake_code(0) + run.fake->layout.code_lines, LINES);
	assert_int_equal(look(&run, 2, &third), 3);
	assert_int_equal(first, third);
	run_fini(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes_are_told_apart_by_contents),
		cmocka_unit_test(test_lines_in_any_order),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_lines_of_large_code),
		cmocka_unit_test(test_replaced_at_the_same_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
