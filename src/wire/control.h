/* control.h - the page that the collector shares with all agents of a run.
 *
 * The run's folder holds this file ("control") and one ring per process.  The
 * collector writes the settings before the first process starts; agents count
 * themselves in, so that the collector knows when to look for new rings. */
#ifndef HEATLINE_WIRE_CONTROL_H
#define HEATLINE_WIRE_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#define CONTROL_MAGIC 0x4c54435254544148ull
#define CONTROL_ENV "HEATLINE_RUN" /* the run's folder, for agents */
#define CONTROL_FILE "control"
#define RING_FILE_PREFIX "ring-"   /* then the pid, a dash, and a number */

struct control {
	uint64_t magic;
	uint32_t wire_version;
	int32_t collector_pid;       /* may read the processes' memory */
	uint64_t interval_ns;        /* wanted CPU time between samples of a thread; 0: automatic */
	uint64_t memory_window;      /* mean bytes between sampled allocations; 0: automatic */
	_Atomic uint32_t rings;      /* rings ever made in this run */
};

#endif
