/* session.c - see session.h. */
#include "collect/session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/procfs.h"
#include "collect/collector.h"
#include "collect/folder.h"
#include "collect/run.h"

static bool tell_folder(int fd, const char *folder)
{
	size_t size = strlen(folder);
	return write(fd, folder, size) == (ssize_t)size && write(fd, "\n", 1) == 1;
}

int collect_session(const struct run_options *options, pid_t pid, struct link *link,
		    struct run_result *result, struct err *err)
{
	char *folder;
	struct control *control;
	*result = (struct run_result){.role = RUN_COLLECTOR, .link_fd = -1};
	signal(SIGXFSZ, SIG_IGN); /* as collector_run has it */
	int status = folder_new(&folder, &control, err);
	if (status != 0)
		return status;
	run_fill_control(control, options);
	control->outfile[0] = '\0';
	control->is_cpu_only = !options->has_memory;
	atomic_store(&control->collector_start, procfs_start(getpid()));
	atomic_store(&control->program_pid, pid);
	atomic_store(&control->program_start, procfs_start(pid));
	if (!tell_folder(link->to_front[1], folder)) {
		status = err_set_errno(err, errno, "process %d does not listen", (int)pid);
		folder_remove(folder, control);
		return status;
	}
	collector_run(options, folder, control, link, result, err);
	return 0;
}
