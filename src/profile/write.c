/* write.c - a profile as JSON: the top level and the "heatline" object. */
#include "profile/write.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/units.h"
#include "profile/marks.h"
#include "profile/write_parts.h"

static void write_run(struct json_out *out, const struct profile *profile)
{
	json_put_newline(out);
	json_put_text(out, "program", profile->program ? profile->program : "");
	json_begin_array(out, "args");
	for (uint32_t i = 0; i < profile->arg_count; i++)
		json_put_text(out, NULL, profile->args[i]);
	json_end_array(out);
	const char *folder = profile->entrypoint_dir ? profile->entrypoint_dir : "";
	json_put_text(out, "entrypoint_dir", folder);
	json_put_text(out, "filename", folder);
	json_put_newline(out);
	json_put_number(out, "elapsed_time_sec", profile->elapsed_s, DECIMALS_SECONDS);
	json_put_number(out, "start_time_absolute", profile->start_time_epoch_s, 6);
	json_put_number(out, "start_time_perf", profile->start_time_perf_s, 6);
}

/* "waits_s": {...}: all waiting but that for the GIL, by what it was for. */
static void write_waits(struct json_out *out, const struct metrics *metrics)
{
	json_begin_object(out, "waits_s");
	for (uint32_t i = 0; i < WAIT_KINDS; i++) {
		double seconds = (double)metrics->waits_s[i];
		if (seconds > 0)
			json_put_number(out, wait_kind_names[i], seconds, DECIMALS_TIME);
	}
	json_end_object(out);
}

static void write_time(struct json_out *out, const struct write_plan *plan)
{
	const struct profile *profile = plan->profile;
	json_put_newline(out);
	json_begin_object(out, "time");
	json_put_number(out, "elapsed_s", profile->elapsed_s, DECIMALS_SECONDS);
	json_put_number(out, "total_s", profile->total_s, DECIMALS_SECONDS);
	json_put_number(out, "outside_s", plan->outside_s, DECIMALS_SECONDS);
	if (plan->omitted_s > 0)
		json_put_number(out, "omitted_s", plan->omitted_s, DECIMALS_SECONDS);
	json_put_number(out, "startup_s", profile->startup_s, DECIMALS_SECONDS);
	write_seconds(out, &profile->sum);
	write_waits(out, &profile->sum);
	json_put_unsigned(out, "samples", profile->sum.samples);
	json_end_object(out);
}

static void write_quality(struct json_out *out, const struct profile_quality *quality)
{
	json_put_newline(out);
	json_begin_object(out, "quality");
	json_put_unsigned(out, "samples", quality->samples);
	json_put_unsigned(out, "wait_samples", quality->wait_samples);
	if (quality->idle_samples > 0)
		json_put_unsigned(out, "idle_samples", quality->idle_samples);
	json_put_number(out, "rate_hz", quality->rate_hz, 3);
	json_put_number(out, "overhead_percent", quality->overhead_percent, DECIMALS_PERCENT);
	json_put_number(out, "collector_percent", quality->collector_percent, DECIMALS_PERCENT);
	json_put_text(out, "clock", quality->clock);
	json_begin_array(out, "lost");
	for (uint32_t i = 0; i < quality->lost_count; i++) {
		json_begin_object(out, NULL);
		json_put_text(out, "reason", quality->lost[i].reason);
		json_put_unsigned(out, "count", quality->lost[i].count);
		json_end_object(out);
	}
	json_end_array(out);
	json_begin_array(out, "warnings");
	for (uint32_t i = 0; i < quality->warning_count; i++)
		json_put_text(out, NULL, quality->warnings[i]);
	json_end_array(out);
	json_end_object(out);
}

static void write_processes(struct json_out *out, const struct profile *profile)
{
	json_put_newline(out);
	json_begin_array(out, "processes");
	for (uint32_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		json_put_newline(out);
		json_begin_object(out, NULL);
		json_put_integer(out, "pid", process->pid);
		json_put_integer(out, "parent_pid", process->parent_pid);
		json_put_text(out, "command", process->command);
		if (process->name != NULL)
			json_put_text(out, "name", process->name);
		json_put_text(out, "python", process->python);
		json_put_number(out, "start_s", process->start_s, DECIMALS_SECONDS);
		json_put_number(out, "end_s", process->end_s, DECIMALS_SECONDS);
		json_put_text(out, "ended", process->ended);
		if (process->peak_resident_bytes > 0)
			json_put_number(out, "peak_resident_mb", process->peak_resident_bytes / MB,
					DECIMALS_PERCENT);
		json_put_text(out, "note", process->note);
		json_end_object(out);
	}
	json_end_array(out);
}

static void write_threads(struct json_out *out, const struct profile *profile)
{
	json_put_newline(out);
	json_begin_array(out, "threads");
	for (uint32_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		json_put_newline(out);
		json_begin_object(out, NULL);
		json_put_unsigned(out, "process", thread->process);
		json_put_integer(out, "tid", thread->tid);
		json_put_text(out, "name", thread->name);
		json_put_bool(out, "is_main", thread->is_main);
		if (thread->joined > 0)
			json_put_unsigned(out, "joined", thread->joined);
		json_put_number(out, "cpu_s", thread->self.cpu_s, DECIMALS_SECONDS);
		json_put_number(out, "off_cpu_s", thread->self.wait_s + thread->self.idle_s,
				DECIMALS_SECONDS);
		if (thread->self.gil_s > 0)
			json_put_number(out, "gil_s", thread->self.gil_s, DECIMALS_SECONDS);
		if (thread->self.gc_s > 0)
			json_put_number(out, "gc_s", thread->self.gc_s, DECIMALS_SECONDS);
		json_put_unsigned(out, "samples", thread->self.samples);
		json_end_object(out);
	}
	json_end_array(out);
}

/* "advice": [...], where there is any. */
static void write_advice(struct json_out *out, const struct profile *profile)
{
	if (!profile->advice_count)
		return;
	json_put_newline(out);
	json_begin_array(out, "advice");
	for (uint32_t i = 0; i < profile->advice_count; i++) {
		const struct advice *advice = &profile->advice[i];
		json_put_newline(out);
		json_begin_object(out, NULL);
		json_put_text(out, "rule", advice->rule);
		json_put_text(out, "file", advice->file);
		json_put_unsigned(out, "line", advice->line);
		json_put_text(out, "title", advice->title);
		json_put_text(out, "evidence", advice->evidence);
		json_put_text(out, "fix", advice->fix);
		json_put_number(out, "share", advice->share, DECIMALS_FRACTION);
		json_end_object(out);
	}
	json_end_array(out);
}

static void write_heatline(struct json_out *out, const struct write_plan *plan)
{
	const struct profile *profile = plan->profile;
	json_put_newline(out);
	json_begin_object(out, "heatline");
	json_put_text(out, "version", HEATLINE_VERSION);
	json_put_unsigned(out, "schema", PROFILE_SCHEMA);
	json_put_text(out, "python", profile->python_version);
	json_put_text(out, "machine", profile->machine);
	json_put_bool(out, "is_partial", profile->is_partial);
	json_put_number(out, "suspended_s", profile->suspended_s, DECIMALS_SECONDS);
	json_put_bool(out, "from_scalene", profile->from_scalene);
	if (profile->shown_percent < 1)
		json_put_number(out, "shown_percent", profile->shown_percent, DECIMALS_PERCENT);
	write_time(out, plan);
	if (profile->has_memory)
		write_memory_object(out, profile);
	if (profile->has_async)
		write_async_object(out, profile);
	if (profile->gpu.source)
		write_gpu_object(out, profile);
	write_quality(out, &profile->quality);
	write_processes(out, profile);
	write_threads(out, profile);
	write_advice(out, profile);
	marks_write(out, profile);
	json_put_newline(out);
	write_timeline(out, plan);
	if (plan->nodes) {
		json_put_newline(out);
		write_stack_tree(out, plan);
	}
	json_end_object(out);
}

void profile_write_stream(const struct profile *profile, const struct write_options *options,
			  FILE *stream)
{
	struct write_plan plan;
	struct json_out out;
	write_plan_init(&plan, profile, options);
	json_out_init(&out, stream);
	json_begin_object(&out, NULL);
	write_run(&out, profile);
	json_put_newline(&out);
	json_put_bool(&out, "async_profile", profile->has_async);
	write_gpu_summary(&out, profile);
	write_memory_summary(&out, &plan);
	json_put_newline(&out);
	write_files(&out, &plan);
	write_scalene_stacks(&out, &plan);
	write_heatline(&out, &plan);
	json_end_object(&out);
	putc('\n', stream);
	write_plan_fini(&plan);
}

int profile_write(const struct profile *profile, const struct write_options *options,
		  const char *path, struct err *err)
{
	struct file_writer writer;
	int result = file_writer_open(&writer, path, err);
	if (result)
		return result;
	profile_write_stream(profile, options, writer.stream);
	return file_writer_commit(&writer, err);
}

char *profile_write_text(const struct profile *profile, const struct write_options *options,
			 size_t *size)
{
	char *text = NULL;
	size_t text_size = 0;
	FILE *stream = open_memstream(&text, &text_size);
	if (!stream)
		mem_exhausted(0);
	profile_write_stream(profile, options, stream);
	if (fclose(stream) != 0)
		mem_exhausted(text_size);
	if (size)
		*size = text_size;
	return text;
}
