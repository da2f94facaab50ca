/* process.c - the processes of a run: their rings, and what comes out of them.
 *
 * Whatever comes out of a ring is untrusted: the program may have written over
 * it.  A record is copied first, then checked, then used. */
#include "collect/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/helpers.h"
#include "collect/marks.h"
#include "collect/memory.h"
#include "collect/samples.h"
#include "collect/threads.h"
#include "collect/watch.h"

#define PROCESSES_MAX 4096u
#define RING_BUSY_BYTES (RING_BYTES / 16)

/* --- names and folders --- */

/* Of one that has ended meanwhile what it said itself. */
static const char *read_command(struct collector *collector, pid_t pid, const struct ring *ring)
{
	char text[RING_COMMAND_BYTES];
	if (procfs_command(pid, text, sizeof(text)))
		return intern_text(collector->strings, text);
	memcpy(text, ring->command, sizeof(text));
	size_t size = sizeof(text) - 1;
	while (size > 0 && text[size - 1] == '\0')
		size--;
	text[size] = '\0';
	procfs_join_words(text, size);
	return size > 0 ? intern_text(collector->strings, text) : NULL;
}

static const char *read_folder(struct collector *collector, pid_t pid)
{
	char target[4096];
	return procfs_link(pid, "cwd", target, sizeof(target)) ? intern_text(collector->strings, target)
							       : NULL;
}

/* --- a process begins --- */

static struct ring *map_ring(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	struct stat status;
	void *memory = MAP_FAILED;
	if (fstat(fd, &status) == 0 && status.st_size == (off_t)sizeof(struct ring))
		memory = mmap(NULL, sizeof(struct ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

static void learn_layout(struct process *process)
{
	const struct py_layout *known = py_layout_known(process->python);
	mem_reader_init_process(&process->reader, process->pid);
	process->walker = (struct walker){.reader = &process->reader, .layout = &process->layout,
					  .code_type = process->ring->code_type};
	process->tasks.walker = &process->walker;
	process->tasks.runtime = process->ring->runtime;
	if (known != NULL) {
		process->layout = *known;
		process->has_layout = process->ring->runtime != 0;
		return;
	}
	const char *why;
	process->has_layout = py_layout_published(&process->reader, process->ring->runtime,
						  &process->layout, &why) == 0;
}

/* The same pid has several rings when the process has started another program;
 * each ends where the next begins.  They are found in any order. */
static void end_between_rings(struct collector *collector, struct process *added)
{
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *other = collector->processes.items[i];
		if (other->pid != added->pid)
			continue;
		bool is_later = other->start_ns > added->start_ns;
		struct process *first = is_later ? added : other;
		struct process *second = is_later ? other : added;
		if (first->end_ns == 0 || first->end_ns > second->start_ns)
			first->end_ns = second->start_ns;
	}
}

bool processes_have_made(const struct mem_reader *reader, const struct ring *ring)
{
	uint64_t word = 0;
	return reader->read(reader, ring->cookie_addr, &word, sizeof(word)) && word == ring->cookie;
}

/* Whether the process is called so in a namespace of its own. */
static bool is_called(pid_t pid, pid_t inner)
{
	char status[2048];
	uint64_t outermost, innermost;
	return procfs_read(pid, "status", status, sizeof(status)) > 0 &&
	       procfs_number(status, "NSpid", 0, 10, &outermost) &&
	       procfs_number(status, "NSpid", -1, 10, &innermost) && innermost != outermost &&
	       innermost == (uint64_t)inner;
}

/* Our number for the process that has made the ring; 0: it has gone.  The process itself
 * knows only that of its own pid namespace, which here may be anybody's. */
static pid_t find_pid(const struct ring *ring)
{
	struct stat own;
	if (ring->pid_namespace == 0 || stat("/proc/self/ns/pid", &own) != 0 ||
	    own.st_ino == ring->pid_namespace)
		return ring->pid;
	pid_t found = 0;
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	while (folder != NULL && found == 0 && (entry = readdir(folder)) != NULL) {
		struct mem_reader reader;
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		mem_reader_init_process(&reader, pid);
		if (pid > 0 && is_called(pid, ring->pid) && processes_have_made(&reader, ring))
			found = pid;
	}
	if (folder != NULL)
		closedir(folder);
	return found;
}

/* What the ring says of its process, as far as it is needed when that is gone. */
static struct process_facts facts_of(const struct ring *ring)
{
	pid_t pid = find_pid(ring);
	struct procfs_stat stat;
	struct process_facts facts = {
		.pid = pid != 0 ? pid : ring->pid,
		.parent_pid = pid != ring->pid && procfs_stat(pid, &stat) ? stat.parent_pid : ring->parent_pid,
		.state = atomic_load(&ring->state),
		.python = ring->python,
		.birth = procfs_start(pid),
		.start_ns = ring->start_ns,
		.image_start = ring->image_start,
	};
	memcpy(facts.version, ring->version_text, sizeof(facts.version) - 1);
	memcpy(facts.reason, ring->reason, sizeof(facts.reason) - 1);
	return facts;
}

/* ring is NULL when the process has ended. */
static struct process *add_process(struct collector *collector, const char *path, struct ring *ring,
				   const struct process_facts *facts)
{
	struct process *process = mem_zalloc(1, sizeof(*process));
	process->index = collector->processes.count;
	process->exit_status = -1;
	process->statm_fd = -1;
	process->has_moved = true;
	process->facts = *facts;
	process->ring_path = mem_copy_text(path);
	process->ring = ring;
	process->state = facts->state;
	process->pid = facts->pid;
	process->parent_pid = facts->parent_pid;
	process->start_ns = facts->start_ns;
	end_between_rings(collector, process);
	process->python = facts->python;
	process->python_text = intern_text(collector->strings, facts->version);
	if (facts->reason[0] != '\0')
		process->note = intern_text(collector->strings, facts->reason);
	if (process->state != RING_REFUSED && ring != NULL)
		learn_layout(process);
	images_init(&process->images, facts->image_start);
	map_init(&process->addresses);
	vec_push(&process->ids, 0);
	vec_push(&collector->processes, process);
	return process;
}

static void meet_process(struct collector *collector, const char *path, struct ring *ring)
{
	struct process_facts facts = facts_of(ring);
	struct process *process = add_process(collector, path, ring, &facts);
	process->has_namespace = process->pid != ring->pid;
	if (facts.birth == 0 && procfs_start(facts.pid) != 0) /* it has gone, and the number is another's */
		process->end_ns = clock_monotonic_ns();
	process->command = read_command(collector, process->pid, ring);
	process->only_serves = helpers_only_serves(collector, process);
	command_text_meet(&collector->text, process->pid, process->command);
	process->cwd = read_folder(collector, process->pid);
	process->system_name = threads_read_comm(collector, process->pid, process->pid);
	processes_note_astir(collector);
	journal_process(collector, process);
}

/* Rings of processes that have ended are gone from the folder. */
static bool is_known(const struct collector *collector, const char *path)
{
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *process = collector->processes.items[i];
		if (process->ring != NULL && strcmp(process->ring_path, path) == 0)
			return true;
	}
	return false;
}

/* A ring that was not known before. */
struct found_ring {
	uint64_t start_ns;
	char *path;
	struct ring *ring;
};

static int compare_starts(const void *a, const void *b)
{
	uint64_t left = ((const struct found_ring *)a)->start_ns;
	uint64_t right = ((const struct found_ring *)b)->start_ns;
	return (left > right) - (left < right);
}

/* A folder has no order, and the first process that is met is taken for the program. */
void processes_discover(struct collector *collector)
{
	uint32_t rings = atomic_load(&collector->control->rings);
	if (rings == collector->rings_seen)
		return;
	collector->rings_seen = rings;
	DIR *folder = opendir(collector->folder);
	if (folder == NULL)
		return;
	VEC(struct found_ring) found = VEC_EMPTY;
	struct dirent *entry;
	while ((entry = readdir(folder)) != NULL && collector->processes.count + found.count < PROCESSES_MAX) {
		if (!text_starts_with(entry->d_name, RING_FILE_PREFIX))
			continue;
		char *path = path_join(collector->folder, entry->d_name);
		struct ring *ring = is_known(collector, path) ? NULL : map_ring(path);
		if (ring != NULL && ring->magic == RING_MAGIC &&
		    ring->wire_version == WIRE_VERSION && atomic_load(&ring->state) != RING_STARTING) {
			vec_push(&found, ((struct found_ring){ring->start_ns, path, ring}));
			continue;
		}
		if (ring != NULL)
			munmap(ring, sizeof(*ring));
		free(path);
	}
	closedir(folder);
	if (found.count > 1)
		qsort(found.items, found.count, sizeof(found.items[0]), compare_starts);
	for (uint32_t i = 0; i < found.count; i++) {
		meet_process(collector, found.items[i].path, found.items[i].ring);
		free(found.items[i].path);
	}
	vec_free(&found);
}

/* --- draining --- */

void processes_note_astir(struct collector *collector)
{
	collector->astir_ns = clock_monotonic_ns();
}

/* What has been written since the last round; when it is much, rounds come often, so that
 * the ring does not fill. */
static void note_fill(struct collector *collector, struct process *process)
{
	uint64_t fill = atomic_load(&process->ring->head) - atomic_load(&process->ring->tail);
	if (fill > 0)
		process->has_moved = true;
	if (fill > RING_BUSY_BYTES)
		processes_note_astir(collector);
}

/* All records but code objects begin with the time. */
static void note_time(struct process *process, const struct record *record)
{
	uint64_t time_ns;
	if (record->type == RECORD_CODE || record->size < sizeof(*record) + sizeof(time_ns))
		return;
	memcpy(&time_ns, record + 1, sizeof(time_ns));
	if (time_ns > process->seen_ns && time_ns <= clock_monotonic_ns())
		process->seen_ns = time_ns;
}

static void on_exit_record(struct collector *collector, struct process *process,
			   const struct record_exit *record)
{
	process->exit_status = record->status & 0xff;
	process->exit_ns = record->time_ns;
	process->exit_delay_ns = record->delay_ns;
	threads_on_exit(process, record);
	memory_on_exit(collector, process, record);
}

static bool on_record(struct collector *collector, struct process *process,
		      const struct record *record)
{
	if (collector->is_catching_up)
		note_time(process, record);
	switch (record->type) {
	case RECORD_CODE:
		return record->size >= sizeof(struct record_code) &&
		       processes_on_code(collector, process, (const struct record_code *)record);
	case RECORD_SAMPLE:
		return record->size >= sizeof(struct record_sample) &&
		       samples_on_record(collector, process, (const struct record_sample *)record);
	case RECORD_THREAD:
	case RECORD_THREAD_END:
		if (record->size < sizeof(struct record_thread))
			return false;
		threads_on_record(collector, process, (const struct record_thread *)record);
		return true;
	case RECORD_ALLOC:
		return record->size >= sizeof(struct record_alloc) &&
		       memory_on_alloc(collector, process, (const struct record_alloc *)record);
	case RECORD_FREE:
		return record->size >= sizeof(struct record_free) &&
		       memory_on_free(collector, process, (const struct record_free *)record);
	case RECORD_COPY:
		return record->size >= sizeof(struct record_copy) &&
		       memory_on_copy(collector, process, (const struct record_copy *)record);
	case RECORD_MAPPING:
		return record->size >= sizeof(struct record_mapping) &&
		       memory_on_mapping(collector, process, (const struct record_mapping *)record);
	case RECORD_GPU_STATE:
		return record->size >= sizeof(struct record_gpu_state) &&
		       gpu_on_state(collector, process, (const struct record_gpu_state *)record);
	case RECORD_GPU_DEVICE:
		return record->size >= sizeof(struct record_gpu_device) &&
		       gpu_on_device(collector, process, (const struct record_gpu_device *)record);
	case RECORD_GPU_SITE:
		return record->size >= sizeof(struct record_gpu_site) &&
		       gpu_on_site(collector, process, (const struct record_gpu_site *)record);
	case RECORD_GPU_WORK:
		return record->size >= sizeof(struct record_gpu_work) &&
		       gpu_on_work(collector, process, (const struct record_gpu_work *)record);
	case RECORD_GPU_SPAN:
		return record->size >= sizeof(struct record_gpu_span) &&
		       gpu_on_span(collector, process, (const struct record_gpu_span *)record);
	case RECORD_MARK:
		return record->size >= sizeof(struct record_mark) &&
		       marks_on_record(collector, process, (const struct record_mark *)record);
	case RECORD_EXIT:
		if (record->size < sizeof(struct record_exit))
			return false;
		on_exit_record(collector, process, (const struct record_exit *)record);
		return true;
	default:
		return false;
	}
}

static void drain(struct collector *collector, struct process *process, bool is_final)
{
	bool damaged = false;
	const struct record *record;
	note_fill(collector, process);
	while ((record = ring_peek(process->ring, is_final, &damaged)) != NULL) {
		uint32_t size = record->size;
		bool fits = size <= RECORD_MAX_BYTES && size >= sizeof(*record);
		if (fits)
			memcpy(collector->scratch, record, size);
		struct record *copy = (struct record *)(void *)collector->scratch;
		copy->size = size;
		if (fits)
			journal_record(collector, process, copy,
				       atomic_load(&process->ring->tail));
		if (!fits || !on_record(collector, process, copy))
			process->lost[LOST_BAD_RECORD]++;
		ring_consume(process->ring, record);
	}
	if (damaged && process->note == NULL) {
		process->lost[LOST_BAD_RECORD]++;
		process->note = intern_text(collector->strings,
					    "its sample buffer was overwritten; the rest is lost");
	}
}

/* Whether the front tells when it ends: until it has waited for it, the kernel knows its number. */
static bool is_waited_for(const struct collector *collector, const struct process *process)
{
	return collector->has_front && process->pid == atomic_load(&collector->control->program_pid);
}

/* Whether the process still runs the program that made the ring. */
static bool is_alive(const struct collector *collector, struct process *process)
{
	if (process->end_ns != 0)
		return false;
	if (atomic_load(&process->ring->is_left) != 0) {
		process->is_left = true;
		return false;
	}
	uint64_t exec_ns = atomic_load(&process->ring->exec_ns);
	if (exec_ns > process->start_ns && exec_ns <= clock_monotonic_ns() &&
	    !processes_have_made(&process->reader, process->ring)) {
		process->end_ns = exec_ns;
		return false;
	}
	return is_waited_for(collector, process) || kill(process->pid, 0) == 0 || errno == EPERM;
}

/* The last word on a process that has ended. */
static void finish_process(struct collector *collector, struct process *process)
{
	for (uint32_t i = 0; i < process->threads.count; i++)
		watch_end(collector, process, process->threads.items[i], process->end_ns);
	heap_process_end(&collector->heap, process->index,
			 (double)(process->end_ns - collector->start_ns) * 1e-9);
	gpu_on_end(collector, process);
	memory_close(process);
	if (process->ring != NULL)
		munmap(process->ring, sizeof(*process->ring));
	process->ring = NULL;
	unlink(process->ring_path);
	/* Of thousands of processes no more is kept than the profile tells. */
	vec_free(&process->slots);
	vec_free(&process->ids);
	map_fini(&process->addresses);
	images_fini(&process->images);
	images_init(&process->images, 0);
}

/* A process that ended while no collector looked was last heard of earlier.  Else it has ended
 * since the last look: when it said so, if it did. */
static uint64_t end_of(const struct collector *collector, const struct process *process)
{
	if (collector->is_catching_up)
		return process->seen_ns > process->start_ns ? process->seen_ns : process->start_ns;
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t look_ns = process->threads.count > 0 ? process->threads.items[0]->look_ns : 0;
	if (process->exit_ns == 0 || process->exit_ns > now_ns || look_ns > now_ns)
		return now_ns;
	return process->exit_ns > look_ns ? process->exit_ns : look_ns;
}

/* Why the agent has left, if it says so. */
static const char *read_reason(struct collector *collector, const struct ring *ring)
{
	char text[RING_REASON_BYTES] = "";
	memcpy(text, ring->reason, sizeof(text) - 1);
	return text[0] != '\0' ? intern_text(collector->strings, text) : NULL;
}

static void close_process(struct collector *collector, struct process *process)
{
	drain(collector, process, true);
	processes_note_astir(collector);
	if (process->end_ns == 0)
		process->end_ns = end_of(collector, process);
	for (uint32_t i = 0; i < LOST_REASON_COUNT; i++)
		process->lost[i] += atomic_load(&process->ring->lost[i]);
	process->owed_bytes = atomic_load(&process->ring->owed_bytes);
	process->clocks = atomic_load(&process->ring->clocks);
	process->agent_ns = atomic_load(&process->ring->agent_ns);
	process->has_executed = atomic_load(&process->ring->exec_ns) != 0;
	if (process->is_left && process->note == NULL)
		process->note = read_reason(collector, process->ring);
	journal_end(collector, process);
	finish_process(collector, process);
}

void processes_drain(struct collector *collector)
{
	/* The ended ones first: what the others allocated since is not beside it.
	 * Asked before draining: what it wrote last is then in the ring. */
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *process = collector->processes.items[i];
		if (process->ring != NULL && !is_alive(collector, process))
			close_process(collector, process);
	}
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *process = collector->processes.items[i];
		if (process->ring != NULL)
			drain(collector, process, false);
	}
}

void processes_look_at_lives(struct collector *collector)
{
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *process = collector->processes.items[i];
		if (process->ring != NULL && !procfs_is_alive(process->pid, process->facts.birth))
			close_process(collector, process);
	}
}

/* --- after another collector, see journal.h --- */

void processes_add_again(struct collector *collector, const char *path,
			 const struct process_facts *facts, const char *command, const char *cwd)
{
	struct ring *ring = map_ring(path);
	if (ring != NULL && (ring->magic != RING_MAGIC || ring->wire_version != WIRE_VERSION)) {
		munmap(ring, sizeof(*ring));
		ring = NULL;
	}
	struct process *process = add_process(collector, path, ring, facts);
	process->command = intern_text(collector->strings, command);
	process->only_serves = helpers_only_serves(collector, process);
	process->cwd = intern_text(collector->strings, cwd);
	if (ring == NULL && process->end_ns == 0)
		process->end_ns = process->start_ns;
}

void processes_take_again(struct collector *collector, struct process *process,
			  const struct record *record, uint64_t position, bool is_from_look)
{
	struct record *copy = (struct record *)(void *)collector->scratch;
	memcpy(copy, record, record->size);
	if (is_from_look && record->type == RECORD_CODE) {
		processes_take_code(collector, process, (const struct record_code *)copy);
		return;
	}
	if (is_from_look) {
		on_record(collector, process, copy);
		return;
	}
	process->taken_at = position;
	process->taken_size = record->size;
	on_record(collector, process, copy);
}

void processes_end_again(struct collector *collector, struct process *process)
{
	finish_process(collector, process);
}

void processes_go_on(struct collector *collector)
{
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		struct process *process = collector->processes.items[i];
		if (process->ring != NULL && process->taken_size != 0)
			ring_skip_taken(process->ring, process->taken_at, process->taken_size);
	}
	collector->rings_seen = 0;
}
