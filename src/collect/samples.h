/* samples.h - CPU samples are booked to stacks, with time that is told after them.
 *
 * A sample stands for CPU time, user and system.  Two kinds of a thread's time come later and go to
 * samples that are there: CPU time that was in none as the thread ended, and, of a main thread, time
 * ready to run, which the looks of watch.h find. */
#ifndef HEATLINE_COLLECT_SAMPLES_H
#define HEATLINE_COLLECT_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

struct collector;
struct process;
struct record_sample;
struct thread;

/* A CPU sample; false when the record makes no sense. */
bool samples_on_record(struct collector *collector, struct process *process,
		       const struct record_sample *sample);

/* A thread has ended, and its samples lack rest_ns of its CPU time: the last of them get it. */
void samples_book_rest(struct collector *collector, struct thread *thread, uint64_t end_ns,
		       uint64_t rest_ns);

/* Books what the main thread stood ready to run, as far as it is known, to its samples of that
 * time; is_end: there will be no others. */
void samples_book_delay(struct collector *collector, struct process *process,
			struct thread *thread, bool is_end);

#endif
