/* processes.c - see processes.h. */
#include "report/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/figure.h"
#include "report/glyph.h"

#define MAX_ROWS 20u
#define FIGURE_CELLS 56u /* all columns before the command */
#define SPARE_CELLS 16u  /* of parent and peak, which a narrow terminal goes without */
#define MIN_COMMAND_CELLS 20u

struct row {
	const struct profile_process *process;
	double cpu_s, wait_s;
};

static int by_cpu_time(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->cpu_s != right->cpu_s)
		return left->cpu_s < right->cpu_s ? 1 : -1;
	return left->process->start_s < right->process->start_s ? -1 : 1;
}

static struct row *make_rows(const struct profile *profile)
{
	struct row *rows = mem_zalloc(profile->process_count, sizeof(*rows));

	for (uint32_t i = 0; i < profile->process_count; i++)
		rows[i].process = &profile->processes[i];
	for (uint32_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		rows[thread->process].cpu_s += thread->self.cpu_s;
		rows[thread->process].wait_s += thread->self.wait_s;
	}
	qsort(rows, profile->process_count, sizeof(*rows), by_cpu_time);
	return rows;
}

static bool is_narrow(const struct style *style)
{
	return style->is_cut && style->columns < FIGURE_CELLS + MIN_COMMAND_CELLS;
}

/* Cells for the command. */
static uint32_t command_room(const struct style *style)
{
	uint32_t used = FIGURE_CELLS - (is_narrow(style) ? SPARE_CELLS : 0);

	return style->columns > used + MIN_COMMAND_CELLS ? style->columns - used : MIN_COMMAND_CELLS;
}

static void put_figures(FILE *out, const struct style *style, const char *pid, const char *parent,
			const char *cpu, const char *waiting, const char *peak)
{
	if (is_narrow(style))
		fprintf(out, "%7s %7s %7s  ", pid, cpu, waiting);
	else
		fprintf(out, "%7s %7s %7s %7s %7s  ", pid, parent, cpu, waiting, peak);
}

static void put_row(FILE *out, const struct style *style, const struct row *row)
{
	const struct profile_process *process = row->process;
	const char *command = process->command ? process->command : "";
	const char *ended = process->ended ? process->ended : "running";
	bool has_peak = process->peak_resident_bytes > 0;
	uint32_t room = command_room(style);
	char pid[16], parent[16];

	snprintf(pid, sizeof pid, "%d", process->pid);
	snprintf(parent, sizeof parent, "%d", process->parent_pid);
	put_figures(out, style, pid, parent, figure_seconds(row->cpu_s).text,
		    figure_seconds(row->wait_s).text,
		    has_peak ? figure_bytes(process->peak_resident_bytes).text : "");
	uint32_t used = glyph_put(out, style, ended, strlen(ended), 14);
	fprintf(out, "%*s", (int)(15 - used), "");
	if (process->name) {
		room -= glyph_put(out, style, process->name, strlen(process->name), room / 2);
		fputs("  ", out);
		room -= 2;
	}
	glyph_put(out, style, command, strlen(command), room);
	fputc('\n', out);
}

void processes_print(FILE *out, const struct style *style, const struct profile *profile)
{
	if (profile->process_count < 2)
		return;
	struct row *rows = make_rows(profile);

	fputc('\n', out);
	style_print(out, style, PAINT_STRONG, "Processes");
	fputc('\n', out);
	put_figures(out, style, "pid", "parent", "CPU", "waiting", "peak");
	fprintf(out, "%-15s%s\n", "end", "command");
	for (uint32_t i = 0; i < profile->process_count && i < MAX_ROWS; i++)
		put_row(out, style, &rows[i]);
	if (profile->process_count > MAX_ROWS)
		fprintf(out, "        and %u more\n", profile->process_count - MAX_ROWS);
	free(rows);
}
