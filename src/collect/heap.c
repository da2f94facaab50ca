/* heap.c - see heap.h. */
#include "collect/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define SITES_MAX 100000u

/* What it is made of is taken anew when the highest estimate has grown by this share. */
#define COMPOSE_STEP 1.01

/* A block that lives no longer is a temporary of its expression or call. */
#define BRIEF_S 0.1

/* A line makes temporaries when it had so many samples, of which at most one in so many
 * did not end at once. */
#define TEMPORARY_AFTER 16u
#define TEMPORARY_LASTING 32u

/* A block that has grown is met twice and more, nearly always, where it is so many times as large as
 * what a sample stands for. */
#define EXACT_TIMES 8u

/* --- sites --- */

static uint32_t site_new(struct heap *heap, struct site site)
{
	if (heap->sites.count >= SITES_MAX)
		return SITE_NONE;
	site.first_s = -1;
	series_init(&site.series, SITE_POINTS, 0.02f);
	vec_push(&heap->sites, site);
	return heap->sites.count - 1;
}

void heap_init(struct heap *heap)
{
	memset(heap, 0, sizeof(*heap));
	map_init(&heap->lines);
	map_init(&heap->functions);
	map_init(&heap->returns);
	site_new(heap, (struct site){.line = 0});
	heap->composed_scale = 1;
	live_table_init(&heap->live);
	series_init(&heap->footprint, FOOTPRINT_POINTS, 0.01f);
	series_init(&heap->volume, VOLUME_POINTS, 0.02f);
}

void heap_fini(struct heap *heap)
{
	for (uint32_t i = 0; i < heap->sites.count; i++)
		series_fini(&heap->sites.items[i].series);
	vec_free(&heap->sites);
	vec_free(&heap->nodes);
	vec_free(&heap->ending_s);
	map_fini(&heap->lines);
	map_fini(&heap->functions);
	map_fini(&heap->returns);
	live_table_fini(&heap->live);
	series_fini(&heap->footprint);
	series_fini(&heap->volume);
}

uint32_t heap_line_site(struct heap *heap, const char *filename, uint32_t line)
{
	bool is_new;
	/* File names are interned, so the address stands for the name. */
	uint64_t key = map_hash_number((uint64_t)(uintptr_t)filename) ^ line;
	uint64_t *site = map_put(&heap->lines, key, &is_new);
	if (is_new)
		*site = site_new(heap, (struct site){.filename = filename, .line = line});
	return (uint32_t)*site;
}

uint32_t heap_function_site(struct heap *heap, const char *filename, const char *function,
			    uint32_t first_line)
{
	bool is_new;
	uint64_t key = map_hash_number((uint64_t)(uintptr_t)filename);
	key = map_hash_number(key ^ (uint64_t)(uintptr_t)function) ^ first_line;
	uint64_t *site = map_put(&heap->functions, key, &is_new);
	if (is_new)
		*site = site_new(heap, (struct site){.filename = filename, .function = function,
						     .line = first_line});
	return (uint32_t)*site;
}

/* By how much what is live grows or, below 0, shrinks. */
struct change {
	double bytes;
	double chance_bytes; /* of them */
	double grain;        /* what a new sample stands for beyond itself */
	double carried;      /* of bytes, what another block had until now */
	double time_s;
	bool is_move; /* the block goes on as another, which comes next */
};

/* live_bytes is so before the change, chance_bytes so after it. */
static void note_change(struct peak *peak, double live_bytes, double chance_bytes, const struct change *change)
{
	struct peak_growth growth = {
		.live = live_bytes + change->bytes,
		.by_chance = chance_bytes,
		.bytes = change->bytes,
		.grain = change->grain,
		.carried = change->carried,
	};
	if (change->bytes > 0)
		peak_grow(peak, &growth, change->time_s);
	else
		peak_pass_time(peak, live_bytes, change->time_s);
}

/* Brings the integral up to now, then changes the live bytes. */
static void site_change(struct site *site, const struct change *change)
{
	double time_s = change->time_s;
	if (site->first_s < 0)
		site->first_s = site->last_s = time_s;
	if (time_s > site->last_s) {
		site->byte_seconds += site->live_bytes * (time_s - site->last_s);
		site->last_s = time_s;
	}
	site->chance_bytes = fmax(site->chance_bytes + change->chance_bytes, 0);
	note_change(&site->peak, site->live_bytes, site->chance_bytes, change);
	site->live_bytes = fmax(site->live_bytes + change->bytes, 0);
	if (site->function == NULL && !change->is_move)
		series_add(&site->series, (float)time_s, (float)(site->live_bytes / MB), 0);
}

double heap_average(const struct site *site, double end_s)
{
	if (site->first_s < 0 || end_s <= site->first_s)
		return site->live_bytes;
	double rest_s = end_s > site->last_s ? end_s - site->last_s : 0;
	return (site->byte_seconds + site->live_bytes * rest_s) / (end_s - site->first_s);
}

double heap_average_all(const struct heap *heap, double end_s)
{
	double rest_s = end_s > heap->last_s ? end_s - heap->last_s : 0;
	if (heap->last_s + rest_s <= 0)
		return heap->live_bytes;
	return (heap->byte_seconds + heap->live_bytes * rest_s) / (heap->last_s + rest_s);
}

/* --- events --- */

/* Notes what the highest estimate is made of; called before the first end after it. */
static void compose_peak(struct heap *heap)
{
	heap->is_at_peak = false;
	if (heap->live_bytes < heap->composed_bytes * COMPOSE_STEP)
		return;
	heap->composed_bytes = heap->live_bytes;
	heap->composed++;
	for (uint32_t i = 0; i < heap->sites.count; i++)
		heap->sites.items[i].at_peak_bytes = heap->sites.items[i].live_bytes;
}

double heap_peak(const struct heap *heap)
{
	double most = peak_bytes(&heap->peak);
	/* Each errs for itself. */
	for (uint32_t i = 0; i < heap->sites.count; i++)
		most = fmax(most, peak_bytes(&heap->sites.items[i].peak));
	return fmin(most, heap->most_bytes);
}

/* What lies above a site's own peak is chance. */
static double without_chance(const struct site *site)
{
	return fmin(site->at_peak_bytes, peak_bytes(&site->peak));
}

void heap_compose(struct heap *heap)
{
	double parts = 0;
	/* Nothing has ended since then, so it is still there to be looked at. */
	if (heap->is_at_peak)
		compose_peak(heap);
	for (uint32_t i = 0; i < heap->sites.count; i++) {
		if (heap->sites.items[i].function == NULL)
			parts += without_chance(&heap->sites.items[i]);
	}
	heap->composed_scale = parts > 0 ? fmin(heap_peak(heap) / parts, 1) : 1;
}

double heap_site_at_peak(const struct heap *heap, const struct site *site)
{
	return without_chance(site) * heap->composed_scale;
}

double heap_node_at_peak(const struct heap *heap, uint32_t node)
{
	if (node >= heap->nodes.count || heap->composed == 0)
		return 0;
	const struct heap_node *at = &heap->nodes.items[node];
	const struct site *line = &heap->sites.items[at->line_site];
	double bytes = at->composed == heap->composed ? at->at_peak_bytes : at->live_bytes;
	return line->at_peak_bytes > 0 ? bytes * heap_site_at_peak(heap, line) / line->at_peak_bytes : 0;
}

/* Notes what the node held at the peak, if that is not done, then changes it:
 * composing the peak must not cost a pass over all stacks. */
static void node_change(struct heap *heap, const struct live *entry, double bytes)
{
	while (heap->nodes.count <= entry->node)
		vec_push(&heap->nodes, (struct heap_node){0});
	struct heap_node *at = &heap->nodes.items[entry->node];
	at->line_site = entry->line_site;
	if (at->composed != heap->composed) {
		at->at_peak_bytes = at->live_bytes;
		at->composed = heap->composed;
	}
	at->live_bytes += bytes;
	if (at->live_bytes < 0)
		at->live_bytes = 0;
}

static void change_live(struct heap *heap, const struct live *entry, const struct change *change)
{
	double bytes = change->bytes, time_s = change->time_s;
	if (bytes < 0 && heap->is_at_peak)
		compose_peak(heap);
	if (time_s > heap->last_s) {
		heap->byte_seconds += heap->live_bytes * (time_s - heap->last_s);
		heap->last_s = time_s;
	}
	site_change(&heap->sites.items[entry->line_site], change);
	if (entry->function_site != SITE_NONE)
		site_change(&heap->sites.items[entry->function_site], change);
	node_change(heap, entry, bytes);
	heap->chance_bytes = fmax(heap->chance_bytes + change->chance_bytes, 0);
	note_change(&heap->peak, heap->live_bytes, heap->chance_bytes, change);
	heap->live_bytes += bytes;
	if (entry->is_python)
		heap->live_python_bytes += bytes;
	if (heap->live_bytes > heap->most_bytes) {
		heap->most_bytes = heap->live_bytes;
		heap->most_python_bytes = heap->live_python_bytes;
		heap->peak_s = time_s;
		heap->is_at_peak = true;
	}
}

static void count_alloc(struct site *site, const struct heap_alloc *alloc, double count)
{
	site->alloc_bytes += (double)alloc->weight;
	site->alloc_count += count;
	if (alloc->is_python)
		site->python_bytes += (double)alloc->weight;
}

/* A line that each of many processes comes to is not come back to. */
static void count_return(struct heap *heap, const struct heap_alloc *alloc)
{
	uint64_t key = (uint64_t)alloc->process << 32 | alloc->line_site;
	uint64_t returns = ++*map_put(&heap->returns, key, NULL);
	struct site *line = &heap->sites.items[alloc->line_site];
	if (returns > line->returns)
		line->returns = returns;
}

/* A thread that has waited to be asked for something since it was last at the line, or that
 * has begun since, is there for another piece of work. */
static void count_work(struct site *line, const struct heap_alloc *alloc)
{
	uint64_t worker = (uint64_t)alloc->process << 32 | alloc->thread;
	if (alloc->begun_s > line->worked_s || (worker == line->worker && alloc->asked != line->asked))
		line->works++;
	line->worker = worker;
	line->asked = alloc->asked;
	line->worked_s = alloc->time_s;
}

static void count_all(struct heap *heap, const struct heap_alloc *alloc)
{
	double count = alloc->size > 0 ? (double)alloc->weight / (double)alloc->size : 1;
	heap->alloc_bytes += (double)alloc->weight;
	heap->alloc_count += count;
	if (alloc->is_python)
		heap->python_bytes += (double)alloc->weight;
	series_add(&heap->volume, (float)alloc->time_s, (float)(heap->alloc_bytes / MB), 0);
	count_alloc(&heap->sites.items[alloc->line_site], alloc, count);
	count_work(&heap->sites.items[alloc->line_site], alloc);
	if (alloc->is_return)
		count_return(heap, alloc);
	if (alloc->function_site != SITE_NONE)
		count_alloc(&heap->sites.items[alloc->function_site], alloc, count);
}

static bool makes_temporaries(const struct site *line)
{
	return line->samples >= TEMPORARY_AFTER &&
	       (line->samples - line->brief) * TEMPORARY_LASTING <= line->samples;
}

/* What the entry stands for beyond what it counts for; it is alone no more. */
static double end_lone(struct site *line, const struct live *entry)
{
	if (entry->key != line->lone_key)
		return 0;
	line->lone_key = 0;
	return line->lone_bytes;
}

/* The sample lasts: it counts for all that it stands for. */
static void settle(struct heap *heap, struct live *entry, double time_s)
{
	double bytes = end_lone(&heap->sites.items[entry->line_site], entry);
	if (bytes <= 0)
		return;
	const struct change change = {.bytes = bytes, .chance_bytes = bytes, .grain = bytes, .time_s = time_s};
	change_live(heap, entry, &change);
	entry->bytes += (uint64_t)bytes;
	entry->chance_bytes = (float)bytes;
}

/* Who resizes a block takes over what another line has allocated of it, and counts all of it as
 * allocated itself.  Both are estimates, so the one may exceed the other. */
static double room_for_carried(const struct site *site, const struct heap_alloc *alloc)
{
	double live = site->live_bytes + (double)(alloc->weight - alloc->replaced);
	return fmax(site->alloc_bytes - live, 0);
}

/* A block that is large against what its samples stand for was met for sure, and how large it is
 * is known. */
static void correct_carried(struct heap_alloc *alloc)
{
	uint64_t live = alloc->weight - alloc->replaced;
	if (alloc->size > live && alloc->size / EXACT_TIMES >= live && alloc->carried <= 2 * alloc->size)
		alloc->carried = alloc->size - live;
}

static void cut_carried(const struct heap *heap, struct heap_alloc *alloc)
{
	double room = room_for_carried(&heap->sites.items[alloc->line_site], alloc);
	if (alloc->function_site != SITE_NONE)
		room = fmin(room, room_for_carried(&heap->sites.items[alloc->function_site], alloc));
	if ((double)alloc->carried > room)
		alloc->carried = (uint64_t)room;
}

bool heap_alloc(struct heap *heap, struct heap_alloc *alloc)
{
	heap->samples++;
	if (!alloc->is_startup)
		count_all(heap, alloc);
	if (alloc->carried > 0)
		correct_carried(alloc);
	if (alloc->carried > 0 && !alloc->is_startup)
		cut_carried(heap, alloc);
	uint64_t key = live_key(alloc->process, alloc->id);
	if (alloc->is_untracked || heap->live.count >= LIVE_MAX ||
	    live_table_find(&heap->live, key)->key != 0) {
		heap->untracked++;
		return false;
	}
	struct site *line = &heap->sites.items[alloc->line_site];
	if (line->lone_key != 0)
		settle(heap, live_table_find(&heap->live, line->lone_key), alloc->time_s);
	struct live *entry = live_table_add(&heap->live, (struct live){
		.key = key,
		.node = alloc->node,
		.line_site = alloc->line_site,
		.function_site = alloc->function_site,
		.born_s = (float)alloc->time_s,
		.ready_s = (float)alloc->ready_s,
		.thread = alloc->thread,
		.bytes = alloc->weight - alloc->replaced + alloc->carried,
		.is_python = alloc->is_python,
	});
	double grain = entry->bytes > alloc->size ? (double)(entry->bytes - alloc->size) : 0;
	if (grain > 0 && makes_temporaries(line)) {
		line->lone_key = key;
		line->lone_bytes = grain;
		entry->bytes = alloc->size;
	} else {
		entry->chance_bytes = (float)grain;
	}
	line->samples++;
	if (alloc->function_site != SITE_NONE)
		heap->sites.items[alloc->function_site].samples++;
	const struct change change = {
		.bytes = (double)entry->bytes,
		.chance_bytes = (double)entry->chance_bytes,
		.grain = grain,
		.carried = fmin((double)alloc->carried, (double)entry->bytes),
		.time_s = alloc->time_s,
	};
	change_live(heap, entry, &change);
	return true;
}

static void end_live(struct heap *heap, struct live *entry, bool is_move, double time_s)
{
	const struct change change = {
		.bytes = -(double)entry->bytes,
		.chance_bytes = -(double)entry->chance_bytes,
		.time_s = time_s,
		.is_move = is_move,
	};
	change_live(heap, entry, &change);
	live_table_remove(&heap->live, entry);
}

static void count_growth(struct heap *heap, const struct live *entry, double bytes)
{
	heap->alloc_bytes += bytes;
	heap->sites.items[entry->line_site].alloc_bytes += bytes;
	if (entry->function_site != SITE_NONE)
		heap->sites.items[entry->function_site].alloc_bytes += bytes;
}

bool heap_resize(struct heap *heap, uint32_t process, uint64_t id, uint64_t bytes, bool is_startup,
		 double time_s, uint32_t *node, double *growth)
{
	struct live *entry = live_table_find(&heap->live, live_key(process, id));
	if (entry->key == 0)
		return false;
	*node = entry->node;
	*growth = (double)bytes - (double)entry->bytes;
	if (*growth > 0 && !is_startup)
		count_growth(heap, entry, *growth);
	change_live(heap, entry, &(struct change){.bytes = *growth, .time_s = time_s});
	entry->bytes = bytes;
	return true;
}

bool heap_shrink(struct heap *heap, uint32_t process, uint64_t id, double part, double time_s,
		 uint32_t *node, uint64_t *bytes)
{
	struct live *entry = live_table_find(&heap->live, live_key(process, id));
	if (entry->key == 0)
		return false;
	uint64_t left = (uint64_t)((double)entry->bytes * part);
	float chance = entry->chance_bytes * (float)part;
	*node = entry->node;
	*bytes = entry->bytes - left;
	const struct change change = {
		.bytes = -(double)*bytes,
		.chance_bytes = (double)(chance - entry->chance_bytes),
		.time_s = time_s,
	};
	change_live(heap, entry, &change);
	entry->bytes = left;
	entry->chance_bytes = chance;
	return true;
}

static void count_end(struct site *site, bool is_moved, bool is_brief)
{
	if (is_moved)
		site->moved++;
	else if (is_brief)
		site->brief++;
	else
		site->freed++;
}

static bool is_temporary(const struct live *entry, double time_s)
{
	return time_s - (double)entry->born_s < BRIEF_S;
}

struct live *heap_lasting(const struct heap *heap, uint32_t process, uint64_t id, double time_s)
{
	struct live *entry = live_table_find(&heap->live, live_key(process, id));
	return entry->key != 0 && !is_temporary(entry, time_s) ? entry : NULL;
}

bool heap_free(struct heap *heap, uint32_t process, uint64_t id, double time_s, bool is_moved,
	       uint32_t *node, uint64_t *bytes)
{
	struct live *entry = live_table_find(&heap->live, live_key(process, id));
	if (entry->key == 0)
		return false;
	*node = entry->node;
	*bytes = entry->bytes + (uint64_t)end_lone(&heap->sites.items[entry->line_site], entry);
	bool is_brief = is_temporary(entry, time_s);
	count_end(&heap->sites.items[entry->line_site], is_moved, is_brief);
	if (entry->function_site != SITE_NONE)
		count_end(&heap->sites.items[entry->function_site], is_moved, is_brief);
	end_live(heap, entry, is_moved, time_s);
	return true;
}

void heap_copy(struct heap *heap, uint32_t line_site, uint32_t function_site, uint64_t weight)
{
	heap->copy_bytes += (double)weight;
	heap->sites.items[line_site].copy_bytes += (double)weight;
	if (function_site != SITE_NONE)
		heap->sites.items[function_site].copy_bytes += (double)weight;
}

/* What a process has as it ends, it has kept: also samples that were alone until now.  All of
 * them first, while the others are still there. */
static void settle_process(struct heap *heap, uint32_t process, double time_s)
{
	for (uint32_t i = 0; i < heap->sites.count; i++) {
		uint64_t key = heap->sites.items[i].lone_key;
		if (key != 0 && live_is_of_process(key, process))
			settle(heap, live_table_find(&heap->live, key), time_s);
	}
}

static void end_site(struct site *site, const struct live *entry)
{
	peak_hold(&site->peak, site->live_bytes);
	site->ended_bytes += (double)entry->bytes;
}

static void end_with_process(struct heap *heap, struct live *entry, double time_s)
{
	peak_hold(&heap->peak, heap->live_bytes);
	end_site(&heap->sites.items[entry->line_site], entry);
	if (entry->function_site != SITE_NONE)
		end_site(&heap->sites.items[entry->function_site], entry);
	end_live(heap, entry, false, time_s);
}

/* Nothing is left to be done where that is known. */
static void begin_end(struct heap *heap, uint32_t process, double time_s)
{
	while (heap->ending_s.count <= process)
		vec_push(&heap->ending_s, 0);
	if (heap->ending_s.items[process] > 0)
		return;
	heap->ending_s.items[process] = time_s;
	settle_process(heap, process, time_s);
}

double heap_program_end(const struct heap *heap, uint32_t processes, double end_s)
{
	double last_s = 0;
	for (uint32_t i = 0; i < processes; i++) {
		double ending_s = i < heap->ending_s.count ? heap->ending_s.items[i] : 0;
		last_s = fmax(last_s, ending_s > 0 ? ending_s : end_s);
	}
	return last_s > 0 ? fmin(last_s, end_s) : end_s;
}

void heap_end(struct heap *heap, uint32_t process, uint64_t id, double time_s)
{
	begin_end(heap, process, time_s);
	struct live *entry = live_table_find(&heap->live, live_key(process, id));
	if (entry->key != 0)
		end_with_process(heap, entry, time_s);
}

void heap_process_end(struct heap *heap, uint32_t process, double time_s)
{
	begin_end(heap, process, time_s);
	/* Removing moves entries; so each place is looked at until it holds none. */
	for (uint32_t i = 0; i <= heap->live.mask; i++) {
		struct live *entry = &heap->live.items[i];
		while (entry->key != 0 && live_is_of_process(entry->key, process))
			end_with_process(heap, entry, time_s);
	}
}

void heap_note_resident(struct heap *heap, double bytes)
{
	heap->peak_rss_bytes = fmax(heap->peak_rss_bytes, bytes);
}

void heap_tick(struct heap *heap, double time_s, double rss_bytes)
{
	heap_note_resident(heap, rss_bytes);
	/* A peak that has come and gone since the last time, or before it, if we were told late. */
	if (heap->most_bytes > heap->noted_most_bytes) {
		double at_s = heap->peak_s > heap->ticked_s ? heap->peak_s : heap->ticked_s;
		series_add(&heap->footprint, (float)at_s, (float)(heap->most_bytes / MB),
			   (float)(rss_bytes / MB));
		heap->noted_most_bytes = heap->most_bytes;
	}
	heap->ticked_s = time_s;
	series_add(&heap->footprint, (float)time_s, (float)(heap->live_bytes / MB),
		   (float)(rss_bytes / MB));
}
