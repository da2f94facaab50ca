/* python_probe.c - lets the integration tests look at src/python from outside.
 *
 *   python_probe layout VERSION              the row of a version (0x0308 for 3.8)
 *   python_probe published PID RUNTIME       the row made from what a process publishes
 *   python_probe opcodes VERSION             kinds, transfers and caches of all opcodes
 *   python_probe locate KIND                 location tables on stdin, locations on stdout
 *   python_probe tasks PID VERSION RUNTIME THREAD_ID
 *                                            the waiting tasks of one thread of a process
 *   python_probe walk PID VERSION RUNTIME CODE_TYPE THREAD_ID
 *                                            the stack of one thread of a process
 *
 * Addresses and ids are numbers as strtoull reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/code.h"
#include "python/layout.h"
#include "python/locations.h"
#include "python/opcodes.h"
#include "python/tasks.h"
#include "python/walk.h"

static void print_layout(const struct py_layout *layout)
{
	static const struct {
		const char *name;
		size_t at;
	} fields[] = {
#define FIELD(name) { #name, offsetof(struct py_layout, name) }
		FIELD(runtime_interpreters_head),
		FIELD(runtime_gilstate_current),
		FIELD(runtime_gc_collecting),
		FIELD(interp_next),
		FIELD(interp_threads_head),
		FIELD(interp_gil),
		FIELD(interp_gc_collecting),
		FIELD(interp_modules),
		FIELD(thread_next),
		FIELD(thread_interp),
		FIELD(thread_frame),
		FIELD(thread_id),
		FIELD(thread_native_id),
		FIELD(thread_datastack_chunk),
		FIELD(thread_datastack_top),
		FIELD(cframe_current_frame),
		FIELD(cframe_previous),
		FIELD(frame_previous),
		FIELD(frame_code),
		FIELD(frame_instr),
		FIELD(frame_owner),
		FIELD(frame_is_entry),
		FIELD(frame_stacktop),
		FIELD(frame_specials),
		FIELD(frame_locals),
		FIELD(code_filename),
		FIELD(code_name),
		FIELD(code_qualname),
		FIELD(code_lines),
		FIELD(code_firstlineno),
		FIELD(code_flags),
		FIELD(code_code),
		FIELD(code_units),
		FIELD(code_framesize),
		FIELD(code_stacksize),
		FIELD(code_nlocalsplus),
		FIELD(code_version),
		FIELD(code_local_names),
		FIELD(unicode_length),
		FIELD(unicode_state),
		FIELD(unicode_ascii_data),
		FIELD(unicode_compact_data),
		FIELD(bytes_length),
		FIELD(bytes_data),
		FIELD(object_type),
		FIELD(type_cached_keys),
#undef FIELD
	};

	printf("version %u\n", layout->version);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint32_t value;

		memcpy(&value, (const char *)layout + fields[i].at, sizeof(value));
		printf("%s %lld\n", fields[i].name, value == PY_ABSENT ? -1ll : (long long)value);
	}
}

static int probe_layout(unsigned version)
{
	const struct py_layout *layout = py_layout_known(version);

	if (layout == NULL) {
		printf("unknown\n");
		return 1;
	}
	print_layout(layout);
	return 0;
}

static int probe_published(pid_t pid, py_addr runtime)
{
	struct mem_reader reader;
	struct py_layout layout;
	const char *why;

	mem_reader_init_process(&reader, pid);
	if (py_layout_published(&reader, runtime, &layout, &why) != 0) {
		printf("refused: %s\n", why);
		return 1;
	}
	print_layout(&layout);
	return 0;
}

static int probe_opcodes(unsigned version)
{
	for (unsigned opcode = 0; opcode < 256; opcode++)
		printf("%d %d %u\n", (int)py_op_kind(version, (uint8_t)opcode),
		       (int)py_op_is_jump(version, (uint8_t)opcode),
		       py_op_caches(version, (uint8_t)opcode));
	return 0;
}

/* In: size of the table, first line, size of the code, then the table.
 * Out: a location for every second byte of the code. */
static int probe_locate(enum py_line_kind kind)
{
	uint32_t head[3];

	while (fread(head, sizeof(head), 1, stdin) == 1) {
		unsigned char *table = malloc(head[0] + 1);

		if (table == NULL || fread(table, 1, head[0], stdin) != head[0])
			return 1;
		for (uint32_t offset = 0; offset < head[2]; offset += 2) {
			struct py_location location =
				py_locate(kind, table, head[0], (int32_t)head[1], offset);

			fwrite(&location, sizeof(location), 1, stdout);
		}
		free(table);
	}
	return 0;
}

static void print_frame(const struct walker *walker, const struct walk_frame *frame,
			uint32_t identity)
{
	static unsigned char buffer[1 << 20];
	struct code_info info;
	struct py_location location;

	if (identity == CODE_HIDDEN)
		return;
	if (identity == CODE_TORN ||
	    !code_read(walker, frame->code, buffer, sizeof(buffer), &info)) {
		printf("? %s\n", identity == CODE_TORN ? "torn" : "unreadable");
		return;
	}
	location = py_locate(walker->layout->line_kind, info.lines, info.lines_size,
			     (int32_t)info.first_line, frame->offset);
	printf("%d\t%u\t%d\t%u\t%u\t%.*s\t%.*s\n", frame->is_entry, frame->offset, location.line,
	       info.flags, info.bytecode_size, (int)info.qualname_size, info.qualname,
	       (int)info.filename_size, info.filename);
}

/* What is known of a process: its memory, and where things are in it. */
struct opened {
	struct mem_reader reader;
	const struct py_layout *layout;
	struct py_layout published;
};

static bool open_process(struct opened *opened, pid_t pid, unsigned version, py_addr runtime)
{
	const char *why;

	mem_reader_init_process(&opened->reader, pid);
	opened->layout = py_layout_known(version);
	if (opened->layout != NULL)
		return true;
	opened->layout = &opened->published;
	if (py_layout_published(&opened->reader, runtime, &opened->published, &why) == 0)
		return true;
	printf("refused: %s\n", why);
	return false;
}

static int probe_walk(pid_t pid, unsigned version, py_addr runtime, py_addr code_type,
		      uint64_t thread_id)
{
	static const char *const names[] = { "ok", "no python", "cut", "torn" };
	static struct walk_scratch scratch;
	static struct walk_frame frames[WALK_MAX_FRAMES];
	static uint32_t identities[WALK_MAX_FRAMES];
	struct opened opened;
	py_addr tstate;
	uint32_t count;

	if (!open_process(&opened, pid, version, runtime))
		return 1;
	struct walker walker = { .reader = &opened.reader, .layout = opened.layout,
				 .code_type = code_type };
	tstate = walk_find_thread(&walker, runtime, thread_id, 0);
	if (tstate == 0) {
		printf("no thread\n");
		return 1;
	}
	printf("%s\n", names[walk_thread(&walker, tstate, &scratch, frames, &count)]);
	code_identities(&walker, frames, count, identities);
	for (uint32_t i = 0; i < count; i++)
		print_frame(&walker, &frames[i], identities[i]);
	return 0;
}

/* A task is its name and its frames, innermost first. */
static int probe_tasks(pid_t pid, unsigned version, py_addr runtime, uint64_t thread_id)
{
	static struct task_view view;
	struct task_sweep sweep = { 0 };
	struct opened opened;
	struct task_loop loop;
	py_addr tasks[64], tstate;
	uint64_t random = 1;
	uint32_t total, count;

	if (!open_process(&opened, pid, version, runtime))
		return 1;
	struct walker walker = { .reader = &opened.reader, .layout = opened.layout };
	struct task_finder finder = { .walker = &walker, .runtime = runtime };
	tstate = walk_find_thread(&walker, runtime, thread_id, 0);
	if (!tasks_find(&finder) || tstate == 0) {
		printf("no tasks\n");
		return 1;
	}
	tasks_running_loop(&finder, tstate, &loop);
	count = tasks_sample(&finder, tstate, &loop, &sweep, &random, tasks, 64, &total);
	printf("%u of %u, %s, %s\n", count, total, loop.object == 0 ? "no loop" : "loop",
	       tasks_has_current(&finder, tstate, &loop) ? "a task runs" : "no task runs");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t identities[TASK_MAX_FRAMES];
		char name[TASK_NAME_BYTES];

		if (task_read(&finder, tasks[i], &loop, &view) != TASK_WAITS ||
		    !task_read_name(&finder, &view, name))
			continue;
		printf("task %s\n", name);
		code_identities(&walker, view.frames, view.count, identities);
		for (uint32_t k = 0; k < view.count; k++)
			print_frame(&walker, &view.frames[k], identities[k]);
	}
	return 0;
}

static unsigned long long number(const char *text)
{
	return strtoull(text, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "layout") == 0)
		return probe_layout((unsigned)number(argv[2]));
	if (argc == 4 && strcmp(argv[1], "published") == 0)
		return probe_published((pid_t)number(argv[2]), number(argv[3]));
	if (argc == 3 && strcmp(argv[1], "opcodes") == 0)
		return probe_opcodes((unsigned)number(argv[2]));
	if (argc == 3 && strcmp(argv[1], "locate") == 0)
		return probe_locate((enum py_line_kind)number(argv[2]));
	if (argc == 7 && strcmp(argv[1], "walk") == 0)
		return probe_walk((pid_t)number(argv[2]), (unsigned)number(argv[3]), number(argv[4]),
				  number(argv[5]), number(argv[6]));
	if (argc == 6 && strcmp(argv[1], "tasks") == 0)
		return probe_tasks((pid_t)number(argv[2]), (unsigned)number(argv[3]),
				   number(argv[4]), number(argv[5]));
	fprintf(stderr, "usage: python_probe layout|published|opcodes|locate|tasks|walk …\n");
	return 2;
}
