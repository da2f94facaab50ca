/* heap.h - who holds how much memory, over time.
 *
 * Fed with the sampled allocations, their ends and the sampled copies of all
 * processes, in the order of their rings.  A site is a line or a function;
 * every allocation belongs to one of each, or to site 0 when no line in scope
 * is on its stack.  Allocations of the interpreter's own start are live memory
 * like any other, but not counted in what was allocated.
 *
 * Of temporaries, one that happens to be sampled stands for all that its line took since
 * the sample before, nearly none of which lives.  On average that is right, but a peak is
 * the largest of many estimates: 32 bytes at a time looked like megabytes.  So where nearly
 * all of a line's samples have ended at once, a sample is alone until the line's next one
 * meets it alive, or its process ends: so long it counts for its own size.
 *
 * Invariants.  (1) The live bytes of all line sites (with site 0) add up to
 * live_bytes.  (2) Nothing is ever negative: an end that is not known is
 * passed over. */
#ifndef HEATLINE_COLLECT_HEAP_H
#define HEATLINE_COLLECT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/live_table.h"
#include "collect/peak.h"
#include "collect/series.h"

#define SITE_POINTS 100u
#define FOOTPRINT_POINTS 1000u
#define VOLUME_POINTS 400u
#define SITE_NONE 0u

/* How a line's or function's memory went. */
struct site {
	const char *filename; /* interned; NULL for site 0 */
	const char *function; /* interned; NULL for a line */
	uint32_t line;        /* of the line, or first line of the function */
	double alloc_bytes, python_bytes; /* ever; python is part of it */
	double alloc_count;
	double copy_bytes;
	double live_bytes;
	double chance_bytes;   /* of them, what samples stand for beyond themselves */
	struct peak peak;
	double ended_bytes;    /* still held when their process ended */
	double at_peak_bytes;  /* live when the whole program's estimate was highest */
	double byte_seconds;   /* integral of live_bytes */
	double first_s, last_s;
	uint64_t samples;        /* sampled allocations that are followed */
	uint64_t brief, moved, freed; /* those that ended at once, moved, or ended later */
	uint64_t returns;      /* times that one process came back to the line to allocate; the most */
	uint64_t works;        /* times that it allocated in another piece of work than before, and */
	uint64_t worker, asked; /* whose the last one was: process and thread, */
	double worked_s;       /* and when */
	uint64_t lone_key;       /* the live sample that counts for its own size only; 0: none */
	double lone_bytes;       /* what it stands for beyond that */
	struct series series;    /* live MB over time; lines only */
};

/* How much of a stack's memory is live.  at_peak_bytes is what was live when the
 * peak was composed for the time-th time; if that is not the last time, nothing
 * has changed since and live_bytes is. */
struct heap_node {
	double live_bytes, at_peak_bytes;
	uint64_t composed;
	uint32_t line_site; /* the one that its allocations belong to */
};

struct heap {
	VEC(struct site) sites; /* 0 is "no line in scope" */
	struct map lines;       /* hash of file and line to site */
	struct map functions;   /* hash of file, name and line to site */
	struct live_table live;
	VEC(struct heap_node) nodes; /* by the number of a stack's memory, see tree.h */
	uint64_t composed;           /* how often the peak was composed */
	double live_bytes, live_python_bytes, chance_bytes;
	struct peak peak;
	double alloc_bytes, python_bytes, alloc_count, copy_bytes;
	double most_bytes, most_python_bytes, peak_s; /* the highest estimate; see peak.h */
	double byte_seconds, last_s; /* integral of live_bytes, and until when */
	VEC(double) ending_s;        /* by process: when it began to end; 0: it has not */
	double ticked_s;        /* when the footprint was last noted */
	double noted_most_bytes; /* what it had of the highest estimate then */
	double composed_bytes;  /* live_bytes when at_peak_bytes was last taken */
	double composed_scale;  /* so that what sites held is not more than the peak */
	bool is_at_peak;        /* the last event made a new highest estimate */
	struct map returns;      /* process and line site to how often it came back there */
	uint64_t samples, untracked;
	double peak_rss_bytes;
	struct series footprint; /* live and resident MB */
	struct series volume;    /* MB ever allocated */
};

void heap_init(struct heap *heap);
void heap_fini(struct heap *heap);

/* The site of a line, of a function; made when missing. */
uint32_t heap_line_site(struct heap *heap, const char *filename, uint32_t line);
uint32_t heap_function_site(struct heap *heap, const char *filename, const char *function,
			    uint32_t first_line);

/* One sampled allocation; time in seconds since the start. */
struct heap_alloc {
	uint32_t process;
	uint64_t id;
	uint64_t size, weight;
	uint64_t replaced; /* of weight: was live before, as another block (realloc) */
	uint64_t carried;  /* what that was followed as, which has ended; heap_alloc corrects it where
			      the block's size says more, or more would live of a line than
			      it ever allocated */
	bool is_python, is_untracked;
	bool is_startup; /* the interpreter's own: no part of what was allocated */
	bool is_return;  /* the thread was seen at another line since its last one here */
	uint32_t node; /* the number of the stack's memory in the tree */
	uint32_t line_site, function_site;
	uint32_t thread; /* slot */
	uint32_t asked;  /* how often that was met waiting to be asked for something */
	double begun_s;  /* and when it began */
	double ready_s;  /* the thread has stood ready for so long in all; below 0: not known */
	double time_s;
};

/* False when its end will not be known: it is counted, but not as live. */
bool heap_alloc(struct heap *heap, struct heap_alloc *alloc);

/* The block, if it is known and by the clock no temporary.  What it has lived is told from its born_s. */
struct live *heap_lasting(const struct heap *heap, uint32_t process, uint64_t id, double time_s);

/* Its end, or only that of its place (is_moved), which says nothing of how long
 * the line's allocations live.  True, with the node and bytes that it belonged
 * to, when known. */
bool heap_free(struct heap *heap, uint32_t process, uint64_t id, double time_s, bool is_moved,
	       uint32_t *node, uint64_t *bytes);

/* It is of another size now, and what it has grown by was allocated.  True, with the
 * node that it belongs to and by how much it grew (below 0: shrank), when known. */
bool heap_resize(struct heap *heap, uint32_t process, uint64_t id, uint64_t bytes, bool is_startup,
		 double time_s, uint32_t *node, double *growth);

/* realloc has left a part (0 to 1) of it.  True, with the node and by how much it shrank,
 * when known. */
bool heap_shrink(struct heap *heap, uint32_t process, uint64_t id, double part, double time_s,
		 uint32_t *node, uint64_t *bytes);

/* It was given back by its process's own end, so it was kept until then. */
void heap_end(struct heap *heap, uint32_t process, uint64_t id, double time_s);

void heap_copy(struct heap *heap, uint32_t line_site, uint32_t function_site, uint64_t weight);

/* A process is gone, and with it its memory. */
void heap_process_end(struct heap *heap, uint32_t process, double time_s);

/* When the last of so many processes began to end; end_s while one has not. */
double heap_program_end(const struct heap *heap, uint32_t processes, double end_s);

/* The time series at this moment; rss of all processes together. */
void heap_tick(struct heap *heap, double time_s, double rss_bytes);

/* So much was resident at once of one process, at some time. */
void heap_note_resident(struct heap *heap, double bytes);

/* The most that was live at once of the whole program. */
double heap_peak(const struct heap *heap);

/* Brings what the peak is made of up to date. */
void heap_compose(struct heap *heap);

/* What a site and a stack held at the peak, after heap_compose. */
double heap_site_at_peak(const struct heap *heap, const struct site *site);
double heap_node_at_peak(const struct heap *heap, uint32_t node);

/* Live bytes averaged over the time since the site's first allocation; of the
 * whole program, since the start. */
double heap_average(const struct site *site, double end_s);
double heap_average_all(const struct heap *heap, double end_s);

#endif
