/* trial.h - a small program, run plain and under 'heatline run', to see whether that works.
 *
 * The program burns a few hundredths of a second, takes a few megabytes and sleeps a moment, on
 * lines that are known, and says which Python it is run by.  The interpreter is the one that
 * 'heatline run' takes, and so is everything else: it is that command which is executed.
 * All files are in a folder of its own that is gone afterwards. */
#ifndef HEATLINE_CLI_TRIAL_H
#define HEATLINE_CLI_TRIAL_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "profile/model.h"

#define TRIAL_MEMORY_BYTES 4e6 /* that its line takes */
#define TRIAL_WAIT_S 0.07      /* that its line sleeps */

/* What the interpreter says of itself. */
struct trial_python {
	char version[64];        /* "3.11.7"; "": it did not say anything */
	char implementation[64]; /* "cpython" */
	char image[PATH_MAX];    /* the file that has the interpreter: the executable or its libpython */
	char executable[PATH_MAX];
	char cupti[PATH_MAX];    /* NVIDIA's library that the agent has loaded; "": none */
	bool is_free_threaded;
	double start_cpu_s;      /* CPU time until the program's first line */
};

struct trial {
	char *python;               /* owned; the interpreter that was chosen; NULL: none */
	struct err refusal;         /* why there is none, or it was not tried; else code ERR_NONE */
	struct trial_python plain, profiled;
	char plain_complaint[512];  /* what the interpreter wrote when it did not run the program */
	char complaint[512];        /* what 'heatline run' wrote; "": nothing */
	struct profile *profile;    /* owned; NULL: there is none */
	double line_alloc_bytes;    /* of the line that takes memory */
	double line_wait_s;         /* of the line that sleeps */
	double seconds;             /* that the profiled one took */
	bool has_gpu;               /* the GPU was used too */
};

/* asked: the value of --python, or NULL.  What goes wrong is in *trial; a signal that ends us has
 * its effect once the folder is gone. */
void trial_run(const char *asked, bool has_gpu, struct trial *trial);
void trial_fini(struct trial *trial);

#endif
