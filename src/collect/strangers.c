/* strangers.c - see strangers.h. */
#include "collect/strangers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "wire/control.h"

#define ENVIRONMENT_MAX_BYTES ((size_t)256 << 10)

/* Numbers are given in order, and begin anew after some 32 000 processes at the least. */
#define IN_ORDER_NS 60000000000u

/* A process that is about to become another program has no environment for a moment. */
#define EXEC_LOOKS 10u
#define EXEC_US 500u

/* A look comes after this part (1/n) of the time that nobody was there. */
#define LOOK_PART 8u

bool strangers_has_word(const char *environment, size_t size, const char *folder)
{
	static const char name[] = CONTROL_ENV "=";
	const char *end = environment + size;
	for (const char *word = environment; word < end;) {
		const char *zero = memchr(word, '\0', (size_t)(end - word));
		if (zero == NULL)
			return false;
		if ((size_t)(zero - word) >= sizeof(name) && memcmp(word, name, sizeof(name) - 1) == 0) {
			const char *value = word + sizeof(name) - 1;
			/* A plus: the agent has put it in. */
			return strcmp(value + (*value == '+'), folder) == 0;
		}
		word = zero + 1;
	}
	return false;
}

/* Whether the process is one of the run's. */
static bool is_of_run(pid_t pid, char *text, const char *folder)
{
	char exe[2];
	for (unsigned i = 0; i < EXEC_LOOKS; i++) {
		ssize_t size = procfs_read(pid, "environ", text, ENVIRONMENT_MAX_BYTES);
		if (size > 0)
			return strangers_has_word(text, (size_t)size, folder);
		char path[64];
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
		if (size < 0 || readlink(path, exe, sizeof(exe)) < 0)
			return false; /* somebody else's; a kernel's, or one that has ended */
		usleep(EXEC_US);
	}
	return false;
}

static void search(struct strangers *strangers, const struct strangers_run *run)
{
	char *text = mem_alloc(ENVIRONMENT_MAX_BYTES);
	bool is_in_order = run->age_ns < IN_ORDER_NS;
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	while (folder != NULL && strangers->count < STRANGERS_MAX && (entry = readdir(folder)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid <= 0 || (is_in_order && pid < run->program))
			continue;
		if (is_of_run(pid, text, run->folder))
			strangers->items[strangers->count++] = (struct stranger){pid, procfs_start(pid)};
	}
	if (folder != NULL)
		closedir(folder);
	free(text);
}

bool strangers_are_there(struct strangers *strangers, const struct strangers_run *run)
{
	uint32_t kept = 0;
	uint64_t now_ns = clock_monotonic_ns();
	if (strangers->count != 0 && now_ns < strangers->next_ns)
		return true;
	for (uint32_t i = 0; i < strangers->count; i++) {
		if (procfs_is_alive(strangers->items[i].pid, strangers->items[i].start))
			strangers->items[kept++] = strangers->items[i];
	}
	strangers->count = kept;
	if (kept == 0)
		search(strangers, run);
	strangers->next_ns = now_ns + run->alone_ns / LOOK_PART;
	return strangers->count != 0;
}
