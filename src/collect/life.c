/* life.c - all that a collector holds: made, and given back.
 *
 * What each part is belongs to its module; here is only the order.  The lists of
 * the scope are split once, since every new code object is held to them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/chosen.h"
#include "collect/collector.h"
#include "collect/folder.h"

#define LIST_MAX 64u

static uint32_t split_list(const char *list, const char **items, char **copy)
{
	uint32_t count = 0;
	*copy = list == NULL ? NULL : mem_copy_text(list);
	char *rest = NULL;
	for (char *item = *copy == NULL ? NULL : strtok_r(*copy, ",", &rest);
	     item != NULL && count < LIST_MAX; item = strtok_r(NULL, ",", &rest))
		items[count++] = item;
	return count;
}

/* The lists of the scope, split once for the whole run. */
struct scope_lists {
	const char *only[LIST_MAX], *exclude[LIST_MAX];
	char *only_copy, *exclude_copy; /* owned */
};

static void init_scope(struct collector *collector, struct scope_lists *lists)
{
	const struct run_options *options = collector->options;
	const struct run_scope *scope = &options->scope;
	collector->scope = (struct scope_rules){
		.program = options->program,
		.folder = scope->program_path != NULL ? scope->program_path
						      : options->entrypoint_dir,
		.only = lists->only,
		.only_count = split_list(scope->only, lists->only, &lists->only_copy),
		.exclude = lists->exclude,
		.exclude_count = split_list(scope->exclude, lists->exclude, &lists->exclude_copy),
		.profile_all = scope->is_all,
		.profile_system_libraries = scope->has_system_libraries,
	};
	scope_init(&collector->scope);
}

static void collector_init(struct collector *collector, const struct run_options *options)
{
	memset(collector, 0, sizeof(*collector));
	collector->journal.fd = -1; /* none yet */
	collector->options = options;
	collector->strings = intern_new();
	codes_init(&collector->codes, collector->strings);
	tree_init(&collector->tree);
	heap_init(&collector->heap);
	gpu_init(&collector->gpu);
	awaits_init(&collector->awaits);
	timeline_init(&collector->timeline);
	map_init(&collector->moment_index);
	collector->random = clock_monotonic_ns() | 1;
	collector->scratch = mem_alloc(RECORD_MAX_BYTES);
	collector->code_room_size = RECORD_MAX_BYTES;
	collector->code_room = mem_alloc(collector->code_room_size);
	collector->walk_scratch = mem_alloc(sizeof(*collector->walk_scratch));
	/* Read only as far as they were written; to zero them would touch each page: 4 us a page. */
	collector->walk_frames = mem_alloc(WALK_MAX_FRAMES * sizeof(*collector->walk_frames));
	collector->tree_frames = mem_alloc(WALK_MAX_FRAMES * sizeof(*collector->tree_frames));
	collector->identities = mem_alloc(WALK_MAX_FRAMES * sizeof(*collector->identities));
}

static void free_process(struct process *process)
{
	if (process->ring != NULL)
		munmap(process->ring, sizeof(*process->ring));
	for (uint32_t i = 0; i < process->threads.count; i++) {
		loop_tasks_free(process->threads.items[i]->loop);
		free(process->threads.items[i]);
	}
	vec_free(&process->threads);
	vec_free(&process->slots);
	vec_free(&process->ids);
	vec_free(&process->gpu.sites);
	map_fini(&process->addresses);
	images_fini(&process->images);
	free(process->ring_path);
	free(process->unmet_threads);
	free(process->unmet_children);
	free(process);
}

static void collector_fini(struct collector *collector)
{
	for (uint32_t i = 0; i < collector->processes.count; i++)
		free_process(collector->processes.items[i]);
	vec_free(&collector->processes);
	for (uint32_t i = 0; i < collector->interpreters.count; i++) {
		evaluator_fini(&collector->interpreters.items[i]->evaluator);
		free(collector->interpreters.items[i]->path);
		free(collector->interpreters.items[i]);
	}
	vec_free(&collector->interpreters);
	chosen_fini(collector);
	command_text_fini(&collector->text);
	sources_fini(&collector->sources);
	vec_free(&collector->marks);
	vec_free(&collector->moments);
	map_fini(&collector->moment_index);
	codes_fini(&collector->codes);
	tree_fini(&collector->tree);
	heap_fini(&collector->heap);
	gpu_fini(&collector->gpu);
	awaits_fini(&collector->awaits);
	timeline_fini(&collector->timeline);
	intern_free(collector->strings);
	scope_fini(&collector->scope);
	free(collector->scratch);
	free(collector->code_room);
	free(collector->walk_scratch);
	free(collector->walk_frames);
	free(collector->tree_frames);
	free(collector->identities);
	journal_fini(&collector->journal);
	free(collector->before);
	folder_remove(collector->folder, collector->control);
}

/* A collector with its lists, and a control page that nobody else sees until it
 * gets that of a run. */
struct own_collector {
	struct collector collector; /* first: what is handed out */
	struct scope_lists lists;
	struct control control;
};

struct collector *collector_new(const struct run_options *options)
{
	struct own_collector *own = mem_zalloc(1, sizeof(*own));
	collector_init(&own->collector, options);
	init_scope(&own->collector, &own->lists);
	own->collector.control = &own->control;
	return &own->collector;
}

void collector_free(struct collector *collector)
{
	struct own_collector *own = (struct own_collector *)(void *)collector;
	if (own == NULL)
		return;
	if (own->collector.control == &own->control)
		own->collector.control = NULL; /* not mapped */
	collector_fini(&own->collector);
	free(own->lists.only_copy);
	free(own->lists.exclude_copy);
	free(own);
}
