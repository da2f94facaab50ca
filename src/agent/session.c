/* session.c - see session.h.
 *
 * The caller holds the GIL throughout, so no other thread is in Python's
 * allocators, and no two sessions begin or end at once. */
#include "agent/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/forbidden.h"
#include "agent/gpu.h"
#include "agent/masks.h"
#include "agent/memory.h"
#include "agent/redirect.h"
#include "agent/signals.h"
#include "agent/start.h"
#include "agent/threads.h"

/* For other threads to come back from our handler, where they do nothing any more. */
#define LEAVE_NS 1000000

#define SHOW_POLL_NS 2000000
#define SHOW_TIMEOUT_NS 30000000000ull

/* The run begins with the session, not when the collector was made ready for it. */
static void note_start(uint64_t start_ns)
{
	struct control *control = g_agent.control;
	control->start_epoch_s += 1e-9 * (double)(start_ns - control->start_ns);
	control->start_ns = start_ns;
}

static bool wants_memory(void)
{
	return memory_start != NULL && g_agent.control->is_cpu_only == 0;
}

/* Memory where it is wanted and possible, and new threads.  What is missing is said in the
 * ring. */
static const char *hook(struct ring *ring)
{
	bool has_memory = wants_memory();
	if (has_memory && memory_start() != 0)
		return "no memory for the table of allocations";
	if (redirect_start(has_memory) != 0)
		return "its own library is not found";
	const char *why = has_memory ? memory_join() : NULL;
	if (why != NULL) {
		redirect_stop();
		redirect_start(false);
		snprintf(ring->reason, sizeof(ring->reason), "%s", why);
	}
	return NULL;
}

static void unhook(void)
{
	if (memory_leave != NULL)
		memory_leave();
	redirect_stop();
}

static const char *begin(const struct session_request *request)
{
	struct ring *ring;
	const char *why = start_prepare(request->folder, &ring);
	if (ring == NULL)
		return why;
	g_agent.is_loaded = true;
	note_start(ring->start_ns);
	atomic_fetch_add(&g_agent.session, 1);
	if (why == NULL)
		why = start_sampling();
	if (why == NULL && (why = hook(ring)) != NULL)
		signals_stop();
	if (why == NULL && threads_start_all(request->idents, request->ident_count) != 0) {
		unhook();
		threads_stop_all();
		signals_stop();
		why = "no CPU timer can be made (see ulimit -i)";
	}
	if (why == NULL)
		g_agent.is_active = true;
	start_publish(ring, why);
	if (why == NULL) {
		threads_start_all(request->idents, request->ident_count); /* those that began since */
		gpu_join();
	}
	return why;
}

int heatline_agent_start(const struct session_request *request, char *why, size_t size)
{
	int saved = errno;
	const char *reason = NULL;
	if (g_agent.is_active && !g_agent.is_loaded)
		reason = "it is profiled already";
	else if (forbidden_is_deadly())
		reason = "it has forbidden itself system calls (seccomp) that heatline needs";
	/* In a forked child: what is there is the parent's session. */
	if (g_agent.is_active && g_agent.is_loaded)
		heatline_agent_stop();
	if (reason == NULL)
		reason = begin(request);
	if (reason != NULL)
		snprintf(why, size, "%s", reason);
	errno = saved;
	return reason == NULL ? 0 : -1;
}

void heatline_agent_stop(void)
{
	if (!g_agent.is_active || !g_agent.is_loaded)
		return;
	int saved = errno;
	gpu_leave();
	unhook();
	g_agent.is_active = false;
	threads_stop_all();
	signals_stop();
	start_leave_ring();
	errno = saved;
}

/* A preloaded agent's: Python's allocators may be in use, so the hooks stay, and pass on. */
void session_leave(const char *why)
{
	const struct timespec pause = {0, LEAVE_NS};
	if (!g_agent.is_active || g_agent.is_loaded)
		return;
	int cancel = agent_keep_cancel();
	gpu_stop(why);
	if (memory_end != NULL)
		memory_end();
	snprintf(g_agent.ring->reason, sizeof(g_agent.ring->reason), "%s", why);
	g_agent.is_active = false;
	threads_stop_all();
	signals_stop();
	masks_stop();
	start_leave_ring();
	nanosleep(&pause, NULL);
	agent_let_cancel(cancel);
}

int heatline_agent_state(void)
{
	if (!g_agent.is_active)
		return AGENT_OUT;
	if (agent_is_off())
		return AGENT_OFF;
	return AGENT_ON;
}

void heatline_agent_switch(int is_on)
{
	if (g_agent.is_active)
		atomic_store(&g_agent.control->is_off, is_on == 0);
}

void heatline_agent_mark(const char *text, size_t size)
{
	if (g_agent.is_active && g_agent.ring->pid == getpid())
		start_push_mark(text, size);
}

/* The collector of a session is gone; that of a run is replaced (front.h). */
static bool is_alone(void)
{
	return g_agent.is_loaded && kill(atomic_load(&g_agent.control->collector_pid), 0) != 0;
}

int heatline_agent_show(char *path, size_t size)
{
	struct control *control = g_agent.control;
	if (!g_agent.is_active)
		return -1;
	uint32_t ticket = atomic_fetch_add(&control->shows_wanted, 1) + 1;
	uint64_t deadline_ns = now_wall_ns() + SHOW_TIMEOUT_NS;
	while ((int32_t)(atomic_load(&control->shows_done) - ticket) < 0) {
		const struct timespec pause = {0, SHOW_POLL_NS};
		if (now_wall_ns() > deadline_ns || is_alone())
			return -1;
		nanosleep(&pause, NULL);
	}
	snprintf(path, size, "%s/" CONTROL_SHOW_FILE, start_folder());
	return 0;
}
