/* query_more.c - answers about callers, memory, advice and two profiles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"
#include "profile/diff.h"
#include "report/query_parts.h"
#include "report/diff_text.h"
#include "report/figure.h"
#include "report/rank.h"
#include "report/worth.h"

/* ---- callers ---- */

/* Seconds by frame: function, file and line. */
struct tally {
	struct map_bytes index;
	struct tally_row {
		uint32_t node; /* one of that frame */
		double seconds;
	} *rows; /* owned */
	uint32_t count, room;
};

static void tally_add(struct tally *tally, const struct stack_node *nodes, uint32_t node,
		      double seconds)
{
	const struct stack_node *at = &nodes[node];
	struct {
		const char *function; /* interned: the pointer tells it */
		uint32_t file, line;
	} key;
	bool is_new;
	memset(&key, 0, sizeof(key));
	key.function = at->function;
	key.file = at->file;
	key.line = at->line;
	uint32_t *row = map_bytes_put(&tally->index, &key, sizeof(key), &is_new);
	if (is_new) {
		if (tally->count == tally->room) {
			tally->room = tally->room ? 2 * tally->room : 16;
			tally->rows = mem_resize(tally->rows, tally->room, sizeof(*tally->rows));
		}
		*row = tally->count;
		tally->rows[tally->count++] = (struct tally_row){.node = node};
	}
	tally->rows[*row].seconds += seconds;
}

static int by_seconds(const void *a, const void *b)
{
	const struct tally_row *left = a, *right = b;
	if (left->seconds != right->seconds)
		return left->seconds < right->seconds ? 1 : -1;
	return (left->node > right->node) - (left->node < right->node);
}

static bool is_meant(const struct profile *profile, const struct query_place *place,
		     const struct stack_node *node)
{
	if (place->function)
		return node->function && strcmp(node->function, place->function) == 0;
	return node->file < profile->file_count && &profile->files[node->file] == place->file &&
	       (place->first == 0 || (node->line >= place->first && node->line <= place->last));
}

/* Who calls and who is called, and the time of all that is meant.  Of nested calls of
 * the same, the outermost counts. */
static double tally_stacks(const struct profile *profile, const struct query_place *place,
			   struct tally *callers, struct tally *callees)
{
	const struct stack_node *nodes = profile->stacks;
	double *inclusive = mem_zalloc(profile->stack_count, sizeof(*inclusive));
	bool *is_below = mem_zalloc(profile->stack_count, sizeof(*is_below));
	double whole_s = 0;
	for (uint32_t i = profile->stack_count; i-- > 1;) {
		inclusive[i] += metrics_seconds(&nodes[i].self);
		if (nodes[i].parent < i)
			inclusive[nodes[i].parent] += inclusive[i];
	}
	for (uint32_t i = 1; i < profile->stack_count; i++) {
		uint32_t parent = nodes[i].parent < i ? nodes[i].parent : 0;
		bool is_own = is_meant(profile, place, &nodes[i]);
		is_below[i] = is_below[parent] || is_own;
		if (is_own && !is_below[parent]) {
			whole_s += inclusive[i];
			if (parent)
				tally_add(callers, nodes, parent, inclusive[i]);
		} else if (!is_own && parent && is_meant(profile, place, &nodes[parent])) {
			tally_add(callees, nodes, i, inclusive[i]);
		}
	}
	free(inclusive);
	free(is_below);
	return whole_s;
}

static void put_frames(struct query_answer *answer, const struct profile *profile,
		       const struct question *question, struct tally *tally, const char *list)
{
	uint32_t shown = 0;
	if (tally->count)
		qsort(tally->rows, tally->count, sizeof(*tally->rows), by_seconds);
	json_object_set_new(answer->json, list, json_array());
	query_say(answer, "%s:%s", list, tally->count ? "" : " none seen");
	for (; shown < tally->count && shown < query_top(question); shown++) {
		const struct stack_node *node = &profile->stacks[tally->rows[shown].node];
		const char *path = node->file < profile->file_count
					   ? query_path(profile, profile->files[node->file].path)
					   : "(native)";
		const char *function = node->function ? node->function : "?";
		double seconds = tally->rows[shown].seconds;
		json_t *row = json_object();
		json_object_set_new(row, "function", query_text(function, strlen(function)));
		json_object_set_new(row, "file", query_text(path, strlen(path)));
		json_object_set_new(row, "line", json_integer(node->line));
		json_object_set_new(row, "percent", query_number(profile_percent(profile, seconds)));
		json_object_set_new(row, "seconds", query_number(seconds));
		if (!query_add(answer, list, row, "  %5.1f%%  %6s  %s  %s:%u",
				profile_percent(profile, seconds), figure_seconds(seconds).text, function,
				path, node->line))
			break;
	}
	if (shown < tally->count)
		query_cut(answer, shown, tally->count, list, "ask with a larger top");
	map_bytes_fini(&tally->index);
	free(tally->rows);
}

int query_callers(struct query_answer *answer, const struct profile *profile,
		   const struct profile *after, const struct question *question, struct err *err)
{
	struct query_place place;
	struct tally callers = {.count = 0}, callees = {.count = 0};
	int status = query_find_place(profile, question->at, &place, err);
	if (status)
		return status;
	if (profile->stack_count < 2)
		return err_set(err, ERR_NOT_FOUND, "the profile has no stacks (it was made with --no-stacks)");
	double whole_s = tally_stacks(profile, &place, &callers, &callees);
	json_object_set_new(answer->json, "cut", json_null());
	json_object_set_new(answer->json, "at", query_text(question->at, strlen(question->at)));
	json_object_set_new(answer->json, "inclusive_s", query_number(whole_s));
	json_object_set_new(answer->json, "inclusive_percent",
			    query_number(profile_percent(profile, whole_s)));
	query_say(answer, "%.200s: %.1f%% of the time with all it calls", question->at,
		   profile_percent(profile, whole_s));
	put_frames(answer, profile, question, &callers, "callers");
	put_frames(answer, profile, question, &callees, "callees");
	return 0;
}

/* ---- memory ---- */

struct memory_view {
	const char *name, *heading;
	rank_value *value;
};

static const struct memory_view views[] = {
	{"peak", "Lines by what they held at the peak:", worth_at_peak},
	{"leaks", "Lines that are likely to leak, by growth a second:", worth_as_leak},
	{"churn", "Lines that allocate much and keep nothing:", worth_as_churn},
	{"copies", "Lines by what they copied:", worth_as_copies},
};

int query_memory(struct query_answer *answer, const struct profile *profile,
		  const struct profile *after, const struct question *question, struct err *err)
{
	const struct memory_view *view = views;
	struct ranked_line ranked[QUERY_MAX_TOP + 1];
	if (!profile->has_memory)
		return err_set(err, ERR_USAGE, "memory was not measured in this profile");
	while (question->view && strcmp(view->name, question->view) != 0)
		view++;
	uint32_t found = rank_lines(profile, view->value, ranked, QUERY_MAX_TOP + 1), shown = 0;
	json_object_set_new(answer->json, "view", json_string(view->name));
	json_object_set_new(answer->json, "peak_mb", query_number(profile->memory.peak_bytes / MB));
	json_object_set_new(answer->json, "peak_s", query_number(profile->peak_s));
	json_object_set_new(answer->json, "lines", json_array());
	query_say(answer, "Peak %s after %s; allocated %s, kept %s, copied %s",
		   figure_bytes(profile->memory.peak_bytes).text, figure_seconds(profile->peak_s).text,
		   figure_bytes(profile->sum.alloc_bytes).text,
		   figure_bytes(profile->sum.kept_bytes).text,
		   figure_bytes(profile->sum.copy_bytes).text);
	query_say(answer, "%s%s", view->heading, found ? "" : " none worth a look");
	for (; shown < found && shown < query_top(question); shown++) {
		const struct ranked_line *one = &ranked[shown];
		json_t *row = query_line(profile, one->file, one->line);
		size_t size;
		const char *code = query_code(one->file, one->line->line, &size);
		json_object_set_new(row, "value_mb", query_number(one->value / MB));
		if (one->line->memory.leak_likelihood > 0)
			json_object_set_new(row, "leak_likelihood",
					    query_number(one->line->memory.leak_likelihood));
		if (!query_add(answer, "lines", row, "%7s%s  %s:%u  %.*s", figure_bytes(one->value).text,
				view->value == worth_as_leak ? "/s" : "",
				query_path(profile, one->file->path), one->line->line, (int)size, code))
			break;
	}
	query_cut(answer, shown, found, "lines", "ask with a larger top");
	return 0;
}

/* ---- advice ---- */

int query_advice(struct query_answer *answer, const struct profile *profile,
		  const struct profile *after, const struct question *question, struct err *err)
{
	uint32_t shown = 0;
	json_object_set_new(answer->json, "advice", json_array());
	if (!profile->advice_count)
		query_say(answer, "No pattern that is known to be slow cost anything in this run.");
	for (; shown < profile->advice_count && shown < query_top(question); shown++) {
		const struct advice *one = &profile->advice[shown];
		const char *path = query_path(profile, one->file);
		json_t *row = json_object();
		json_object_set_new(row, "rule", query_text(one->rule, strlen(one->rule)));
		json_object_set_new(row, "file", query_text(path, strlen(path)));
		json_object_set_new(row, "line", json_integer(one->line));
		json_object_set_new(row, "title", query_text(one->title, strlen(one->title)));
		json_object_set_new(row, "evidence", query_text(one->evidence, strlen(one->evidence)));
		json_object_set_new(row, "fix", query_text(one->fix, strlen(one->fix)));
		json_object_set_new(row, "share", query_number(one->share));
		if (!query_add(answer, "advice", row, "%s:%u  %s\n  %s\n  %s", path, one->line, one->title,
				one->evidence, one->fix))
			break;
	}
	query_cut(answer, shown, profile->advice_count, "pieces of advice", "ask with a larger top");
	return 0;
}

/* ---- two profiles ---- */

static bool put_changed(struct query_answer *answer, const struct profile *profile,
			const struct diff_line *line)
{
	const struct profile_file *file = diff_line_file(line);
	const char *path = query_path(profile, file->path);
	size_t size;
	const char *code = query_code(file, diff_line_number(line), &size);
	double change_s = diff_change(&line->time_s);
	json_t *row = json_object();
	json_object_set_new(row, "file", query_text(path, strlen(path)));
	json_object_set_new(row, "line", json_integer(diff_line_number(line)));
	json_object_set_new(row, "text", query_text(code, size));
	json_object_set_new(row, "before_s", query_number(line->time_s.before));
	json_object_set_new(row, "after_s", query_number(line->time_s.after));
	return query_add(answer, "lines", row, "%s%s  %s -> %s  %s:%u  %.*s", change_s < 0 ? "-" : "+",
			  figure_seconds(fabs(change_s)).text, figure_seconds(line->time_s.before).text,
			  figure_seconds(line->time_s.after).text, path, diff_line_number(line), (int)size,
			  code);
}

int query_compare(struct query_answer *answer, const struct profile *profile,
		   const struct profile *after, const struct question *question, struct err *err)
{
	struct profile_diff diff;
	profile_diff_init(&diff, profile, after);
	char *verdict = diff_verdict_text(&diff);
	uint32_t changed = 0, shown = 0;
	json_object_set_new(answer->json, "verdict", query_text(verdict, strlen(verdict)));
	json_object_set_new(answer->json, "is_real", json_boolean(diff.total_s.is_real));
	json_object_set_new(answer->json, "before_s", query_number(diff.total_s.before));
	json_object_set_new(answer->json, "after_s", query_number(diff.total_s.after));
	json_object_set_new(answer->json, "slower", json_integer(diff.slower));
	json_object_set_new(answer->json, "faster", json_integer(diff.faster));
	json_object_set_new(answer->json, "lines", json_array());
	query_say(answer, "%s.", verdict);
	for (uint32_t i = 0; i < diff.line_count; i++) {
		if (!diff.lines[i].time_s.is_real)
			continue;
		changed++;
		if (shown < query_top(question) && put_changed(answer, after, &diff.lines[i]))
			shown++;
	}
	query_cut(answer, shown, changed, "changed lines", "ask with a larger top");
	free(verdict);
	profile_diff_fini(&diff);
	return 0;
}
