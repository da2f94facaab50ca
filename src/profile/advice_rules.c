/* advice_rules.c - rules about containers, text and calls. */
#include "profile/advice_site.h"

#include <string.h>

#include "base/text.h"

#define MIN_SHARE 0.05
#define MIN_SHARE_INCLUSIVE 0.10
#define MIN_SHARE_BLOCKED 0.02
#define MIN_COPIED_BYTES (20 * MB)
#define MIN_LEAK 0.95

static void put_native(const struct advice_site *site, struct buf *evidence)
{
	double native_s = site->self.native_s + site->self.system_s;
	double busy_s = native_s + site->self.python_s;
	advice_put_cost(evidence, site);
	buf_printf(evidence, ", %.0f%% of it in native code", busy_s > 0 ? 100 * native_s / busy_s : 0);
}

/* ---- membership ---- */

/* The next "in" that tests, not one of a for; or the statement's count. */
static uint32_t find_test(const struct statement *statement, uint32_t index)
{
	uint64_t loops = 0; /* bit d: the next "in" at depth d is a for's */
	for (uint32_t i = 0; i < statement->count; i++) {
		uint64_t bit = 1ull << (statement->tokens[i].depth & 63);
		if (statement_has(statement, i, "for")) {
			loops |= bit;
		} else if (statement_has(statement, i, "in")) {
			if (!(loops & bit) && i >= index)
				return i;
			loops &= ~bit;
		}
	}
	return statement->count;
}

static bool is_values_call(const struct statement *statement, const char *path, uint32_t after)
{
	return text_ends_with(path, ".values") && statement_has(statement, after, "(") &&
	       statement_has(statement, after + 1, ")");
}

static bool match_membership(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	const struct statement *statement = site->statement;
	char path[STATEMENT_PATH_BYTES];
	if (!advice_site_takes(site, MIN_SHARE) || !advice_site_is_long(site))
		return false;
	for (uint32_t i = 0; (i = find_test(statement, i)) < statement->count; i++) {
		uint32_t after = statement_path(statement, i + 1, path);
		bool is_values = after > i + 1 && is_values_call(statement, path, after);
		bool is_list = after > i + 1 && !statement_has(statement, after, "(") &&
			       !statement_has(statement, after, "[") &&
			       names_kind(site->names, statement, path) == VALUE_LIST;
		if (!(is_values || is_list) || !advice_site_is_repeated(site))
			continue;
		advice_put_cost(evidence, site);
		if (is_values) {
			buf_printf(evidence, ": each test walks through %s().", path);
			buf_text(fix, "Keep a set of the values, or a dict the other way round, beside it.");
		} else {
			buf_printf(evidence, ": each test walks through the list %s.", path);
			buf_printf(fix, "Make %s a set (or a dict) once, before the loop; a test then takes "
					"the same short time however many there are.", path);
		}
		return true;
	}
	return false;
}

static bool match_membership_copy(const struct advice_site *site, struct buf *evidence,
				  struct buf *fix)
{
	const struct statement *statement = site->statement;
	if (!advice_site_takes(site, MIN_SHARE))
		return false;
	for (uint32_t i = 0; (i = find_test(statement, i)) < statement->count; i++) {
		bool is_copy = (statement_has(statement, i + 1, "list") ||
				statement_has(statement, i + 1, "tuple") ||
				statement_has(statement, i + 1, "sorted")) &&
			       statement_has(statement, i + 2, "(");
		if (!is_copy || !advice_site_is_repeated(site))
			continue;
		advice_put_cost(evidence, site);
		buf_printf(evidence, ": each test makes a new %s first, and searches it.",
			   statement_has(statement, i + 1, "tuple") ? "tuple" : "list");
		buf_text(fix, "Test the dict or set itself ('key in d'); make a set once where there is "
			      "none.");
		return true;
	}
	return false;
}

static bool match_list_front(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	const struct statement *statement = site->statement;
	char path[STATEMENT_PATH_BYTES];
	if (!advice_site_takes(site, MIN_SHARE) || !advice_site_moves_much(site))
		return false;
	for (int is_insert = 0; is_insert < 2; is_insert++) {
		uint32_t open = advice_find_method(site, 0, is_insert ? "insert" : "pop");
		if (!statement_has(statement, open + 1, "0") ||
		    !statement_has(statement, open + 2, is_insert ? "," : ")") ||
		    !advice_method_owner(site, open, path) ||
		    names_kind(site->names, statement, path) != VALUE_LIST ||
		    !advice_site_is_repeated(site))
			continue;
		put_native(site, evidence);
		buf_printf(evidence, ": everything else in %s is moved each time.", path);
		buf_printf(fix, "Make %s a collections.deque: %s there moves nothing.", path,
			   is_insert ? "appendleft" : "popleft");
		return true;
	}
	return false;
}

static bool match_list_sum(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	const struct statement *statement = site->statement;
	if (!advice_site_takes(site, MIN_SHARE))
		return false;
	for (uint32_t i = 0; i < statement->count; i++) {
		if (!statement_has(statement, i, "sum") || !statement_has(statement, i + 1, "("))
			continue;
		uint32_t close = statement_close(statement, i + 1);
		if (close >= statement->count || close < i + 5 ||
		    !statement_has(statement, close - 1, "]") ||
		    !statement_has(statement, close - 2, "[") || !statement_has(statement, close - 3, ","))
			continue;
		advice_put_cost(evidence, site);
		buf_text(evidence, ": every addition copies all that was summed up so far.");
		buf_text(fix, "Use list(itertools.chain.from_iterable(lists)), or a comprehension with two "
			      "loops.");
		return true;
	}
	return false;
}

/* ---- text ---- */

/* The name that is added to: "a += …" or "a = a + …" at the statement's own level. */
static bool find_addition(const struct statement *statement, char path[STATEMENT_PATH_BYTES])
{
	char other[STATEMENT_PATH_BYTES];
	for (uint32_t i = 0; i < statement->count; i++) {
		if (statement->tokens[i].depth != 0)
			continue;
		uint32_t after = statement_path(statement, i, path);
		if (after == i)
			continue;
		if (statement_has(statement, after, "+") && statement_has(statement, after + 1, "="))
			return true;
		if (statement_has(statement, after, "=") && !statement_has(statement, after + 1, "=")) {
			uint32_t next = statement_path(statement, after + 1, other);
			if (next > after + 1 && statement_has(statement, next, "+") &&
			    strcmp(path, other) == 0)
				return true;
		}
	}
	return false;
}

static bool match_string_building(const struct advice_site *site, struct buf *evidence,
				  struct buf *fix)
{
	char path[STATEMENT_PATH_BYTES];
	bool is_copied = site->self.copy_bytes >= MIN_COPIED_BYTES;
	bool is_allocated = site->self.alloc_bytes >= 5 * MIN_COPIED_BYTES;
	if (!advice_site_takes(site, MIN_SHARE) || !site->statement->is_in_loop ||
	    !(is_copied || is_allocated || advice_site_is_native(site)) ||
	    !find_addition(site->statement, path) ||
	    names_kind(site->names, site->statement, path) != VALUE_TEXT)
		return false;
	put_native(site, evidence);
	if (is_copied || is_allocated) {
		buf_text(evidence, "; ");
		advice_put_bytes(evidence, is_copied ? site->self.copy_bytes : site->self.alloc_bytes);
		buf_text(evidence, is_copied ? " were copied" : " were allocated");
	}
	buf_printf(evidence, ": %s is built anew each time it grows.", path);
	buf_text(fix, "Collect the parts in a list and join them once after the loop, or write to "
		      "io.StringIO (io.BytesIO).");
	return true;
}

/* ---- calls ---- */

static bool match_regex(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	static const char *const calls[] = {"re.compile", "re.match",   "re.search",  "re.fullmatch",
					    "re.sub",     "re.subn",    "re.split",   "re.findall",
					    "re.finditer", NULL};
	if (!advice_site_takes_inclusive(site, MIN_SHARE) ||
	    advice_find_call(site, 0, calls) == site->statement->count)
		return false;
	double compiling_s = advice_site_compiling_s(site);
	if (compiling_s < MIN_SHARE * site->profile->total_s || !advice_site_is_repeated(site))
		return false;
	advice_put_time(evidence, site->profile, compiling_s);
	buf_text(evidence, " is spent compiling the regular expression, or looking it up in the cache of "
			   "compiled ones, not in matching.");
	buf_text(fix, "Compile it once, outside of the loop (PATTERN = re.compile(…)), and call the "
		      "pattern's own methods.");
	return true;
}

static bool match_deep_copy(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	static const char *const calls[] = {"copy.deepcopy", NULL};
	if (!advice_site_takes_inclusive(site, MIN_SHARE_INCLUSIVE) ||
	    advice_find_call(site, 0, calls) == site->statement->count ||
	    !advice_site_is_repeated(site))
		return false;
	advice_put_time(evidence, site->profile, site->inclusive_s);
	buf_text(evidence, " is spent in this deep copy, which runs Python code for every object below.");
	buf_text(fix, "Copy only what is changed afterwards (a slice, dict(d), dataclasses.replace), or "
		      "share what is never changed.");
	return true;
}

static bool has_word(const struct statement *statement, const char *word)
{
	for (uint32_t i = 0; i < statement->count; i++) {
		if (statement_has(statement, i, word))
			return true;
	}
	return false;
}

static bool match_blocking(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	static const char *const calls[] = {
		"time.sleep", "requests.get", "requests.post", "requests.put", "requests.delete",
		"requests.head", "requests.patch", "requests.request", "urllib.request.urlopen",
		"subprocess.run", "subprocess.call", "subprocess.check_call",
		"subprocess.check_output", "os.system", "socket.create_connection", NULL};
	const struct statement *statement = site->statement;
	const struct blocking_step *step = site->blocking;
	double wait_s = site->self.wait_s + site->self.idle_s;
	/* A loop's idle time is booked to what is awaited: no sign of blocking there. */
	bool can_wait = !has_word(statement, "await") && !has_word(statement, "lambda");
	bool is_waiting = can_wait && wait_s >= MIN_SHARE_BLOCKED * site->profile->total_s &&
			  wait_s > 0;
	if (!statement->is_async || (!step && !is_waiting) ||
	    advice_find_call(site, 0, calls) == statement->count)
		return false;
	if (step && step->count == 1) {
		buf_text(evidence, "The event loop stood still here once, for ");
		buf_seconds(evidence, step->total_s);
		buf_text(evidence, ": no other task could run.");
	} else if (step) {
		buf_printf(evidence, "The event loop stood still here %u times, ", step->count);
		buf_seconds(evidence, step->total_s);
		buf_text(evidence, " in all, the longest ");
		buf_seconds(evidence, step->longest_s);
		buf_text(evidence, ": no other task could run.");
	} else {
		buf_seconds(evidence, wait_s);
		buf_text(evidence, " of waiting here inside an async function: no other task of the "
				   "loop could run meanwhile.");
	}
	buf_text(fix, "Await its asynchronous twin (asyncio.sleep, an async HTTP client, "
		      "asyncio.create_subprocess_exec), or asyncio.to_thread(…).");
	return true;
}

static bool match_leak(const struct advice_site *site, struct buf *evidence, struct buf *fix)
{
	if (site->leak_likelihood < MIN_LEAK || site->self.kept_bytes < MB)
		return false;
	advice_put_bytes(evidence, site->self.kept_bytes);
	buf_text(evidence, " that this line allocated were never given back, growing by ");
	advice_put_bytes(evidence, site->leak_bytes_per_s);
	buf_printf(evidence, " a second; a leak with a likelihood of %.0f%%.",
		   100 * (site->leak_likelihood < 0.99 ? site->leak_likelihood : 0.99));
	buf_text(fix, "Find what still refers to it: a list or cache that only grows needs a bound "
		      "(functools.lru_cache(maxsize=…), collections.deque(maxlen=…)) or weak references.");
	return true;
}

const struct advice_rule advice_rules[] = {
	{"list-membership", "Searches a list again and again", match_membership, false, false},
	{"membership-copy", "Copies a collection for each test", match_membership_copy, false, false},
	{"list-front", "Moves a whole list for its first item", match_list_front, false, false},
	{"list-sum", "Adds up lists with sum()", match_list_sum, false, false},
	{"string-building", "Builds text by += in a loop", match_string_building, false, false},
	{"regex-compile", "Compiles a regular expression again and again", match_regex, false, true},
	{"deep-copy", "Deep copies again and again", match_deep_copy, false, true},
	{"blocking-async", "Blocks the event loop", match_blocking, false, false},
	{"leak", "Memory grows here", match_leak, true, false},
	{NULL, NULL, NULL, false, false},
};
