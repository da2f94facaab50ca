/* helped.c - waiting for threads that compute is no waiting.
 *
 * Libraries with a pool of threads (polars, duckdb, pyarrow) give it the work and put
 * the main thread to sleep on a lock until it is done.  What the pool computes is booked
 * to the main thread's line (samples.c).  If its sleep counted as well the same second
 * would count twice, and a line that keeps every CPU busy would be one that waits.  So of
 * what the main thread waits for a lock, as much as such threads have computed meanwhile
 * does not count; where several computed at once, the whole of it.
 *
 * A sleep, a socket, a queue are waited for whoever computes meanwhile. */
#include "collect/helped.h"

#include "collect/collector.h"
#include "collect/stacks.h"

#define LATE_NS 10000000u /* a thread tells what it has computed with its next sample */

void helped_note(struct process *process, uint64_t cpu_ns)
{
	process->helped_ns += cpu_ns;
}

void helped_limit(struct process *process, const struct thread *thread)
{
	if (process->helped_ns > thread->pending_off_ns + LATE_NS)
		process->helped_ns = thread->pending_off_ns + LATE_NS;
}

void helped_settle(struct collector *collector, struct process *process, struct thread *thread,
		   uint32_t node, uint64_t end_ns)
{
	if (!thread->counts_waiting || thread->is_at_gil || thread->wait_kind != WAIT_LOCK)
		return;
	uint64_t ns = process->helped_ns < thread->pending_off_ns ? process->helped_ns
								  : thread->pending_off_ns;
	if (ns == 0)
		return;
	process->helped_ns -= ns;
	thread->pending_off_ns -= ns;
	thread->off_ns += ns;
	thread->unasked_ns += ns;
	stacks_note_helped(collector, thread, node, end_ns, ns);
	journal_time(collector, process, thread, JOURNAL_PAUSED, TREE_ROOT, end_ns, ns);
}
