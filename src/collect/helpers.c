#include "collect/helpers.h"

#include <string.h>

#include "collect/collector.h"

static const struct helper helpers[] = {
	{ "from multiprocessing.spawn import spawn_main", NULL },
	{ "from multiprocessing.forkserver import main", "fork server" },
	{ "from multiprocessing.resource_tracker import main", "resource tracker" },
	{ "from multiprocessing.semaphore_tracker import main", "resource tracker" },
	{ "from billiard.spawn import spawn_main", NULL },
	{ "from billiard.forkserver import main", "fork server" },
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
