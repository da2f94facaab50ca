/* control.h - the page that everybody of a run shares.
 *
 * The run's folder holds this file ("control") and one ring per process.  The
 * settings are written before the first process starts.  Agents count
 * themselves in, so that the collector knows when to look for new rings; other
 * heatline commands (on, off, write, status) find the run here and leave their
 * wishes.  Nobody is sent a signal for it: the program's are its own. */
#ifndef HEATLINE_WIRE_CONTROL_H
#define HEATLINE_WIRE_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#define CONTROL_MAGIC 0x4c54435254544148ull
#define CONTROL_ENV "HEATLINE_RUN" /* the run's folder, for agents */
#define CONTROL_FILE "control"
#define RING_FILE_PREFIX "ring-"   /* then the pid, a dash, and a number */
#define CONTROL_GPU_ENV "CUDA_INJECTION64_PATH" /* what the driver loads into its users */
#define CONTROL_SHOW_FILE "show.json"
#define CONTROL_PATH_BYTES 4096u

struct control {
	uint64_t magic;
	uint32_t wire_version;

	/* who; a number that is not known yet is 0 */
	_Atomic int32_t collector_pid; /* may read the processes' memory */
	_Atomic uint64_t collector_start; /* as in /proc, so that a reused pid is noticed */
	_Atomic int32_t front_pid;     /* the heatline that the user started */
	_Atomic uint64_t front_start;  /* as in /proc */
	_Atomic int32_t program_pid;   /* what it has started */
	_Atomic uint64_t program_start; /* as in /proc */
	_Atomic uint32_t is_front_stopped; /* waits for the program to be continued */
	_Atomic uint32_t has_ended;    /* the program itself has; others of the run may go on */
	_Atomic int32_t end_status;    /* then: as from waitpid */

	/* settings */
	uint64_t interval_ns;        /* wanted CPU time between samples of a thread; 0: automatic */
	uint64_t memory_window;      /* mean bytes between sampled allocations; 0: automatic */
	uint32_t has_gpu;            /* GPU work is wanted */
	uint32_t is_first_only;      /* only the first Python process is profiled */
	uint32_t is_cpu_only;        /* for an agent that is loaded later: no memory */
	uint32_t wants_profile_name; /* the program uses a @profile that nothing defines */
	_Atomic int32_t first_pid;   /* that one, when it has been found */

	/* what goes on */
	_Atomic uint32_t rings;      /* rings ever made in this run */
	_Atomic int32_t forking;     /* forks whose child has no ring yet */
	_Atomic uint32_t rings_refused; /* processes that could make none … */
	_Atomic int32_t refused_error;  /* … for this reason, the last of them: an errno */
	_Atomic uint32_t perf_price_ns; /* what a signal of a perf clock costs here; 0: not known yet */
	_Atomic uint32_t is_off;     /* suspended: agents and collector pass everything over */
	_Atomic uint64_t off_since_ns; /* when it is: monotonic */
	_Atomic uint64_t suspended_ns; /* before that */
	_Atomic uint64_t samples;    /* taken so far */
	_Atomic uint32_t writes_wanted; /* raised by one who wants the profile written */
	_Atomic uint32_t writes_done;   /* follows writes_wanted */
	_Atomic uint32_t is_write_failed; /* the last one did */
	_Atomic uint32_t shows_wanted;  /* raised by one who watches: the profile so far … */
	_Atomic uint32_t shows_done;    /* … is in CONTROL_SHOW_FILE */

	uint32_t had_outfile;        /* there was something where the profile goes */

	/* for people; written before the first process starts */
	uint64_t start_ns;           /* monotonic */
	double start_epoch_s;
	char program[CONTROL_PATH_BYTES];
	char outfile[CONTROL_PATH_BYTES]; /* absolute */
};

#endif
