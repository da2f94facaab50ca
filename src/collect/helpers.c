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

/* Who goes from one piece of work to the next. */
enum {
	OF_POOL = 1 << 0,    /* a pool's process */
	OF_MANAGER = 1 << 1, /* multiprocessing's manager: its main thread, its listener, one for each client */
};

/* Their functions. */
static const struct {
	const char *file, *function;
	unsigned kind;
} workers[] = {
	{ "/multiprocessing/pool.py", "worker", OF_POOL },
	{ "/concurrent/futures/process.py", "_process_worker", OF_POOL },
	{ "/loky/process_executor.py", "_process_worker", OF_POOL },
	{ "/billiard/pool.py", "workloop", OF_POOL },
	{ "/torch/utils/data/_utils/worker.py", "_worker_loop", OF_POOL },
	{ "/multiprocessing/managers.py", "_run_server", OF_MANAGER },
	{ "/multiprocessing/managers.py", "accepter", OF_MANAGER },
	{ "/multiprocessing/managers.py", "serve_client", OF_MANAGER },
};

/* What they wait in; work runs in other files, or in C right below their own. */
static const struct {
	const char *file;
	unsigned kinds;
} queues[] = {
	{ "/multiprocessing/queues.py", OF_POOL },
	{ "/multiprocessing/connection.py", OF_POOL | OF_MANAGER },
	{ "/multiprocessing/synchronize.py", OF_POOL },
	{ "/selectors.py", OF_POOL },
	{ "/loky/backend/queues.py", OF_POOL },
	{ "/billiard/queues.py", OF_POOL },
	{ "/billiard/connection.py", OF_POOL },
	{ "/billiard/synchronize.py", OF_POOL },
	{ "/billiard/pool.py", OF_POOL },
	{ "/multiprocessing/managers.py", OF_MANAGER },
	{ "/threading.py", OF_MANAGER },
	{ "/socket.py", OF_MANAGER },
};

/* Whose wait the function can be part of; 0: nobody's. */
static unsigned kinds_waiting_in(const struct code *code)
{
	for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		if (text_ends_with(code->filename, queues[i].file))
			return queues[i].kinds;
	}
	return 0;
}

/* Whose function it is; 0: nobody's. */
static unsigned kind_of_worker(const struct code *code)
{
	const char *dot = strrchr(code->qualname, '.');
	const char *name = dot == NULL ? code->qualname : dot + 1;
	for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
		if (strcmp(name, workers[i].function) == 0 &&
		    text_ends_with(code->filename, workers[i].file))
			return workers[i].kind;
	}
	return 0;
}

bool helpers_wait_for_work(const struct collector *collector, uint32_t node)
{
	unsigned waiting = 0;
	for (bool is_innermost = true; node != TREE_ROOT; is_innermost = false) {
		const struct code *code =
			&collector->codes.items[tree_frame(&collector->tree, node).code];
		unsigned worker = kind_of_worker(code);
		if (worker != 0)
			return (waiting & worker) != 0;
		unsigned kinds = kinds_waiting_in(code);
		waiting = is_innermost ? kinds : waiting & kinds;
		if (waiting == 0)
			return false;
		node = collector->tree.nodes[node].parent;
	}
	return false;
}
