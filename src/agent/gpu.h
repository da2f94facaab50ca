/* gpu.h - GPU work, booked to the Python stack that launched it.
 *
 * The driver itself loads us when the program first uses CUDA (cuInit looks at
 * CUDA_INJECTION64_PATH and calls InitializeInjection), so a program without a
 * GPU pays nothing.  Then
 *
 *	gpu_library.c  finds the CUPTI that fits the driver
 *	gpu.c          subscribes; life, fork, end
 *	gpu_launch.c   at each call that starts work: which stack is it (a site)
 *	gpu_records.c  when work is done: its time, to its site's stack
 *	gpu_yield.c    another profiler in the program begins: we end
 *
 * A launch and the work it started have one number, the correlation; a table by
 * that number leads from the work back to the site.
 *
 * CUPTI has a thread of its own.  It exists only in processes that use CUDA,
 * which have several of the driver's anyway. */
#ifndef HEATLINE_AGENT_GPU_H
#define HEATLINE_AGENT_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/cupti.h"

#define GPU_DEVICES 64u /* of one process; there are machines with 16 */

/* The open library; valid from gpu_library_open on. */
extern struct cupti g_cupti;

/* --- gpu.c --- */

/* The program ends, or this process is about to: what is done is told. */
void gpu_flush(void);

/* In a forked child: CUDA does not work there unless it begins anew. */
void gpu_after_fork(void);

/* A session begins: CUDA is measured from now on if the program uses it already,
 * else when it begins to.  The session ends: what is done is told, and everything is
 * as it was. */
void gpu_join(void);
void gpu_leave(void);

/* Stops measuring in this process, when what is done has been told; reason goes
 * to the user. */
void gpu_stop(const char *reason);

/* The same from where CUPTI gives us records, which are not to be told. */
void gpu_stop_reading(const char *reason);

/* --- gpu_library.c --- */

/* Opens CUPTI and looks up its functions.  NULL, or why it cannot be used; the
 * text is static. */
const char *gpu_library_open(void);

/* A function of the open CUPTI; NULL: it has none such. */
void *gpu_library_find(const char *name);

/* A function of the driver's library, which is loaded; NULL: it has none such. */
void *gpu_library_driver(const char *name);

/* --- gpu_launch.c --- */

/* Returns 0 or -errno. */
int gpu_launch_start(void);
void gpu_launch_after_fork(void);

/* A session begins: what was told to the last one is told again. */
void gpu_launch_forget(void);

/* Asks CUPTI to call us for everything that starts work or waits for it; its
 * result. */
int gpu_launch_subscribe(void **subscriber);

/* The site that a correlation's work belongs to; GPU_SITE_NONE when it is not
 * known.  False: it was launched while profiling was suspended. */
bool gpu_launch_find(uint32_t correlation, uint32_t *site);

/* --- gpu_records.c --- */

void gpu_records_after_fork(void);
void gpu_records_forget(void);

/* Buffers for CUPTI. */
cupti_on_request gpu_records_on_request;
cupti_on_complete gpu_records_on_complete;

/* --- gpu_yield.c --- */

/* From now on whoever asks for CUPTI's functions by name is noticed, too. */
void gpu_yield_guard(void);

#endif
