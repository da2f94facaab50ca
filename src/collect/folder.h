/* folder.h - the run's folder in shared memory: control page and rings.
 *
 * Private to the user (mode 0700), in /dev/shm where that is to be had and has plenty of room,
 * for the program needs some of it, else in the folder for temporary files. */
#ifndef HEATLINE_COLLECT_FOLDER_H
#define HEATLINE_COLLECT_FOLDER_H

#include "base/err.h"
#include "wire/control.h"

#define FOLDER_PREFIX "heatline-"
#define FOLDER_PLACES 3u

/* Where such folders are made, the best place first; each place once.  The
 * texts are static or the environment's.  Returns how many. */
unsigned folder_places(const char *places[FOLDER_PLACES]);

/* Makes the folder with its control page.  Both are the caller's, to be given
 * to folder_remove.  The caller ignores SIGXFSZ, which a limit on files' sizes may send. */
int folder_new(char **folder, struct control **control, struct err *err);

/* Unmaps and removes everything in it. */
void folder_remove(char *folder, struct control *control);

/* The agent's path as LD_PRELOAD can take it: that list is split at blanks and
 * colons, so a path that has one gets a link in the folder.  The caller frees. */
char *folder_agent_path(const char *folder, const char *agent);

#endif
