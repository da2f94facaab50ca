/* cmd_status.c - "heatline status": what is being profiled here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_out.h"
#include "cli/commands.h"
#include "collect/runs.h"
#include "report/glyph.h"
#include "report/style.h"

struct status_settings {
	bool is_json;
};

static const struct option status_options[] = {
	{.name = "json", .kind = OPTION_FLAG, .help = "Print a JSON list, for programs.",
	 .offset = offsetof(struct status_settings, is_json)},
	OPTIONS_HELP,
	{0},
};

/* The state in one word. */
static const char *state_of(const struct run_entry *run)
{
	if (!run->is_alive)
		return "lost";
	return atomic_load(&run->control->is_off) ? "off" : "on";
}

static double age_s(const struct run_entry *run)
{
	uint64_t now_ns = clock_monotonic_ns();

	return now_ns > run->control->start_ns ? (double)(now_ns - run->control->start_ns) * 1e-9 : 0;
}

static void put_json(struct json_out *out, const struct run_entry *run)
{
	const struct control *control = run->control;

	json_begin_object(out, NULL);
	json_put_integer(out, "pid", control->program_pid);
	json_put_integer(out, "heatline_pid", control->front_pid);
	json_put_integer(out, "collector_pid", control->collector_pid);
	json_put_text(out, "program", control->program);
	json_put_text(out, "outfile", control->outfile);
	json_put_text(out, "state", state_of(run));
	json_put_bool(out, "has_ended", atomic_load(&control->has_ended) != 0);
	json_put_number(out, "start_time_absolute", control->start_epoch_s, 3);
	json_put_number(out, "elapsed_s", age_s(run), 3);
	json_put_unsigned(out, "samples", control->samples);
	json_put_integer(out, "processes", run->processes);
	json_end_object(out);
}

static void print_json(const struct runs *runs)
{
	struct json_out out;

	json_out_init(&out, stdout);
	json_begin_array(&out, NULL);
	for (uint32_t i = 0; i < runs->entries.count; i++)
		put_json(&out, &runs->entries.items[i]);
	json_end_array(&out);
	putchar('\n');
}

/* "14:03:12", or with the day when it was another. */
static void format_since(double epoch_s, char *text, size_t size)
{
	time_t then = (time_t)epoch_s, now = time(NULL);
	struct tm then_parts, now_parts;

	localtime_r(&then, &then_parts);
	localtime_r(&now, &now_parts);
	bool is_today = then_parts.tm_yday == now_parts.tm_yday &&
			then_parts.tm_year == now_parts.tm_year;
	strftime(text, size, is_today ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &then_parts);
}

static void print_run(const struct style *style, const struct run_entry *run)
{
	const struct control *control = run->control;
	const char *where = control->outfile[0] ? control->outfile : "heatline.stop()";
	char since[32];

	format_since(control->start_epoch_s, since, sizeof(since));
	printf("%7d  %-4s  %10llu  %9u  %-16s  ", (int)control->program_pid, state_of(run),
	       (unsigned long long)control->samples, run->processes, since);
	glyph_put(stdout, style, control->program, strlen(control->program), GLYPH_ANY_WIDTH);
	fputs(" > ", stdout);
	glyph_put(stdout, style, where, strlen(where), GLYPH_ANY_WIDTH);
	if (run->is_alive && atomic_load(&control->has_ended))
		fputs("  (ended; processes that it started go on)", stdout);
	putchar('\n');
}

static void print_table(const struct runs *runs)
{
	struct style style;
	uint32_t lost = 0;

	if (runs->entries.count == 0) {
		puts("Nothing is being profiled here.");
		return;
	}
	style_init(&style, STDOUT_FILENO, STYLE_COLOR_AUTO);
	printf("%7s  %-4s  %10s  %9s  %-16s  %s\n", "PID", "", "samples", "processes", "since",
	       "program > profile");
	for (uint32_t i = 0; i < runs->entries.count; i++) {
		print_run(&style, &runs->entries.items[i]);
		lost += !runs->entries.items[i].is_alive;
	}
	if (lost)
		puts("lost: heatline was killed; 'heatline recover' makes the profile of what there is");
}

static int status_run(int argc, char **argv)
{
	struct status_settings settings = {.is_json = false};
	struct options_result parsed;
	struct runs runs;
	int status = command_read_options(&command_status, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	if (parsed.operand_count) {
		struct err err;

		err_set(&err, ERR_USAGE, "status takes no '%s'; it shows everything that is being "
					 "profiled", parsed.operands[0]);
		options_result_fini(&parsed);
		return command_error(&err);
	}
	runs_init(&runs);
	if (settings.is_json)
		print_json(&runs);
	else
		print_table(&runs);
	runs_fini(&runs);
	options_result_fini(&parsed);
	return 0;
}

const struct command command_status = {
	.name = "status",
	.usage = "[options]",
	.summary = "List what is being profiled here: pid, on or off, samples, where the profile goes.",
	.options = status_options,
	.run = status_run,
};
