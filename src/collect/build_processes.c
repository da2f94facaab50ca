/* build_processes.c - the processes of a run and their threads, as the profile lists them.
 *
 * A process that starts another program (exec) gets a new ring each time, but
 * is one process: its rings are one entry, with the last program's command. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "collect/build.h"
#include "collect/builder.h"
#include "collect/helpers.h"
#include "collect/threads.h"
#include "profile/model.h"

/* A number is given to another process only after all others were. */
static bool is_same_process(const struct process *a, const struct process *b)
{
	return a->pid == b->pid && (a->facts.birth == b->facts.birth || a->facts.birth == 0 ||
				    b->facts.birth == 0);
}

/* The first ring of the same process. */
static const struct process *first_ring(const struct collector *collector,
					const struct process *process)
{
	for (uint32_t i = 0; i < process->index; i++) {
		const struct process *other = collector->processes.items[i];
		if (is_same_process(other, process))
			return other;
	}
	return process;
}

/* How it ended, in a few words; NULL when it has not. */
static const char *describe_end(const struct collector *collector, const struct process *process,
				char *text, size_t size)
{
	const struct control *control = collector->control;
	bool is_program = process->pid == atomic_load(&control->program_pid);
	int status = atomic_load(&control->end_status);
	if (process->ring != NULL || process->ring_path == NULL || process->is_left)
		return NULL; /* or it is only looked at from outside */
	if (is_program && atomic_load(&control->has_ended) != 0 && WIFEXITED(status))
		snprintf(text, size, "exit status %d", WEXITSTATUS(status));
	else if (is_program && atomic_load(&control->has_ended) != 0)
		snprintf(text, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (process->has_executed)
		return "other program";
	else if (process->exit_status >= 0)
		snprintf(text, size, "exit status %d", process->exit_status);
	else
		return "killed";
	return text;
}

static const char *name_of(const struct process *process)
{
	if (process->name == NULL && process->only_serves)
		return helpers_find(process->command)->name;
	return process->name;
}

static void fill_entry(struct collector *collector, struct profile *profile,
		       const struct process *process, struct profile_process *entry)
{
	char text[100];
	uint64_t end_ns = process->end_ns != 0 ? process->end_ns : clock_monotonic_ns();
	bool is_new = entry->pid == 0;
	double start_s = NS * (double)(process->start_ns - collector->start_ns);
	double end_s = NS * (double)(end_ns - collector->start_ns);
	if (is_new || end_s >= entry->end_s) {
		entry->command = profile_intern(profile, process->command);
		entry->name = profile_intern(profile, name_of(process));
		entry->python = profile_intern(profile, process->python_text);
		entry->end_s = end_s;
		entry->ended = profile_intern(profile, describe_end(collector, process, text,
								    sizeof(text)));
	}
	if (is_new || start_s < entry->start_s) {
		entry->start_s = start_s;
		entry->parent_pid = process->parent_pid;
	}
	if (entry->note == NULL)
		entry->note = profile_intern(profile, process->note);
	if (process->peak_resident_bytes > entry->peak_resident_bytes)
		entry->peak_resident_bytes = process->peak_resident_bytes;
	entry->pid = process->pid;
}

static struct metrics thread_metrics(const struct thread *thread)
{
	uint64_t idle_ns = thread->counts_waiting ? thread->unasked_ns : thread->off_ns;
	return (struct metrics){
		.wait_s = NS * (double)(thread->off_ns - idle_ns),
		.idle_s = NS * (double)idle_ns,
		.cpu_s = NS * (double)thread->cpu_ns,
		.gil_s = NS * (double)thread->gil_ns,
		.gc_s = NS * (double)thread->gc_ns,
		.samples = thread->samples,
	};
}

static void add_threads(struct collector *collector, struct profile *profile,
			const struct process *process, uint32_t entry)
{
	for (uint32_t i = 0; i < process->threads.count; i++) {
		const struct thread *thread = process->threads.items[i];
		profile->threads[profile->thread_count++] = (struct profile_thread){
			.process = entry,
			.tid = thread->tid,
			.name = profile_intern(profile, threads_name(collector, process, thread)),
			.is_main = thread->is_main,
			.joined = thread->joined,
			.self = thread_metrics(thread),
		};
	}
}

/* A launcher that hands over to a program without Python is not all of the run. */
static void warn_of_other_program(const struct collector *collector, struct profile *profile)
{
	const struct process *last = NULL;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *process = collector->processes.items[i];
		if (process->pid == atomic_load(&collector->control->program_pid) &&
		    (last == NULL || process->start_ns > last->start_ns))
			last = process;
	}
	if (last == NULL || !last->has_executed)
		return;
	char text[160];
	snprintf(text, sizeof(text),
		 "the program became another one (exec) after %.2f s, which runs no Python that can be "
		 "profiled: there is nothing of it here",
		 NS * (double)(last->end_ns - collector->start_ns));
	build_warn(profile, text);
}

void build_processes(struct collector *collector, struct profile *profile)
{
	uint32_t count = collector->processes.count, threads = 0;
	uint32_t *entries = mem_zalloc(count, sizeof(*entries));
	profile->processes = mem_zalloc(count, sizeof(*profile->processes));
	for (uint32_t i = 0; i < count; i++) {
		const struct process *process = collector->processes.items[i];
		const struct process *first = first_ring(collector, process);
		entries[i] = first == process ? profile->process_count++ : entries[first->index];
		fill_entry(collector, profile, process, &profile->processes[entries[i]]);
		threads += process->threads.count;
	}
	warn_of_other_program(collector, profile);
	if (count > 0)
		profile->python_version = profile->processes[0].python;
	profile->threads = mem_zalloc(threads, sizeof(*profile->threads));
	for (uint32_t i = 0; i < count; i++)
		add_threads(collector, profile, collector->processes.items[i], entries[i]);
	free(entries);
}
