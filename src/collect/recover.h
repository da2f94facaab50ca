/* recover.h - runs whose heatline was killed with everything.
 *
 * The run's folder has the journal of what was collected (journal.h), the rings
 * with what was sampled since, and the command line of the run.  A collector
 * that reads them makes the profile; when processes of the run still live it
 * goes on with them in the background.
 *
 * The caller reads the command line (recover_words), makes run_options of it as
 * "heatline run" does, and calls collect_recover. */
#ifndef HEATLINE_COLLECT_RECOVER_H
#define HEATLINE_COLLECT_RECOVER_H

#include "base/err.h"
#include "collect/run.h"
#include "collect/runs.h"

/* Notes the words and the current folder in the run's folder. */
void recover_note_words(const char *folder, char **words);

/* Reads them again.  *words is one block that the caller frees, a list ending
 * with NULL; *cwd is part of it. */
int recover_words(const struct run_entry *run, char ***words, const char **cwd, struct err *err);

/* Makes the run's profile; the folder is gone afterwards.  result->still_running
 * is not 0 when processes of it live: then the profile comes later.  Comes
 * back twice in that case: with role RUN_COLLECTOR in the process that goes on,
 * when everything is done. */
int collect_recover(const struct run_entry *run, const struct run_options *options,
		    struct run_result *result, struct err *err);

/* Removes what is left of it. */
void recover_discard(const struct run_entry *run);

/* Removes folders that are no run's any more: of other versions, or half
 * removed, with nobody in them. */
void recover_sweep(void);

#endif
