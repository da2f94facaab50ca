/* resident.c - the most that was ever resident of this process, as the kernel knows it.
 *
 * Whoever looks now and then misses what comes and goes in between.  The kernel misses
 * nothing and tells it at any time by one system call, but that figure outlives exec: of a
 * small program that a large one has started it is the large one's.  (A vfork hands it on
 * too; the child of a fork begins with what is resident of it.)  So it counts only where it
 * has grown since we came; else a file tells, which takes longer. */
#include "agent/resident.h"

#include <sys/resource.h>

#include "agent/agent.h"
#include "agent/small_file.h"

static uint64_t first_bytes;

static uint64_t most_bytes(void)
{
	struct rusage usage;
	return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

void resident_start(void)
{
	first_bytes = most_bytes();
}

void resident_after_fork(void)
{
	first_bytes = 0;
}

/* Of this program alone. */
static uint64_t read_bytes(void)
{
	return small_file_status("VmHWM") * 1024;
}

uint64_t resident_peak_bytes(bool is_at_once)
{
	uint64_t bytes = most_bytes();
	if (bytes > first_bytes)
		return bytes;
	/* What was before a session is not part of it. */
	return is_at_once || g_agent.is_loaded ? 0 : read_bytes();
}
