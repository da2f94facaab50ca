/* debugger.c - whether a debugger runs the process.
 *
 * Whoever traces a process sees each of its signals before it does.  strace and its like
 * hand ours on, but a debugger stops the program for each, hundreds of times a second, and
 * asks what to do. */
#include "agent/debugger.h"

#include <stdio.h>
#include <string.h>

#include "agent/small_file.h"

bool debugger_is_there(void)
{
	static const char *const starts[] = {"gdb", "lldb"}; /* gdbserver and lldb-server too */
	char path[40], text[32];
	unsigned long long pid = small_file_status("TracerPid");
	if (pid == 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%llu/comm", pid);
	if (small_file_read(path, text, sizeof(text)) == 0)
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (strncmp(text, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return false;
}
