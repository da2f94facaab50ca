/* gpu.c - see gpu.h.
 *
 * Whatever goes wrong, the program's own use of the GPU goes on: we say why in
 * the ring and stay out of the way; the collector then samples from outside. */
#include "agent/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/memory.h"
#include "agent/threads.h"

/* Work is told at most so long after it was done. */
#define FLUSH_MS 100u
#define FLUSH_BY_ITSELF 0u
#define FLUSH_FORCED 1u

/* What the driver calls (see gpu.h); 1: all is well. */
int InitializeInjection(void);

static _Atomic bool is_on;
static bool has_begun; /* once: there may be something to forget */
static pid_t own_pid; /* CUPTI does not cross a fork */
static void *subscriber;
static bool has_set_path; /* the driver's variable is ours (gpu_join) */

static void push_state(enum gpu_state state, const char *text)
{
	struct record *record = ring_reserve(g_agent.ring, sizeof(struct record_gpu_state));
	if (record == NULL)
		return;
	struct record_gpu_state *out = (struct record_gpu_state *)record;
	out->time_ns = now_wall_ns();
	out->state = (uint32_t)state;
	out->reserved = 0;
	memset(out->text, 0, sizeof(out->text));
	snprintf(out->text, sizeof(out->text), "%s", text);
	ring_commit(record, sizeof(*out), RECORD_GPU_STATE);
}

static const char *reason_of(int result)
{
	const char *text = NULL;
	if (result == CUPTI_TAKEN)
		return "another profiler has CUPTI in this process";
	if (result == CUPTI_NOT_PERMITTED)
		return "the driver permits profiling to the administrator only "
		       "(NVreg_RestrictProfilingToAdminUsers)";
	if (result == CUPTI_OLD_DRIVER)
		return "CUPTI does not fit the driver";
	if (g_cupti.cuptiGetResultString(result, &text) != CUPTI_DONE || text == NULL)
		return "CUPTI failed without a reason";
	return text;
}

static const int kinds[] = {CUPTI_KERNEL, CUPTI_COPY, CUPTI_SET, CUPTI_PEER_COPY, CUPTI_MEMORY};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Only kernels have to be; a version may lack the others. */
static int enable_activity(void)
{
	int result = g_cupti.cuptiActivityRegisterCallbacks(gpu_records_on_request,
							    gpu_records_on_complete);
	for (size_t i = 0; i < KINDS && result == CUPTI_DONE; i++) {
		int enabled = g_cupti.cuptiActivityEnable(kinds[i]);
		if (kinds[i] == CUPTI_KERNEL)
			result = enabled;
	}
	if (result == CUPTI_DONE)
		g_cupti.cuptiActivityFlushPeriod(FLUSH_MS);
	return result;
}

/* NULL, or why it does not work. */
static const char *start(void)
{
	const char *why = gpu_library_open();
	if (why != NULL)
		return why;
	if (gpu_launch_start() != 0)
		return "no memory for the table of launches";
	gpu_yield_guard();
	int result = gpu_launch_subscribe(&subscriber);
	if (result != CUPTI_DONE)
		return reason_of(result);
	result = enable_activity();
	if (result == CUPTI_DONE)
		return NULL;
	g_cupti.cuptiUnsubscribe(subscriber);
	return reason_of(result);
}

void gpu_flush(void)
{
	if (atomic_load(&is_on) && own_pid == getpid())
		g_cupti.cuptiActivityFlushAll(FLUSH_FORCED);
}

/* False: it was not on. */
static bool stop(bool has_flush)
{
	if (own_pid != getpid() || !atomic_exchange(&is_on, false))
		return false;
	for (size_t i = 0; i < KINDS; i++)
		g_cupti.cuptiActivityDisable(kinds[i]);
	if (has_flush)
		g_cupti.cuptiActivityFlushAll(FLUSH_FORCED);
	g_cupti.cuptiActivityFlushPeriod(FLUSH_BY_ITSELF);
	g_cupti.cuptiUnsubscribe(subscriber);
	return true;
}

void gpu_stop(const char *reason)
{
	if (stop(true))
		push_state(GPU_STATE_OFF, reason);
}

void gpu_stop_reading(const char *reason)
{
	if (stop(false))
		push_state(GPU_STATE_OFF, reason);
}

void gpu_after_fork(void)
{
	/* Tables that were never used are not written to: each page would have to be copied. */
	if (!has_begun)
		return;
	atomic_store(&is_on, false);
	gpu_launch_after_fork();
	gpu_records_after_fork();
}

static void on_exit_flush(void)
{
	gpu_flush();
	atomic_store(&is_on, false);
}

AGENT_EXPORT int InitializeInjection(void)
{
	static bool has_exit;
	uint64_t saved[2];
	int saved_errno = errno;
	if (!g_agent.is_active || g_agent.control->has_gpu == 0 || atomic_load(&is_on))
		return 1;
	if (memory_hide != NULL)
		memory_hide(saved);
	g_threads_unseen++;
	has_begun = true;
	const char *why = start();
	g_threads_unseen--;
	if (memory_show != NULL)
		memory_show(saved);
	if (why == NULL) {
		own_pid = getpid();
		atomic_store(&is_on, true);
		/* Behind the driver's own, so that it runs before them. */
		if (!has_exit)
			atexit(on_exit_flush);
		has_exit = true;
	}
	push_state(why == NULL ? GPU_STATE_ON : GPU_STATE_OFF, why == NULL ? "" : why);
	errno = saved_errno;
	return 1;
}

/* Whether the program has begun to use CUDA. */
static bool is_in_use(void)
{
	int (*get_count)(int *);
	int count;
	*(void **)&get_count = gpu_library_driver("cuDeviceGetCount");
	return get_count != NULL && get_count(&count) == 0;
}

void gpu_join(void)
{
	Dl_info own;
	if (g_agent.control->has_gpu == 0)
		return;
	gpu_launch_forget();
	gpu_records_forget();
	if (is_in_use()) {
		InitializeInjection();
	} else if (getenv(CONTROL_GPU_ENV) == NULL && dladdr(&has_set_path, &own) != 0) {
		has_set_path = setenv(CONTROL_GPU_ENV, own.dli_fname, 0) == 0;
	}
}

void gpu_leave(void)
{
	stop(true);
	if (has_set_path)
		unsetenv(CONTROL_GPU_ENV);
	has_set_path = false;
}
