/* procfs.h - small files of /proc, read whole. */
#ifndef HEATLINE_REMOTE_PROCFS_H
#define HEATLINE_REMOTE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads /proc/PID/name (name may lead on: "task/12/stat") into text, which is
 * then terminated; what does not fit is cut.  Returns the bytes, or -errno. */
ssize_t procfs_read(pid_t pid, const char *name, char *text, size_t size);

/* Where the link /proc/PID/name leads, terminated; false when it cannot be
 * read or does not fit. */
bool procfs_link(pid_t pid, const char *name, char *text, size_t size);

/* The number after "Key:" in the text of a status file, in this base; `which`
 * counts from 0 where the line has several, -1: the last.  False: none. */
bool procfs_number(const char *status, const char *key, int which, int base, uint64_t *number);

/* When the process was started, in the kernel's ticks; tells it from another
 * that has got its number.  0 when it is gone. */
uint64_t procfs_start_time(pid_t pid);

/* The threads of a process: each call gives the next id, or 0 at the end.
 * `dir` begins as NULL and is the call's own. */
pid_t procfs_next_task(pid_t pid, void **dir);

#endif
