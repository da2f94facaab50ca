#include "collect/helpers.h"

#include <string.h>

#include "base/text.h"
#include "collect/collector.h"

static const struct helper helpers[] = {
	{ "from multiprocessing.spawn import spawn_main", NULL },
	{ "from multiprocessing.forkserver import main", "fork server" },
	{ "from multiprocessing.resource_tracker import main", "resource tracker" },
	{ "from multiprocessing.semaphore_tracker import main", "resource tracker" },
	{ "from billiard.spawn import spawn_main", NULL },
	{ "from billiard.forkserver import main", "fork server" },
	{ "import sys;exec(eval(sys.stdin.readline()))", NULL }, /* execnet, pytest-xdist */
	{ "loky.backend.resource_tracker import main", "resource tracker" },
};

const struct helper *helpers_find(const char *command)
{
	for (size_t i = 0; command != NULL && i < sizeof(helpers) / sizeof(helpers[0]); i++) {
		if (strstr(command, helpers[i].line) != NULL)
			return &helpers[i];
	}
	return NULL;
}

bool helpers_only_serves(const struct collector *collector, const struct process *process)
{
	const struct helper *helper = helpers_find(process->command);
	if (helper == NULL || helper->name == NULL)
		return false;
	for (uint32_t i = 0; i < collector->processes.count; i++) {
		const struct process *other = collector->processes.items[i];
		if (other->pid == process->parent_pid && other->command == process->command)
			return false;
	}
	return true;
}

/* The functions of pools that go from one piece of work to the next. */
static const struct {
	const char *file, *function;
} workers[] = {
	{ "/multiprocessing/pool.py", "worker" },
	{ "/concurrent/futures/process.py", "_process_worker" },
	{ "/loky/process_executor.py", "_process_worker" },
	{ "/billiard/pool.py", "workloop" },
	{ "/torch/utils/data/_utils/worker.py", "_worker_loop" },
};

/* What they wait in; work runs in other files, or in C right below their own. */
static const char *const queues[] = {
	"/multiprocessing/queues.py", "/multiprocessing/connection.py",
	"/multiprocessing/synchronize.py", "/selectors.py", "/loky/backend/queues.py",
	"/billiard/queues.py", "/billiard/connection.py", "/billiard/synchronize.py",
	"/billiard/pool.py",
};

static bool is_queue(const struct code *code)
{
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		if (text_ends_with(code->filename, queues[i]))
			return true;
	}
	return false;
}

static bool is_worker(const struct code *code)
{
	const char *dot = strrchr(code->qualname, '.');
	const char *name = dot == NULL ? code->qualname : dot + 1;
	for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
		if (strcmp(name, workers[i].function) == 0 &&
		    text_ends_with(code->filename, workers[i].file))
			return true;
	}
	return false;
}

bool helpers_wait_for_work(const struct collector *collector, uint32_t node)
{
	bool is_in_queue = false;
	for (; node != TREE_ROOT; node = collector->tree.nodes[node].parent) {
		const struct code *code =
			&collector->codes.items[tree_frame(&collector->tree, node).code];
		if (is_worker(code))
			return is_in_queue;
		if (!is_queue(code))
			return false;
		is_in_queue = true;
	}
	return false;
}
