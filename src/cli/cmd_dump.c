/* cmd_dump.c - `heatline dump`: every thread's stack now, or when it died. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "cli/commands.h"
#include "cli/process.h"
#include "collect/dump.h"
#include "report/glyph.h"

struct dump_settings {
	bool has_locals;
	bool is_json;
	const char *root;
	const char *color;
};

#define FIELD(name) .offset = offsetof(struct dump_settings, name)

static const struct option dump_options[] = {
	{.name = "locals", .letter = 'l', .kind = OPTION_FLAG,
	 .help = "Show local variables: numbers and texts, of lists the first items, of other "
		 "objects the type. Nothing is called in the program.",
	 FIELD(has_locals)},
	{.name = "json", .letter = 'j', .kind = OPTION_FLAG,
	 .help = "Print JSON instead of text.", FIELD(is_json)},
	{.name = "root", .kind = OPTION_FOLDER, .value = "FOLDER",
	 .help = "With a core file of a program that ran in a container: the folder that has the "
		 "container's files.",
	 FIELD(root)},
	{.name = "color", .alias = "colour", .kind = OPTION_CHOICE, .value = "WHEN",
	 .choices = "auto|always|never",
	 .help = "Use colours: auto, always or never (default: auto).", FIELD(color)},
	OPTIONS_HELP,
	{0},
};

/* ---- text ---- */

static void put_text(const struct style *style, const char *text)
{
	glyph_put(stdout, style, text, strlen(text), GLYPH_ANY_WIDTH);
}

/* "sleeping", "reading /dev/pts/0". */
static void print_waiting(const struct style *style, const struct remote_activity *activity)
{
	static const struct {
		const char *what, *alone, *with;
	} words[] = {
		{"sleep", "sleeping", NULL},
		{"lock", "waiting for a lock", NULL},
		{"poll", "waiting for events", "waiting for events, "},
		{"read", "reading", "reading from "},
		{"write", "writing", "writing to "},
		{"receive", "receiving", "receiving, "},
		{"send", "sending", "sending, "},
		{"accept", "waiting for a connection", "waiting for a connection, "},
		{"connect", "connecting", "connecting, "},
		{"child process", "waiting for a child process", NULL},
		{"signal", "waiting for a signal", NULL},
		{"memory", "waiting for memory", NULL},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].what, activity->what) != 0)
			continue;
		if (words[i].with && activity->detail[0]) {
			fputs(words[i].with, stdout);
			put_text(style, activity->detail);
		} else {
			fputs(words[i].alone, stdout);
		}
		return;
	}
	printf("waiting: %s ", activity->what);
	put_text(style, activity->detail);
}

static void print_heading(const struct style *style, const struct dump_thread *thread)
{
	style_put(stdout, style, PAINT_STRONG);
	printf("Thread ");
	if (thread->tid)
		printf("%d ", (int)thread->tid);
	if (thread->name[0]) {
		putchar('"');
		put_text(style, thread->name);
		putchar('"');
	}
	style_put(stdout, style, PAINT_NONE);
	fputs(": ", stdout);
	if (thread->has_crashed)
		fputs("crashed", stdout);
	else if (thread->activity.kind == ACTIVITY_WAITING)
		print_waiting(style, &thread->activity);
	else
		fputs(remote_activity_text(thread->activity.kind), stdout);
	if (thread->has_gil)
		fputs(", has the GIL", stdout);
	if (thread->interpreter)
		printf(", interpreter %u", thread->interpreter);
	putchar('\n');
}

/* indent: of the frame's first line; what belongs to it stands further in. */
static void print_frame(struct dump *dump, const struct style *style, const struct dump_frame *frame,
			int indent)
{
	size_t size;
	const char *source = dump_source_line(dump, frame, &size);

	printf("%*sFile \"", indent, "");
	put_text(style, frame->file);
	printf("\", line %u, in ", frame->line);
	style_put(stdout, style, PAINT_NAME);
	put_text(style, frame->function);
	style_put(stdout, style, PAINT_NONE);
	putchar('\n');
	if (source) {
		printf("%*s", indent + 2, "");
		glyph_put(stdout, style, source, size, GLYPH_ANY_WIDTH);
		putchar('\n');
	}
	for (uint32_t i = 0; i < frame->local_count; i++) {
		style_put(stdout, style, PAINT_DIM);
		printf("%*s", indent + 4, "");
		put_text(style, frame->locals[i].name);
		fputs(" = ", stdout);
		put_text(style, frame->locals[i].value);
		style_put(stdout, style, PAINT_NONE);
		putchar('\n');
	}
}

static void print_thread(struct dump *dump, const struct style *style, const struct dump_thread *thread)
{
	print_heading(style, thread);
	if (thread->stack == DUMP_CUT)
		puts("  ... the outermost frames are too far away");
	for (uint32_t i = 0; i < thread->frame_count; i++) {
		if (thread->frames[i].left_out)
			printf("  ... %u frames left out\n", thread->frames[i].left_out);
		print_frame(dump, style, &thread->frames[i], 2);
	}
	if (thread->stack == DUMP_EMPTY)
		puts("  no Python frame");
	if (thread->stack == DUMP_TORN)
		puts(dump->core.path ? "  its stack is not in the core file as a whole"
				     : "  its stack changes too fast to be read whole");
	for (uint32_t i = 0; i < thread->task_count; i++) {
		const struct dump_task *task = &thread->tasks[i];

		fputs("  Task \"", stdout);
		put_text(style, task->name);
		puts("\" awaits");
		for (uint32_t f = 0; f < task->frame_count; f++)
			print_frame(dump, style, &task->frames[f], 4);
	}
	if (thread->task_total > DUMP_TASKS)
		printf("  ... of some %u tasks, %u are shown\n", thread->task_total, thread->task_count);
}

/* "thread 12 "worker"", as the heading of the thread has it. */
static void print_crashed_thread(const struct dump *dump, const struct style *style)
{
	printf("thread %d", (int)dump->core.crashed_tid);
	for (uint32_t i = 0; i < dump->thread_count; i++) {
		if (!dump->threads[i].has_crashed)
			continue;
		if (dump->threads[i].name[0]) {
			fputs(" \"", stdout);
			put_text(style, dump->threads[i].name);
			putchar('"');
		}
		return;
	}
	fputs(", which runs no Python", stdout);
}

static void print_core(const struct dump *dump, const struct style *style)
{
	const struct dump_core *core = &dump->core;

	if (core->signal) {
		style_put(stdout, style, PAINT_STRONG);
		printf("Killed by signal %d (%s)", core->signal, strsignal(core->signal));
		style_put(stdout, style, PAINT_NONE);
		if (core->has_address)
			printf(" at address 0x%llx", (unsigned long long)core->address);
		if (core->sender_pid)
			printf(" from process %d", (int)core->sender_pid);
		fputs(" in ", stdout);
		print_crashed_thread(dump, style);
		putchar('\n');
	}
	if (core->cut_bytes)
		printf("The core file is cut short: %.1f MB of memory are missing\n",
		       1e-6 * (double)core->cut_bytes);
}

static void print_text(struct dump *dump, const char *color)
{
	enum style_color when = STYLE_COLOR_AUTO;
	struct style style;

	style_parse_color(color, &when);
	style_init(&style, STDOUT_FILENO, when);
	printf("%s %d: ", dump->core.path ? "Core of process" : "Process", (int)dump->pid);
	put_text(&style, dump->command ? dump->command : "?");
	printf("\nPython %s%s\n", dump->python, dump->is_collecting ? ", collecting garbage" : "");
	print_core(dump, &style);
	/* The one that crashed first: there may be hundreds. */
	for (int others = 0; others < 2; others++) {
		for (uint32_t i = 0; i < dump->thread_count; i++) {
			if (dump->threads[i].has_crashed == others)
				continue;
			putchar('\n');
			print_thread(dump, &style, &dump->threads[i]);
		}
	}
	if (dump->other_threads)
		printf("\n%u other thread%s run%s no Python\n", dump->other_threads,
		       dump->other_threads == 1 ? "" : "s", dump->other_threads == 1 ? "s" : "");
}

/* ---- JSON ---- */

static void put_frame(struct dump *dump, struct json_out *out, const struct dump_frame *frame)
{
	size_t size;
	const char *source = dump_source_line(dump, frame, &size);

	json_begin_object(out, NULL);
	json_put_text(out, "function", frame->function);
	json_put_text(out, "file", frame->file);
	json_put_unsigned(out, "line", frame->line);
	if (source)
		json_put_bytes(out, "source", source, size);
	else
		json_put_null(out, "source");
	if (frame->locals) {
		json_begin_object(out, "locals");
		for (uint32_t i = 0; i < frame->local_count; i++)
			json_put_text(out, frame->locals[i].name, frame->locals[i].value);
		json_end_object(out);
	}
	json_end_object(out);
}

static void put_thread(struct dump *dump, struct json_out *out, const struct dump_thread *thread)
{
	static const char *const stacks[] = {
		[DUMP_WHOLE] = "whole", [DUMP_EMPTY] = "empty", [DUMP_TORN] = "torn", [DUMP_CUT] = "cut"};

	json_put_newline(out);
	json_begin_object(out, NULL);
	json_put_integer(out, "tid", thread->tid);
	json_put_text(out, "name", thread->name);
	json_put_bool(out, "is_main", thread->is_main);
	json_put_unsigned(out, "interpreter", thread->interpreter);
	json_put_text(out, "state", remote_activity_text(thread->activity.kind));
	json_put_text(out, "waiting_for", thread->activity.what);
	json_put_text(out, "waiting_on", thread->activity.detail[0] ? thread->activity.detail : NULL);
	json_put_bool(out, "has_gil", thread->has_gil);
	json_put_bool(out, "has_crashed", thread->has_crashed);
	json_put_text(out, "stack", stacks[thread->stack]);
	json_put_unsigned(out, "elided_frames", thread->elided);
	json_begin_array(out, "frames");
	for (uint32_t i = 0; i < thread->frame_count; i++)
		put_frame(dump, out, &thread->frames[i]);
	json_end_array(out);
	json_begin_array(out, "tasks");
	for (uint32_t i = 0; i < thread->task_count; i++) {
		json_begin_object(out, NULL);
		json_put_text(out, "name", thread->tasks[i].name);
		json_begin_array(out, "frames");
		for (uint32_t f = 0; f < thread->tasks[i].frame_count; f++)
			put_frame(dump, out, &thread->tasks[i].frames[f]);
		json_end_array(out);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}

static void put_core(struct json_out *out, const struct dump_core *core)
{
	json_begin_object(out, "core");
	json_put_text(out, "file", core->path);
	json_put_integer(out, "signal", core->signal);
	json_put_text(out, "signal_text", core->signal ? strsignal(core->signal) : NULL);
	json_put_integer(out, "crashed_tid", core->crashed_tid);
	if (core->has_address)
		json_put_unsigned(out, "address", core->address);
	else
		json_put_null(out, "address");
	json_put_integer(out, "sender_pid", core->sender_pid);
	json_put_unsigned(out, "cut_bytes", core->cut_bytes);
	json_end_object(out);
}

static void print_json(struct dump *dump)
{
	struct json_out out;

	json_out_init(&out, stdout);
	json_begin_object(&out, NULL);
	json_put_integer(&out, "pid", dump->pid);
	json_put_text(&out, "python", dump->python);
	json_put_text(&out, "command", dump->command);
	if (dump->core.path)
		put_core(&out, &dump->core);
	else
		json_put_null(&out, "core");
	json_put_bool(&out, "is_collecting_garbage", dump->is_collecting);
	json_put_unsigned(&out, "other_threads", dump->other_threads);
	json_begin_array(&out, "threads");
	for (uint32_t i = 0; i < dump->thread_count; i++)
		put_thread(dump, &out, &dump->threads[i]);
	json_end_array(&out);
	json_end_object(&out);
	putchar('\n');
}

/* A number is a process, anything else a file. */
static struct dump *dump_operand(const struct dump_settings *settings, const struct options_result *parsed,
				 struct err *err)
{
	const char *word = parsed->operand_count == 1 ? parsed->operands[0] : "";
	char command[64];
	pid_t pid;

	if (word[0] && word[strspn(word, "-0123456789")] != '\0') {
		if (access(word, F_OK) != 0) {
			err_set(err, ERR_NOT_FOUND, "'%s' is neither a process id nor a file", word);
			return NULL;
		}
		return dump_new_core(word, settings->root, settings->has_locals, err);
	}
	if (process_operand(parsed->operands, parsed->operand_count, "dump", &pid, err))
		return NULL;
	snprintf(command, sizeof(command), "heatline dump %d", (int)pid);
	return dump_new(pid, settings->has_locals, command, err);
}

static int dump_run(int argc, char **argv)
{
	struct dump_settings settings = {.color = "auto"};
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_dump, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	status = 0;
	struct dump *dump = dump_operand(&settings, &parsed, &err);
	if (!dump)
		status = command_error(&err);
	else if (settings.is_json)
		print_json(dump);
	else
		print_text(dump, settings.color);
	dump_free(dump);
	options_result_fini(&parsed);
	return status;
}

const struct command command_dump = {
	.name = "dump",
	.usage = "[options] PID | CORE",
	.summary = "Show the stack of every thread of a running Python process, or of its core file.",
	.details = "For each thread: its name, whether it runs, waits for the GIL or for something "
		   "else, and its stack with the source lines, the innermost call last. The "
		   "process is not stopped and does not notice. Of a process that has died, its core "
		   "file shows the same, with the signal and the thread that got it; the interpreter "
		   "that it ran must be on this machine.",
	.examples = "heatline dump 1234\twhere is it now\n"
		    "heatline dump --locals 1234\twith local variables\n"
		    "heatline dump core.1234\twhere did it crash\n"
		    "heatline dump --json 1234 | jq .threads\tfor scripts\n",
	.options = dump_options,
	.run = dump_run,
};
