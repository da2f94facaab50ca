/* test_advice.c - each rule on a source that it is about, and on ones that it is not.
 *
 * In every source the line with "#hot" has the figures; the profile takes 10 s. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "profile/book.h"
#include "profile/read.h"
#include "profile/write.h"
#include "report/advice.h"

#define PATH "/home/me/app/app.py"

struct figures {
	double python_s, native_s, wait_s, inclusive_s;
	double copy_mb, alloc_mb, kept_mb, leak;
	double compiling_s;  /* in re's own code, below the line */
	double gpu_wait_s;   /* blocked on a device, fifty times a second */
	double gpu_idle_s;   /* the device had nothing to do meanwhile */
	double blocking_s;   /* a step of the event loop lasted so long here */
	double header_s;      /* of the line before, in Python */
	uint32_t called_from; /* a line that calls the function */
};

static const struct figures native = {.native_s = 4}, python = {.python_s = 4},
			    waiting = {.wait_s = 4}, cold = {.native_s = 0.1};

static uint32_t hot_line(const char *source)
{
	uint32_t line = 1;
	const char *mark = strstr(source, "#hot");
	assert_non_null(mark);
	for (const char *at = source; at < mark; at++)
		line += *at == '\n';
	return line;
}

static struct profile_line *set_line(struct profile *profile, uint32_t file, uint32_t number,
				     double python_s, double native_s, double wait_s)
{
	struct profile_line *line = profile_memory_line(profile, file, number);
	line->self.python_s += python_s;
	line->self.native_s += native_s;
	line->self.wait_s += wait_s;
	line->self.samples += (uint64_t)(100 * (python_s + native_s + wait_s));
	line->inclusive_s += python_s + native_s + wait_s;
	return line;
}

static void add_node(struct profile *profile, uint32_t parent, uint32_t file, const char *function,
		     uint32_t line, double native_s)
{
	if (!profile->stack_count)
		profile->stacks = mem_zalloc(16, sizeof(*profile->stacks));
	if (!profile->stack_count)
		profile->stack_count = 1;
	profile->stacks[profile->stack_count++] = (struct stack_node){
		.parent = parent, .file = file, .function = profile_intern(profile, function),
		.line = line, .self = {.native_s = native_s}};
}

static void add_stacks(struct profile *profile, uint32_t file, uint32_t hot,
		       const struct figures *figures)
{
	uint32_t re = profile_file_index(profile, "/usr/lib/python3.11/re/__init__.py", false);
	if (figures->called_from)
		set_line(profile, file, figures->called_from, 0, 0, 0)->inclusive_s = 4;
	add_node(profile, 0, file, "main", figures->called_from ? figures->called_from : hot, 0);
	add_node(profile, 1, file, "work", hot, 0);
	add_node(profile, 2, re, "match", 166, 1);
	add_node(profile, 3, re, "_compile", 290, figures->compiling_s);
}

static struct profile *make_profile(const char *source, const struct figures *figures)
{
	struct profile *profile = profile_new();
	uint32_t file = profile_file_index(profile, PATH, true), hot = hot_line(source);
	struct profile_line *line = set_line(profile, file, hot, figures->python_s,
					     figures->native_s, figures->wait_s);
	double seconds = figures->python_s + figures->native_s + figures->wait_s + figures->header_s;
	if (figures->inclusive_s > line->inclusive_s)
		line->inclusive_s = figures->inclusive_s;
	line->self.copy_bytes = profile->sum.copy_bytes = figures->copy_mb * MB;
	line->self.alloc_bytes = profile->sum.alloc_bytes = figures->alloc_mb * MB;
	line->self.kept_bytes = figures->kept_mb * MB;
	line->gpu = (struct gpu_figures){.wait_s = figures->gpu_wait_s,
					 .waits = 50 * figures->gpu_wait_s,
					 .idle_s = figures->gpu_idle_s};
	profile->gpu.source = profile_intern(profile, "cupti");
	profile->gpu.busy_s = 1;
	profile->gpu.idle_s = 1 + figures->gpu_idle_s;
	line->memory.leak_likelihood = figures->leak;
	line->memory.leak_bytes_per_s = MB;
	if (figures->blocking_s > 0) {
		profile->blocking = mem_zalloc(1, sizeof(*profile->blocking));
		profile->blocking_count = 1;
		profile->blocking[0] = (struct blocking_step){
			.file = profile_intern(profile, PATH), .function = profile_intern(profile, "f"),
			.line = hot, .count = 2, .longest_s = figures->blocking_s,
			.total_s = figures->blocking_s};
	}
	if (figures->header_s > 0)
		set_line(profile, file, hot - 1, figures->header_s, 0, 0);
	add_stacks(profile, file, hot, figures);
	profile->outside_s = 10 - seconds;
	profile->sum.samples = 1000;
	profile->files[file].source = mem_copy_text(source);
	profile->files[file].source_size = strlen(source);
	profile_finish(profile);
	return profile;
}

/* The rules that speak: "list-membership,leak". */
static void rules_of(const char *source, const struct figures *figures, char *text, size_t size)
{
	struct profile *profile = make_profile(source, figures);
	text[0] = '\0';
	for (uint32_t i = 0; i < profile->advice_count; i++) {
		size_t used = strlen(text);
		snprintf(text + used, size - used, "%s%s", used ? "," : "", profile->advice[i].rule);
		assert_int_equal(profile->advice[i].line, hot_line(source));
		assert_string_equal(profile->advice[i].file, PATH);
	}
	profile_free(profile);
}

static void check(const char *rules, const char *source, const struct figures *figures)
{
	char found[200];
	rules_of(source, figures, found, sizeof(found));
	if (strcmp(found, rules) != 0)
		fail_msg("expected \"%s\", found \"%s\" in\n%s", rules, found, source);
}

#define SEEN "seen = []\nfor x in range(9):\n"

static void test_membership(void **state)
{
	check("list-membership", SEEN "    if x in seen: #hot\n        pass\n", &native);
	check("list-membership", SEEN "    if x not in seen and x: #hot\n        pass\n", &native);
	check("list-membership", "seen = list(a)\nhits = [x for x in b if x in seen] #hot\n", &native);
	check("list-membership", "class A:\n    def __init__(self):\n        self.seen = []\n"
				 "    def f(self, b):\n        while 1:\n            b in self.seen #hot\n",
	      &native);
	check("list-membership", "def f(seen: list):\n    for x in y:\n        x in seen #hot\n", &native);
	check("list-membership", "def f(seen):\n    for x in y:\n        if x not in seen: #hot\n"
				 "            seen.append(x)\n", &native);
	check("list-membership", "while 1:\n    x in d.values() #hot\n", &native);
	check("list-membership", SEEN "    if x in seen: #hot\n        pass\n", &python);
	check("", SEEN "    if x in seen: #hot\n        pass\n",
	      &(struct figures){.python_s = 4, .header_s = 1});
	check("", "seen = []\nhits = [x for x in b if x in seen] #hot\n", &python);
	check("", SEEN "    if x in seen: #hot\n        pass\n", &cold);
	check("", "seen = set()\nfor x in y:\n    x in seen #hot\n", &native);
	check("", "seen = {}\nseen = []\nfor x in y:\n    x in seen #hot\n", &native);
	check("", "seen = [] if a else set()\nfor x in y:\n    x in seen #hot\n", &native);
	check("", "def f(seen):\n    for x in y:\n        x in seen #hot\n", &native);
	check("", "seen = []\ndef f(seen):\n    for x in y:\n        x in seen #hot\n", &native);
	check("", "seen = []\nfor x in seen: #hot\n    pass\n", &native);
	check("", "seen = []\nz = [x for x in seen] #hot\n", &native);
	check("", SEEN "    s = 'if x in seen' #hot if x in seen\n", &native);
	check("", "seen = []\nx in seen #hot\n", &native);
}

static void test_called_from_a_loop(void **state)
{
	static const char source[] = "seen = []\ndef work(x):\n    return x in seen #hot\n"
				     "for x in y:\n    work(x)\nwork(1)\n"
				     "z = [work(x) for x in y]\n";
	check("list-membership", source, &(struct figures){.native_s = 4, .called_from = 5});
	check("list-membership", source, &(struct figures){.native_s = 4, .called_from = 7});
	check("", source, &(struct figures){.native_s = 4, .called_from = 6});
}

static void test_membership_copy(void **state)
{
	check("membership-copy", "for x in y:\n    if x in list(d.keys()): #hot\n        pass\n", &native);
	check("membership-copy", "for x in y:\n    x in sorted(d) #hot\n", &python);
	check("", "for x in y:\n    x in d.keys() #hot\n", &native);
	check("", "for x in list(d.keys()): #hot\n    pass\n", &native);
	check("", "for x in y:\n    x in list(d) #hot\n", &cold);
}

static void test_list_front(void **state)
{
	check("list-front", "q = list(a)\nwhile q:\n    q.pop(0) #hot\n", &native);
	check("list-front", "q = []\nfor x in y:\n    q.insert(0, x) #hot\n", &native);
	/* Of a short list the call takes longer than the moving. */
	check("", "q = list(a)\nwhile q:\n    q.pop(0) #hot\n",
	      &(struct figures){.native_s = 3.5, .copy_mb = 4096});
	check("list-front", "q = list(a)\nwhile q:\n    q.pop(0) #hot\n",
	      &(struct figures){.native_s = 3, .python_s = 1, .copy_mb = 40960});
	check("", "q = list(a)\nwhile q:\n    q.pop(0) #hot\n",
	      &(struct figures){.native_s = 3, .python_s = 1, .header_s = 1});
	check("list-front", "q = list(a)\nwhile q:\n    q.pop(0) #hot\n",
	      &(struct figures){.native_s = 3, .python_s = 1, .header_s = 0.5});
	check("", "q = deque()\nwhile q:\n    q.pop(0) #hot\n", &native);
	check("", "q = []\nwhile q:\n    q.pop() #hot\n", &native);
	check("", "q = []\nwhile q:\n    q.pop(01) #hot\n", &native);
	check("", "q = []\nwhile q:\n    q.pop(0) #hot\n", &cold);
	check("list-sum", "flat = sum(lists, []) #hot\n", &native);
	check("", "flat = sum(lists, 0) #hot\n", &native);
}

static void test_string_building(void **state)
{
	struct figures copied = {.python_s = 4, .copy_mb = 300};
	check("string-building", "s = ''\nfor x in y:\n    s += x #hot\n", &native);
	check("string-building", "s = ''\nfor x in y:\n    s += x #hot\n", &copied);
	check("string-building", "def f():\n    s = b''\n    while 1:\n        s = s + x #hot\n", &native);
	check("string-building", "s = f'{a}'\nfor x in y: s += x #hot\n", &native);
	check("", "s = 0\nfor x in y:\n    s += x #hot\n", &native);
	check("", "s = []\nfor x in y:\n    s += x #hot\n", &native);
	check("", "s = bytearray()\nfor x in y:\n    s += x #hot\n", &native);
	check("", "s = ''\ns += x #hot\n", &native);
	check("", "s = ''\nfor x in y:\n    s += x #hot\n", &python);
	check("", "s = ''\nfor x in y:\n    s += x #hot\n", &cold);
	check("", "s = ''\nfor x in y:\n    s == x + 1 #hot\n", &native);
}

static void test_frames(void **state)
{
	check("dataframe-append", "import pandas as pd\ndf = pd.DataFrame()\nfor x in y:\n"
				  "    df = pd.concat([df, x]) #hot\n", &native);
	check("dataframe-append", "for x in y:\n    self.df = self.df.append(x, True) #hot\n", &native);
	check("", "import pandas as pd\nfor x in y:\n    df = pd.concat([a, b]) #hot\n", &native);
	check("", "rows = []\nfor x in y:\n    rows.append(x) #hot\n", &native);
	check("", "import pandas as pd\ndf = pd.concat([df, x]) #hot\n", &native);
	check("dataframe-rows", "for i, row in df.iterrows(): #hot\n    pass\n", &python);
	check("", "for i, row in df.iterrows(): #hot\n    pass\n", &cold);
	check("", "for row in df.itertuples(): #hot\n    pass\n", &python);
	check("dataframe-apply", "x = df.apply(f, axis=1) #hot\n", &(struct figures){.inclusive_s = 4});
	check("dataframe-apply", "x = df.apply(lambda r: r, axis='columns') #hot\n", &python);
	check("", "x = df.apply(f, axis=0) #hot\n", &python);
	check("", "x = df.apply(f(axis=1)) #hot\n", &python);
	check("", "x = df.apply(f, axis=1) #hot\n", &cold);
}

static void test_arrays(void **state)
{
	struct figures copied = {.native_s = 0.1, .copy_mb = 500};
	struct figures allocated = {.native_s = 0.1, .alloc_mb = 500};
#define NP "import numpy as np\n"
	check("array-append", NP "a = np.zeros(1)\nfor x in y:\n    a = np.append(a, x) #hot\n", &native);
	check("array-append", "from numpy import concatenate as join\nfor x in y:\n"
			      "    a = join((a, x)) #hot\n", &copied);
	check("", NP "for x in y:\n    a = np.concatenate((b, x)) #hot\n", &native);
	check("", NP "a = np.append(a, x) #hot\n", &native);
	check("", NP "for x in y:\n    a = np.append(a, x) #hot\n", &cold);
	check("", "for x in y:\n    a = np.append(a, x) #hot\n", &native);
	check("array-elements", NP "a = np.zeros(9)\nfor i in range(9):\n    s += a[i] * 2 #hot\n", &python);
	check("", NP "a = np.zeros(9)\nfor i in range(9):\n    s += a[i:].sum() #hot\n", &python);
	check("", NP "a = np.zeros(9)\nfor i in range(9):\n    s += a[0] #hot\n", &python);
	check("", "a = list(b)\nfor i in range(9):\n    s += a[i] #hot\n", &python);
	check("", NP "a = np.zeros(9)\nfor i in range(9):\n    s += a[i] #hot\n", &cold);
	check("array-copy", "for x in y:\n    x.astype('f8').sum() #hot\n", &allocated);
	check("array-copy", NP "a = np.zeros(9)\nfor x in y:\n    b = a.copy() #hot\n", &copied);
	check("", "for x in y:\n    x.astype('f8').sum() #hot\n", &native);
	check("", "x.astype('f8').sum() #hot\n", &allocated);
	check("", "d = {}\nfor x in y:\n    b = d.copy() #hot\n", &copied);
}

static void test_calls(void **state)
{
	struct figures compiling = {.python_s = 1, .inclusive_s = 4, .compiling_s = 3};
	struct figures matching = {.python_s = 1, .native_s = 3};
	check("regex-compile", "import re\nfor x in y:\n    re.match('a', x) #hot\n", &compiling);
	check("regex-compile", "from re import sub\nfor x in y:\n    z = sub('a', '', x) #hot\n",
	      &compiling);
	check("", "import re\nfor x in y:\n    re.match('a', x) #hot\n", &matching);
	check("", "import re\nre.match('a', x) #hot\n", &compiling);
	check("", "for x in y:\n    pattern.match(x) #hot\n", &compiling);
	check("deep-copy", "import copy\nfor x in y:\n    copy.deepcopy(x) #hot\n", &python);
	check("deep-copy", "from copy import deepcopy\nfor x in y:\n    deepcopy(x) #hot\n",
	      &(struct figures){.python_s = 0.1, .inclusive_s = 3});
	check("", "import copy\ncopy.deepcopy(x) #hot\n", &python);
	check("", "import copy\nfor x in y:\n    copy.deepcopy(x) #hot\n", &cold);
}

static void test_async(void **state)
{
	struct figures blocking = {.python_s = 0.01, .inclusive_s = 0.3, .blocking_s = 0.3};
	check("blocking-async", "import time\nasync def f():\n    time.sleep(1) #hot\n", &waiting);
	check("blocking-async", "from time import sleep\nasync def f():\n    sleep(1) #hot\n", &blocking);
	check("blocking-async", "import requests\nasync def f():\n    for u in us:\n"
				"        r = requests.get(u) #hot\n", &waiting);
	check("", "import time\ndef f():\n    time.sleep(1) #hot\n", &waiting);
	check("", "import time\nasync def f():\n    def g():\n        time.sleep(1) #hot\n", &waiting);
	check("", "import asyncio\nasync def f():\n    await asyncio.sleep(1) #hot\n", &waiting);
	check("", "import time\nasync def f():\n    await run(lambda: time.sleep(1)) #hot\n", &waiting);
	check("", "import time\nasync def f():\n    await to_thread(time.sleep, 1) #hot\n", &waiting);
	check("", "import time\nasync def f():\n    time.sleep(0) #hot\n", &cold);
}

static void test_gpu(void **state)
{
	struct figures synced = {.wait_s = 2, .gpu_wait_s = 2}, once = {.wait_s = 2, .gpu_wait_s = 0.1};
	check("gpu-sync", "for x in y:\n    total += loss.item() #hot\n", &synced);
	check("gpu-sync", "for x in y:\n    seen.append(model(x).cpu()) #hot\n", &synced);
	check("", "for x in y:\n    total += loss.item() #hot\n", &waiting);
	check("", "for x in y:\n    total += loss.item() #hot\n", &once);
	check("", "total = loss.item() #hot\n", &synced);
	check("", "for x in y:\n    torch.cuda.synchronize() #hot\n", &synced);

	struct figures late = {.python_s = 3, .gpu_idle_s = 3}, short_of = {.python_s = 3, .gpu_idle_s = 0.1};
	check("gpu-idle", "for x in y:\n    batch = load(x) #hot\n", &late);
	check("gpu-idle", "for batch in loader: #hot\n    train(batch)\n", &late);
	check("", "for x in y:\n    batch = load(x) #hot\n", &short_of);
	check("", "optimizer = make(model) #hot\nfor x in y:\n    train(x)\n", &late);
}

static void test_leak(void **state)
{
	struct figures growing = {.python_s = 0.1, .alloc_mb = 50, .kept_mb = 50, .leak = 0.98};
	struct figures keeping = {.python_s = 0.1, .alloc_mb = 50, .kept_mb = 50};
	check("leak", "cache = {}\nfor x in y:\n    cache[x] = make(x) #hot\n", &growing);
	check("", "cache = {}\nfor x in y:\n    cache[x] = make(x) #hot\n", &keeping);
}

static void test_largest_leak_comes_first(void **state)
{
	const struct figures growing = {.python_s = 0.1, .alloc_mb = 50, .kept_mb = 50, .leak = 0.98};
	struct profile *profile = make_profile("for x in y:\n    a[x] = f(x)\n    b[x] = g(x)\n"
					       "    c[x] = h(x) #hot\n", &growing);
	uint32_t file = profile_file_index(profile, PATH, true);
	for (uint32_t number = 2; number <= 3; number++) {
		struct profile_line *line = set_line(profile, file, number, 0, 0, 0);
		line->self.kept_bytes = line->self.alloc_bytes = 50 * MB;
		line->memory.leak_likelihood = 0.98;
		line->memory.leak_bytes_per_s = number == 3 ? 2 * MB : 0.5 * MB;
	}
	profile_finish(profile);
	assert_int_equal(profile->advice_count, 3);
	assert_int_equal(profile->advice[0].line, 3);
	assert_int_equal(profile->advice[1].line, 4);
	assert_int_equal(profile->advice[2].line, 2);
	profile_free(profile);
}

static void test_written_and_read_again(void **state)
{
	struct profile *profile = make_profile(SEEN "    if x in seen: #hot\n        pass\n", &native);
	struct write_options options = {.has_stacks = true};
	char *text = profile_write_text(profile, &options, NULL);
	struct profile *again = profile_read_text(text, strlen(text), "text", NULL);
	assert_non_null(again);
	assert_int_equal(again->advice_count, 1);
	assert_string_equal(again->advice[0].evidence, profile->advice[0].evidence);
	char *second = profile_write_text(again, &options, NULL);
	assert_string_equal(text, second);
	free(second);
	free(text);
	profile_free(again);
	profile_free(profile);
}

static char *print(const struct profile *profile, bool is_summary)
{
	struct style style = {.columns = 80, .folder = "/home/me/app"};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	if (is_summary)
		advice_print_summary(stream, &style, profile, 2);
	else
		advice_print(stream, &style, profile);
	fclose(stream);
	return text;
}

static void test_report(void **state)
{
	struct profile *profile = make_profile(SEEN "    if x in seen: #hot\n        pass\n", &native);
	char *section = print(profile, false), *summary = print(profile, true);
	assert_string_equal(section,
			    "\nAdvice\n  app.py:3  Searches a list again and again\n"
			    "    40% of the time (4.00 s) is spent here: each test walks through the list\n"
			    "    seen.\n"
			    "    Make seen a set (or a dict) once, before the loop; a test then takes the\n"
			    "    same short time however many there are.\n");
	assert_string_equal(summary, "  Advice: app.py:3  Searches a list again and again\n");
	free(section);
	free(summary);
	profile_free(profile);
	profile = make_profile("x = 1 #hot\n", &native);
	section = print(profile, false);
	assert_string_equal(section, "");
	free(section);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_membership),
		cmocka_unit_test(test_called_from_a_loop),
		cmocka_unit_test(test_membership_copy),
		cmocka_unit_test(test_list_front),
		cmocka_unit_test(test_string_building),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_async),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_leak),
		cmocka_unit_test(test_largest_leak_comes_first),
		cmocka_unit_test(test_written_and_read_again),
		cmocka_unit_test(test_report),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
