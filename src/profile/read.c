/* read.c - read a profile: the top level and the "heatline" object. */
#include "profile/read.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "profile/book_index.h"
#include "profile/marks.h"
#include "profile/read_parts.h"
#include "profile/write.h"

static void read_run(struct profile_reader *reader, const json_t *root)
{
	struct profile *profile = reader->profile;
	profile->program = reader_text(reader, root, "program");
	profile->entrypoint_dir = reader_text(reader, root, "entrypoint_dir");
	profile->args = reader_texts(reader, root, "args", &profile->arg_count);
	profile->elapsed_s = reader_number(reader, root, "elapsed_time_sec");
	profile->start_time_epoch_s = reader_number(reader, root, "start_time_absolute");
	profile->start_time_perf_s = reader_number(reader, root, "start_time_perf");
}

static void read_time(struct profile_reader *reader, const json_t *time)
{
	struct profile *profile = reader->profile;
	profile->elapsed_s = reader_number(reader, time, "elapsed_s");
	profile->total_s = reader_number(reader, time, "total_s");
	profile->outside_s = reader_number(reader, time, "outside_s");
	profile->omitted_s = fmin(reader_number(reader, time, "omitted_s"), profile->outside_s);
	profile->startup_s = reader_number(reader, time, "startup_s");
	reader_seconds(reader, time, &profile->sum);
	const json_t *waits = reader_object(reader, time, "waits_s");
	for (uint32_t i = 0; i < WAIT_KINDS; i++)
		profile->sum.waits_s[i] = (float)reader_number(reader, waits, wait_kind_names[i]);
	profile->sum.samples = reader_unsigned(reader, time, "samples", INT64_MAX);
}

static void read_lost(struct profile_reader *reader, const json_t *list,
		      struct profile_quality *quality)
{
	size_t size = json_array_size(list);
	quality->lost = mem_zalloc(size, sizeof(*quality->lost));
	for (size_t i = 0; i < size; i++) {
		const json_t *item = json_array_get(list, i);
		struct lost_count *lost = &quality->lost[quality->lost_count];
		if (!json_is_object(item))
			reader_fail(reader, "an item of \"lost\" is not an object");
		lost->reason = reader_text(reader, item, "reason");
		lost->count = reader_unsigned(reader, item, "count", INT64_MAX);
		if (!lost->reason)
			reader_fail(reader, "an item of \"lost\" has no reason");
		if (reader->has_failed)
			return;
		quality->lost_count++;
	}
}

static void read_quality(struct profile_reader *reader, const json_t *object)
{
	struct profile_quality *quality = &reader->profile->quality;
	quality->samples = reader_unsigned(reader, object, "samples", INT64_MAX);
	quality->wait_samples = reader_unsigned(reader, object, "wait_samples", INT64_MAX);
	quality->idle_samples = reader_unsigned(reader, object, "idle_samples", INT64_MAX);
	quality->rate_hz = reader_number(reader, object, "rate_hz");
	quality->overhead_percent = reader_number(reader, object, "overhead_percent");
	quality->collector_percent = reader_number(reader, object, "collector_percent");
	quality->clock = reader_text(reader, object, "clock");
	quality->warnings = reader_texts(reader, object, "warnings", &quality->warning_count);
	read_lost(reader, reader_array(reader, object, "lost"), quality);
}

static void read_processes(struct profile_reader *reader, const json_t *list)
{
	struct profile *profile = reader->profile;
	size_t size = json_array_size(list);
	profile->processes = mem_zalloc(size, sizeof(*profile->processes));
	for (size_t i = 0; i < size; i++) {
		const json_t *item = json_array_get(list, i);
		struct profile_process *process = &profile->processes[profile->process_count++];
		if (!json_is_object(item))
			reader_fail(reader, "an item of \"processes\" is not an object");
		process->pid = reader_pid(reader, item, "pid");
		process->parent_pid = reader_pid(reader, item, "parent_pid");
		process->command = reader_text(reader, item, "command");
		process->name = reader_text(reader, item, "name");
		process->python = reader_text(reader, item, "python");
		process->start_s = reader_number(reader, item, "start_s");
		process->end_s = reader_number(reader, item, "end_s");
		process->ended = reader_text(reader, item, "ended");
		process->peak_resident_bytes =
			reader_number(reader, item, "peak_resident_mb") * MB;
		process->note = reader_text(reader, item, "note");
	}
}

static void read_threads(struct profile_reader *reader, const json_t *list)
{
	struct profile *profile = reader->profile;
	size_t size = json_array_size(list);
	profile->threads = mem_zalloc(size, sizeof(*profile->threads));
	for (size_t i = 0; i < size; i++) {
		const json_t *item = json_array_get(list, i);
		struct profile_thread *thread = &profile->threads[profile->thread_count++];
		if (!json_is_object(item))
			reader_fail(reader, "an item of \"threads\" is not an object");
		thread->process = (uint32_t)reader_unsigned(reader, item, "process", UINT32_MAX);
		if (thread->process >= profile->process_count)
			reader_fail(reader, "a thread belongs to no process");
		thread->tid = reader_pid(reader, item, "tid");
		thread->name = reader_text(reader, item, "name");
		thread->is_main = reader_bool(reader, item, "is_main");
		thread->joined = (uint32_t)reader_unsigned(reader, item, "joined", INT32_MAX);
		thread->self.cpu_s = reader_number(reader, item, "cpu_s");
		double off_s = reader_number(reader, item, "off_cpu_s");
		*(thread->is_main ? &thread->self.wait_s : &thread->self.idle_s) = off_s;
		thread->self.gil_s = reader_number(reader, item, "gil_s");
		thread->self.gc_s = reader_number(reader, item, "gc_s");
		thread->self.samples = reader_unsigned(reader, item, "samples", INT64_MAX);
	}
}

static void read_heatline(struct profile_reader *reader, const json_t *heatline)
{
	struct profile *profile = reader->profile;
	if (reader_unsigned(reader, heatline, "schema", INT64_MAX) > PROFILE_SCHEMA) {
		const char *version = reader_text(reader, heatline, "version");
		reader_fail(reader, "a newer Heatline (%s) wrote it; this one is " HEATLINE_VERSION,
			    version ? version : "unknown version");
		return;
	}
	profile->python_version = reader_text(reader, heatline, "python");
	profile->machine = reader_text(reader, heatline, "machine");
	profile->is_partial = reader_bool(reader, heatline, "is_partial");
	profile->suspended_s = reader_number(reader, heatline, "suspended_s");
	profile->from_scalene = reader_bool(reader, heatline, "from_scalene");
	if (json_object_get(heatline, "shown_percent"))
		profile->shown_percent = fmin(reader_number(reader, heatline, "shown_percent"), 1);
	read_time(reader, reader_object(reader, heatline, "time"));
	read_quality(reader, reader_object(reader, heatline, "quality"));
	read_processes(reader, reader_array(reader, heatline, "processes"));
	read_threads(reader, reader_array(reader, heatline, "threads"));
}

static void sum_scalene(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->file_count; i++) {
		const struct profile_file *file = &profile->files[i];
		metrics_add(&profile->sum, &file->self);
		for (uint32_t j = 0; j < file->line_count; j++) {
			profile->memory.python_bytes += file->lines[j].memory.python_bytes;
			profile->memory.alloc_count += file->lines[j].memory.alloc_count;
		}
	}
	profile->outside_s = fmax(0, profile->total_s - metrics_seconds(&profile->sum));
	profile->quality.samples = profile->sum.samples;
}

/* Scalene counts the program among its arguments. */
static void drop_program(struct profile *profile)
{
	if (profile->program == NULL || profile->arg_count == 0 ||
	    strcmp(path_basename(profile->program), path_basename(profile->args[0])) != 0)
		return;
	profile->arg_count--;
	memmove(profile->args, profile->args + 1, profile->arg_count * sizeof(*profile->args));
}

static void read_root(struct profile_reader *reader, const json_t *root)
{
	struct profile *profile = reader->profile;
	const json_t *heatline = reader_object(reader, root, "heatline");
	const json_t *files = reader_object(reader, root, "files");
	if (json_object_size(root) == 0)
		reader_fail(reader, "it is empty; the program ended before anything was measured");
	else if (!files)
		reader_fail(reader, "it is JSON, but has no \"files\"");
	read_run(reader, root);
	if (heatline) {
		read_heatline(reader, heatline);
		read_memory(reader, root, heatline);
		read_async(reader, root, heatline);
		read_gpu(reader, root, heatline);
		const json_t *stacks = reader_object(reader, heatline, "stacks");
		read_files(reader, files);
		if (stacks)
			read_stack_tree(reader, stacks);
		read_timeline(reader, heatline);
		read_advice(reader, heatline);
		marks_read(reader, heatline);
	} else {
		reader->is_scalene = profile->from_scalene = true;
		drop_program(profile);
		profile->total_s = profile->elapsed_s > 0 ? profile->elapsed_s : 1;
		read_files(reader, files);
		read_memory(reader, root, NULL);
		read_async(reader, root, NULL);
		read_gpu(reader, root, NULL);
		sum_scalene(profile);
		read_scalene_stacks(reader, reader_array(reader, root, "stacks"));
		read_scalene_memory_stacks(reader, reader_array(reader, root, "memory_stacks"));
	}
	book_index_free(profile->book);
	profile->book = NULL;
}

/* jansson's words for it are for programmers; the reasons that happen get a
 * sentence. */
static void fail_parse(struct profile_reader *reader, const json_error_t *error, const char *text,
		       size_t size)
{
	size_t at = 0;
	while (at < size && strchr(" \t\r\n", text[at]))
		at++;
	if (at == size)
		reader_fail(reader, "it is empty");
	else if (text[at] != '{' && text[at] != '[')
		reader_fail(reader, "it is not JSON");
	else if (json_error_code(error) == json_error_premature_end_of_input)
		reader_fail(reader, "it is cut off after %zu bytes", size);
	else
		reader_fail(reader, "it is not valid JSON (line %d, column %d)", error->line,
			    error->column);
}

struct profile *profile_read_text(const char *text, size_t size, const char *name,
				  struct err *err)
{
	struct profile_reader reader = {.profile = profile_new(), .name = name, .err = err};
	json_error_t error;
	json_t *root = json_loadb(text, size, 0, &error);
	if (!root)
		fail_parse(&reader, &error, text, size);
	else if (!json_is_object(root))
		reader_fail(&reader, "it is JSON, but not an object");
	else
		read_root(&reader, root);
	json_decref(root);
	if (!reader.has_failed)
		return reader.profile;
	profile_free(reader.profile);
	return NULL;
}

struct profile *profile_read(const char *path, struct err *err)
{
	char *text;
	size_t size;
	if (file_read_within(path, READ_MAX_BYTES, FILE_PATIENCE_MS, &text, &size, err) != 0)
		return NULL;
	struct profile *profile = profile_read_text(text, size, path, err);
	free(text);
	return profile;
}
