/* advice.c - hold every statement that cost something to every rule. */
#include "profile/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/advice_site.h"

#define MAX_SENTENCE 500u
#define MIN_SHARE 0.02 /* the least that any rule speaks at */
#define MIN_BYTES MB
#define ROUND 1e6 /* as the share is written, so that reading it back changes nothing */

/* Whether any rule could speak: most statements of a program end here. */
static bool is_worth_a_look(const struct advice_site *site)
{
	double least_s = MIN_SHARE * site->profile->total_s;
	return advice_site_seconds(site) + site->self.idle_s >= least_s ||
	       site->inclusive_s >= least_s || site->self.copy_bytes >= MIN_BYTES ||
	       site->self.alloc_bytes >= MIN_BYTES || site->leak_likelihood > 0 || site->blocking ||
	       site->gpu.wait_s >= least_s || site->gpu.idle_s >= least_s;
}

static double share_of(const struct advice_site *site, const struct advice_rule *rule)
{
	double seconds = rule->is_inclusive ? site->inclusive_s : advice_site_seconds(site);
	double share = site->profile->total_s > 0 ? seconds / site->profile->total_s : 0;
	if (rule->is_of_memory)
		return 0;
	return (double)(uint64_t)((share < 1 ? share : 1) * ROUND + 0.5) / ROUND;
}

static double growth_of(const struct advice_site *site, const struct advice_rule *rule)
{
	return rule->is_of_memory ? site->leak_likelihood * site->leak_bytes_per_s : 0;
}

static bool is_less(const struct advice *one, const struct advice *other)
{
	return one->share < other->share ||
	       (one->share == other->share && one->growth_bytes_per_s < other->growth_bytes_per_s);
}

/* Keeps the list sorted; the least worthwhile falls off its end. */
static void insert(struct profile *profile, struct advice advice)
{
	uint32_t at = profile->advice_count;
	while (at > 0 && is_less(&profile->advice[at - 1], &advice))
		at--;
	if (at == ADVICE_MAX)
		return;
	if (profile->advice_count < ADVICE_MAX)
		profile->advice_count++;
	memmove(profile->advice + at + 1, profile->advice + at,
		(profile->advice_count - at - 1) * sizeof(*profile->advice));
	profile->advice[at] = advice;
}

static void try_rules(struct profile *profile, const struct advice_site *site,
		      const struct advice_rule *rules)
{
	struct buf evidence, fix;
	buf_init(&evidence, MAX_SENTENCE);
	buf_init(&fix, MAX_SENTENCE);
	for (const struct advice_rule *rule = rules; rule->id; rule++) {
		buf_clear(&evidence);
		buf_clear(&fix);
		if (!rule->match(site, &evidence, &fix))
			continue;
		insert(profile, (struct advice){
					.rule = profile_intern(profile, rule->id),
					.file = site->file->path,
					.line = site->line,
					.title = profile_intern(profile, rule->title),
					.evidence = profile_intern(profile, evidence.data),
					.fix = profile_intern(profile, fix.data),
					.share = share_of(site, rule),
					.growth_bytes_per_s = growth_of(site, rule),
				});
	}
	buf_fini(&evidence);
	buf_fini(&fix);
}

static void advise_on_file(struct profile *profile, const struct profile_file *file,
			   struct advice_stacks *stacks)
{
	struct statement_reader reader;
	struct statement statement;
	struct advice_site site;
	struct names names;
	names_init(&names, file->source, file->source_size);
	statement_reader_init(&reader, file->source, file->source_size);
	while (statement_next(&reader, &statement)) {
		if (statement.count == 0 ||
		    !advice_site_init(&site, profile, file, &names, &statement, stacks) ||
		    !is_worth_a_look(&site))
			continue;
		try_rules(profile, &site, advice_rules);
		try_rules(profile, &site, advice_array_rules);
	}
	statement_reader_fini(&reader);
	names_fini(&names);
}

/* Whether the source is worth reading: its lines together did enough for any rule. */
static bool has_cost(const struct profile *profile, const struct profile_file *file)
{
	double least_s = MIN_SHARE * profile->total_s;
	bool has_inclusive = false;
	for (uint32_t i = 0; i < file->line_count && !has_inclusive; i++)
		has_inclusive = file->lines[i].inclusive_s >= least_s;
	return file->source &&
	       (has_inclusive || metrics_seconds(&file->self) + file->self.idle_s >= least_s ||
		file->self.alloc_bytes >= MIN_BYTES || file->self.copy_bytes >= MIN_BYTES);
}

void advice_make(struct profile *profile)
{
	struct advice_stacks stacks = {.is_in_loop = NULL};
	free(profile->advice);
	profile->advice = mem_zalloc(ADVICE_MAX, sizeof(*profile->advice));
	profile->advice_count = 0;
	for (uint32_t i = 0; i < profile->file_count; i++) {
		if (profile->files[i].in_scope && has_cost(profile, &profile->files[i]))
			advise_on_file(profile, &profile->files[i], &stacks);
	}
	advice_stacks_fini(&stacks);
}
