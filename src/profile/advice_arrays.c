/* advice_arrays.c - rules about arrays, data frames and devices. */
#include <string.h>

#include "profile/advice_site.h"

#define MIN_SHARE 0.05
#define MIN_SHARE_LOOP 0.10
#define MIN_WAITS 10 /* for a device; fewer are no loop's */
#define MIN_GPU_IDLE 0.1 /* of the time between a device's first work and its last */

/* "; 310 MB were copied", when that is worth saying. */
static void put_copied(const struct advice_site *site, struct buf *evidence)
{
	if (site->self.copy_bytes < 10 * MB)
		return;
	buf_text(evidence, "; ");
	advice_put_bytes(evidence, site->self.copy_bytes);
	buf_text(evidence, " were copied");
}

/* Whether the name that the statement assigns to ("a = …") stands between the brackets. */
static bool takes_own_target(const struct advice_site *site, uint32_t open,
			     char target[STATEMENT_PATH_BYTES])
{
	const struct statement *statement = site->statement;
	char path[STATEMENT_PATH_BYTES];
	uint32_t after = statement_path(statement, 0, target);
	if (after == 0 || !statement_has(statement, after, "="))
		return false;
	uint32_t close = statement_close(statement, open);
	for (uint32_t i = open + 1; i < close; i++) {
		if (statement_path(statement, i, path) > i && strcmp(path, target) == 0)
			return true;
	}
	return false;
}

/* ---- numpy ---- */

static bool match_array_append(const struct advice_site *site, struct buf *evidence,
			       struct buf *fix)
{
	static const char *const calls[] = {"numpy.append", "numpy.concatenate", "numpy.vstack",
					    "numpy.hstack", "numpy.insert", "numpy.r_", NULL};
	char target[STATEMENT_PATH_BYTES];
	bool is_slow = advice_site_takes(site, MIN_SHARE);
	bool is_copied = advice_is_much(site->self.copy_bytes, site->profile->sum.copy_bytes);
	if ((!is_slow && !is_copied) || !site->statement->is_in_loop)
		return false;
	uint32_t open = advice_find_call(site, 0, calls);
	if (open == site->statement->count || !takes_own_target(site, open, target))
		return false;
	advice_put_cost(evidence, site);
	put_copied(site, evidence);
	buf_printf(evidence, ": the whole array %s is copied each time it grows.", target);
	buf_text(fix, "Collect the pieces in a list and make the array once after the loop, or allocate it "
		      "whole and fill it in.");
	return true;
}

/* The array that is read or written by a counter, "a[i]" or "a[i, j]"; false: none. */
static bool find_element(const struct advice_site *site, char path[STATEMENT_PATH_BYTES])
{
	const struct statement *statement = site->statement;
	for (uint32_t i = 0; i < statement->count; i++) {
		uint32_t after = statement_path(statement, i, path);
		if (after == i || !statement_has(statement, after, "[") ||
		    names_kind(site->names, statement, path) != VALUE_ARRAY)
			continue;
		uint32_t close = statement_close(statement, after);
		bool has_slice = false, has_counter = false;
		for (uint32_t k = after + 1; k < close; k++) {
			has_slice = has_slice || statement_has(statement, k, ":");
			has_counter = has_counter || (statement->tokens[k].kind == TOKEN_WORD &&
						      statement_is_counter(statement, k));
		}
		if (has_counter && !has_slice)
			return true;
	}
	return false;
}

static bool match_array_elements(const struct advice_site *site, struct buf *evidence,
				 struct buf *fix)
{
	char path[STATEMENT_PATH_BYTES];
	double busy_s = site->self.python_s + site->self.native_s + site->self.system_s;
	if (!advice_site_takes(site, MIN_SHARE_LOOP) || busy_s < 0.5 * advice_site_seconds(site) ||
	    !find_element(site, path))
		return false;
	advice_put_cost(evidence, site);
	buf_printf(evidence, ": the elements of the array %s are taken one by one, each as a Python "
			     "object.", path);
	buf_text(fix, "Say it as one operation on whole arrays (slices, masks, ufuncs, numpy.cumsum …); "
		      "where each step needs the one before, numba, or a list (a.tolist()), is faster.");
	return true;
}

static bool match_array_copy(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	static const char *const calls[] = {"numpy.array", "numpy.copy", "numpy.ascontiguousarray",
					    "numpy.asfortranarray", "copy.copy", NULL};
	const struct metrics *self = &site->self, *sum = &site->profile->sum;
	bool is_copied = advice_is_much(self->copy_bytes, sum->copy_bytes);
	bool is_allocated = advice_is_much(self->alloc_bytes, sum->alloc_bytes);
	char path[STATEMENT_PATH_BYTES];
	if (!is_copied && !is_allocated)
		return false;
	uint32_t count = site->statement->count;
	bool is_cast = advice_find_method(site, 0, "astype") < count;
	uint32_t copy = advice_find_method(site, 0, "copy");
	bool is_array = copy < count && advice_method_owner(site, copy, path) &&
			names_kind(site->names, site->statement, path) == VALUE_ARRAY;
	if (!is_cast && !is_array && advice_find_call(site, 0, calls) == count)
		return false;
	if (!advice_site_is_repeated(site))
		return false;
	double bytes = is_copied ? self->copy_bytes : self->alloc_bytes;
	double whole = is_copied ? sum->copy_bytes : sum->alloc_bytes;
	advice_put_bytes(evidence, bytes);
	buf_printf(evidence, " were %s here, %.0f%% of all that the program %s, in ",
		   is_copied ? "copied" : "allocated", whole > 0 ? 100 * bytes / whole : 0,
		   is_copied ? "copied" : "allocated");
	advice_put_time(evidence, site->profile, advice_site_seconds(site));
	buf_text(evidence, is_cast ? ": each conversion makes a new array." : ": each makes a new array.");
	buf_text(fix, is_cast ? "Make the array in the type it is needed in, or convert it once before the "
				"loop; astype(…, copy=False) makes none where the type is right already."
			      : "Copy once before the loop, work in place (out=…), or use a view where "
				"nothing is changed.");
	return true;
}

/* ---- pandas ---- */

static bool match_frame_append(const struct advice_site *site, struct buf *evidence,
			       struct buf *fix)
{
	static const char *const calls[] = {"pandas.concat", NULL};
	const struct statement *statement = site->statement;
	char target[STATEMENT_PATH_BYTES], owner[STATEMENT_PATH_BYTES];
	if (!advice_site_takes(site, MIN_SHARE) || !statement->is_in_loop)
		return false;
	uint32_t open = advice_find_call(site, 0, calls);
	bool is_growing = open < statement->count && takes_own_target(site, open, target);
	if (!is_growing) {
		/* "df = df.append(…)": a list's append gives nothing to assign. */
		open = advice_find_method(site, 0, "append");
		is_growing = open < statement->count && advice_method_owner(site, open, owner) &&
			     statement_has(statement, statement_path(statement, 0, target), "=") &&
			     strcmp(owner, target) == 0;
	}
	if (!is_growing)
		return false;
	advice_put_cost(evidence, site);
	put_copied(site, evidence);
	buf_printf(evidence, ": the whole frame %s is copied for each piece that is added.", target);
	buf_text(fix, "Collect the rows (dicts, or frames) in a list and make the frame once after the loop: "
		      "pandas.DataFrame(rows), pandas.concat(frames).");
	return true;
}

static bool match_frame_rows(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	const struct statement *statement = site->statement;
	if (!advice_site_takes(site, MIN_SHARE_LOOP) ||
	    advice_find_method(site, 0, "iterrows") == statement->count)
		return false;
	advice_put_cost(evidence, site);
	buf_text(evidence, ", making a Series of each row.");
	buf_text(fix, "Compute with whole columns; where a loop must be, itertuples() or "
		      "zip(df['a'], df['b']) makes no Series.");
	return true;
}

static bool match_frame_apply(const struct advice_site *site, struct buf *evidence,
			      struct buf *fix)
{
	const struct statement *statement = site->statement;
	if (!advice_site_takes_inclusive(site, MIN_SHARE_LOOP))
		return false;
	uint32_t open = advice_find_method(site, 0, "apply");
	if (open == statement->count)
		return false;
	uint32_t close = statement_close(statement, open);
	for (uint32_t i = open + 1; i + 2 < close + 1; i++) {
		if (statement->tokens[i].depth != statement->tokens[open].depth + 1 ||
		    !statement_has(statement, i, "axis") || !statement_has(statement, i + 1, "="))
			continue;
		if (!statement_has(statement, i + 2, "1") &&
		    !statement_has(statement, i + 2, "\"columns\"") &&
		    !statement_has(statement, i + 2, "'columns'"))
			return false;
		advice_put_time(evidence, site->profile, site->inclusive_s);
		buf_text(evidence, " is spent in it: a Python function is called for every row.");
		buf_text(fix, "Compute with whole columns (df['a'] * df['b'], numpy.where, .str and .dt "
			      "methods); where a function must be, give it columns with zip.");
		return true;
	}
	return false;
}

/* ---- devices ---- */

static bool match_gpu_sync(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	static const char *const methods[] = {"item", "cpu", "tolist", "numpy"};
	const char *found = NULL;
	if (site->gpu.wait_s < MIN_SHARE * site->profile->total_s || site->gpu.waits < MIN_WAITS)
		return false;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]) && !found; i++) {
		if (advice_find_method(site, 0, methods[i]) < site->statement->count)
			found = methods[i];
	}
	if (!found || !advice_site_is_repeated(site))
		return false;
	advice_put_time(evidence, site->profile, site->gpu.wait_s);
	buf_printf(evidence, " is spent waiting for the GPU here, %.0f times: .%s() needs a value that is "
			     "not computed yet, and nothing new is launched meanwhile.",
		   site->gpu.waits, found);
	buf_text(fix, "Keep sums and checks on the device (add tensors, not numbers), and fetch once after "
		      "the loop or every so many steps; copy with non_blocking=True from pinned memory.");
	return true;
}

/* "for batch in loader": each turn begins with the work of getting the next one. */
static bool is_loop_head(const struct statement *statement)
{
	return statement_has(statement, statement_has(statement, 0, "async") ? 1 : 0, "for");
}

/* Where Python was while the GPU had nothing to do, and what it could have done.  What
 * is done once (a module imported between two pieces of work) starves nobody. */
static bool match_gpu_idle(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	const struct profile_gpu *gpu = &site->profile->gpu;
	double idle_s = site->gpu.idle_s, span_s = gpu->idle_s + gpu->busy_s;
	if (!gpu->source || idle_s < MIN_SHARE_LOOP * site->profile->total_s ||
	    idle_s < MIN_GPU_IDLE * span_s || site->gpu.wait_s > idle_s / 2)
		return false;
	if (!advice_site_is_repeated(site) && !is_loop_head(site->statement))
		return false;
	buf_printf(evidence, "The GPU is idle for %.0f%% of the time between its first work and its last, "
			     "and for ",
		   100 * gpu->idle_s / span_s);
	advice_put_time(evidence, site->profile, idle_s);
	buf_text(evidence, " Python is here meanwhile.");
	buf_text(fix, "Have the next piece ready while the GPU works on this one: load and prepare data in "
		      "other processes (DataLoader(num_workers=..., pin_memory=True)) or a thread, or do the "
		      "preparation on the device.");
	return true;
}

const struct advice_rule advice_array_rules[] = {
	{"array-append", "Grows an array piece by piece", match_array_append, false, false},
	{"array-elements", "Goes through an array element by element", match_array_elements, false, false},
	{"array-copy", "Copies arrays again and again", match_array_copy, false, false},
	{"dataframe-append", "Grows a data frame piece by piece", match_frame_append, false, false},
	{"dataframe-rows", "Goes through a data frame row by row", match_frame_rows, false, false},
	{"dataframe-apply", "Calls a Python function for every row", match_frame_apply, false, true},
	{"gpu-idle", "Keeps the GPU waiting", match_gpu_idle, false, false},
	{"gpu-sync", "Waits for the GPU in a loop", match_gpu_sync, false, false},
	{NULL, NULL, NULL, false, false},
};
