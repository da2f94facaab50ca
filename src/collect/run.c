/* run.c - a profiling run: who does what.  See front.h and collector.h. */
#include "collect/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/folder.h"
#include "collect/front.h"
#include "collect/recover.h"
#include "profile/model.h"

/* What other commands show of the run. */
static void describe(struct control *control, const struct run_options *options)
{
	char *here = options->outfile[0] == '/' ? NULL : getcwd(NULL, 0);
	char *outfile = here == NULL ? NULL : path_join(here, options->outfile);
	snprintf(control->program, sizeof(control->program), "%s", options->program);
	snprintf(control->outfile, sizeof(control->outfile), "%s",
		 outfile != NULL ? outfile : options->outfile);
	free(outfile);
	free(here);
}

void run_fill_control(struct control *control, const struct run_options *options)
{
	control->interval_ns = (uint64_t)(options->sampling_interval_s * 1e9);
	control->memory_window = options->memory_window_bytes;
	control->has_gpu = options->has_gpu;
	control->is_first_only = options->is_first_only;
	control->wants_profile_name = options->wants_profile_name;
	atomic_store(&control->is_off, options->is_off);
	atomic_store(&control->off_since_ns, clock_monotonic_ns());
	control->start_ns = clock_monotonic_ns();
	control->start_epoch_s = clock_epoch_s();
	struct stat old;
	control->had_outfile = stat(options->outfile, &old) == 0 && S_ISREG(old.st_mode) &&
			       old.st_size > 0;
	describe(control, options);
}

/* What is there before the program: the folder, and what it takes to recover the run.  The
 * program has its own idea of files that are too large, so ours lasts no longer. */
static int prepare(const struct run_options *options, char **folder, struct control **control,
		   struct err *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	sigaction(SIGXFSZ, &ignore, &before);
	int status = folder_new(folder, control, err);
	if (status == 0) {
		run_fill_control(*control, options);
		recover_note_words(*folder, options->words);
	}
	sigaction(SIGXFSZ, &before, NULL);
	return status;
}

int collect_run(const struct run_options *options, struct run_result *result, struct err *err)
{
	char *folder;
	struct control *control;
	struct front front;
	*result = (struct run_result){.role = RUN_FRONT, .link_fd = -1};
	int status = prepare(options, &folder, &control, err);
	if (status != 0)
		return status;
	front_init(&front, options, folder, control);
	int role = front_fork_collector(&front, err);
	if (role < 0) {
		front_fini(&front);
		folder_remove(folder, control);
		return role;
	}
	if (role == RUN_FRONT)
		role = front_run(&front, err);
	if (role == RUN_COLLECTOR) {
		result->role = RUN_COLLECTOR;
		collector_run(options, folder, control, &front.link, result, err);
		return 0;
	}
	result->status = front.status;
	front_fini(&front);
	munmap(control, sizeof(*control));
	free(folder);
	return role < 0 ? role : 0;
}

void run_result_fini(struct run_result *result)
{
	profile_free(result->profile);
	result->profile = NULL;
	free(result->elsewhere);
	result->elsewhere = NULL;
	if (result->link_fd >= 0) {
		link_send(result->link_fd, result->still_running + result->strangers != 0
						   ? LINK_BACKGROUND
						   : LINK_DONE);
		close(result->link_fd);
		result->link_fd = -1;
	}
}
