/* process_name.h - what multiprocessing calls a process: "ForkPoolWorker-2".
 *
 * A process that multiprocessing or billiard (Celery's) started keeps an object for
 * itself in their module, which has the name that was given to it, or made up. */
#ifndef HEATLINE_PYTHON_PROCESS_NAME_H
#define HEATLINE_PYTHON_PROCESS_NAME_H

#include "python/tasks.h"

/* Terminated, and cut between characters.  False when it has none (yet), as the main
 * process, or cannot be read.  Some 100 us for a few hundred modules. */
bool process_name_read(struct task_finder *finder, char text[TASK_NAME_BYTES]);

#endif
