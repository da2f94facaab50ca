/* advice_site.h - a statement with its figures, as the rules of advice see it; inner header. */
#ifndef HEATLINE_PROFILE_ADVICE_SITE_H
#define HEATLINE_PROFILE_ADVICE_SITE_H

#include "base/buf.h"
#include "base/units.h"
#include "profile/names.h"
#include "profile/model.h"

/* What the stacks say to all sites, found out when it is first asked for. */
struct advice_stacks {
	bool *is_in_loop; /* owned; of each node: something above it calls again and again */
};

void advice_stacks_fini(struct advice_stacks *stacks);

struct advice_site {
	const struct profile *profile;
	const struct profile_file *file;
	const struct names *names;
	const struct statement *statement;
	struct advice_stacks *stacks;
	struct metrics self;     /* of its lines together */
	double inclusive_s;      /* of the line that has most */
	struct gpu_figures gpu;  /* of its lines together */
	double leak_likelihood, leak_bytes_per_s; /* as above */
	uint32_t line;           /* the hottest of its lines */
	const struct blocking_step *blocking; /* of an event loop, at one of its lines; or NULL */
};

/* Sums up the figures of the statement's lines; false when it has none. */
bool advice_site_init(struct advice_site *site, const struct profile *profile,
		      const struct profile_file *file, const struct names *names,
		      const struct statement *statement, struct advice_stacks *stacks);

/* Seconds on a CPU or waiting. */
double advice_site_seconds(const struct advice_site *site);

/* Whether the time is at least this part of the program's, and rests on enough samples. */
bool advice_site_takes(const struct advice_site *site, double share);

/* The same for the time with all that it calls. */
bool advice_site_takes_inclusive(const struct advice_site *site, double share);

/* Whether at least half of its time on a CPU is native, kernel included. */
bool advice_site_is_native(const struct advice_site *site);

/* Whether a single operation of it takes long: its time is native, or (few samples stay
 * with Python) many times that of all the rest of its loop, which runs as often. */
bool advice_site_is_long(const struct advice_site *site);

/* Whether moving bytes is what takes its time, and not the call that does so: it copies as fast as
 * memory does, or, where no copies are known, is nearly all native or outweighs its loop. */
bool advice_site_moves_much(const struct advice_site *site);

/* Whether bytes are so many, and a fifth of the whole. */
bool advice_is_much(double bytes, double whole_bytes);

/* Runs again and again: it stands in a loop, or its function is called from one. */
bool advice_site_is_repeated(const struct advice_site *site);

/* Seconds below the statement in the compiling of regular expressions, the look
 * into its cache included. */
double advice_site_compiling_s(const struct advice_site *site);

/* "62% of the time (3.1 s)" */
void advice_put_time(struct buf *text, const struct profile *profile, double seconds);

/* "62% of the time (3.1 s) is spent here" */
void advice_put_cost(struct buf *text, const struct advice_site *site);

/* "310 MB" */
void advice_put_bytes(struct buf *text, double bytes);

/* A rule: whether the site has its pattern and the figures fit; then the evidence
 * and the fix are appended, as sentences. */
typedef bool advice_match(const struct advice_site *site, struct buf *evidence, struct buf *fix);

struct advice_rule {
	const char *id, *title;
	advice_match *match;
	bool is_of_memory; /* its share is not of time */
	bool is_inclusive; /* its share is that of all it calls too */
};

/* All of them; the last has no id. */
extern const struct advice_rule advice_rules[];       /* containers, text, calls */
extern const struct advice_rule advice_array_rules[]; /* arrays, frames, devices */

/* The next call from index on whose path is, aliases resolved, one of these (the last
 * is NULL): the index of its "(", or the statement's count. */
uint32_t advice_find_call(const struct advice_site *site, uint32_t index,
			  const char *const *origins);

/* The next "name(" from index on that is a method of something: the index of its "(",
 * or the statement's count. */
uint32_t advice_find_method(const struct advice_site *site, uint32_t index, const char *name);

/* The dotted name that the method whose "(" is given belongs to; false: a call or the
 * like. */
bool advice_method_owner(const struct advice_site *site, uint32_t open,
			 char path[STATEMENT_PATH_BYTES]);

#endif
