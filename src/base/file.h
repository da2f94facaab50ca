/* file.h - whole files: read with a maximum, write so that the old one
 * survives any failure.
 *
 * Writing goes to a new file beside the wanted one, which takes its place
 * only once everything is in it.  A reader never sees half a file, and when
 * the disk is full the old file is still there.  Links are followed, also
 * to what is not there yet, and what is no regular file (a terminal, a pipe) is written to
 * directly. */
#ifndef HEATLINE_BASE_FILE_H
#define HEATLINE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

/* Reads all of path into *data (the caller frees; a zero byte follows that
 * *size does not count).  Refuses folders and files over maximum bytes.  Never waits: a
 * pipe that nobody writes to is empty, one whose writer has yet to write cannot be read.
 * On error *data and *size are untouched. */
int file_read(const char *path, size_t maximum, char **data, size_t *size, struct err *err);

/* The same for what the user has named, which may be the end of a pipe: its writer is
 * waited for as long as it is not silent for patience_ms. */
int file_read_within(const char *path, size_t maximum, int patience_ms, char **data, size_t *size,
		     struct err *err);

#define FILE_PATIENCE_MS 60000

/* The first bytes of a regular file, room at most.  Returns how many; 0 where there is
 * none, or none that may be read. */
size_t file_begin(const char *path, char *bytes, size_t room);

/* Whether both names lead to one file that is there. */
bool file_is_same(const char *path, const char *other);

struct file_writer {
	FILE *stream; /* write here; closed by commit and abandon */
	char *room;   /* owned; the stream's */
	char *path;   /* owned; where it will be */
	char *temporary; /* owned; where it is now; NULL when written directly */
};

int file_writer_open(struct file_writer *writer, const char *path, struct err *err);

/* Puts the new file in place.  On failure the old one is as it was, and the
 * new one is gone. */
int file_writer_commit(struct file_writer *writer, struct err *err);

/* Forgets what was written. */
void file_writer_abandon(struct file_writer *writer);

/* The three steps in one. */
int file_write(const char *path, const void *data, size_t size, struct err *err);

/* Whether a file could be written at path, found out before hours of work:
 * the folder exists and permits it, and path is no folder.  Makes nothing
 * that stays. */
int file_check_writable(const char *path, struct err *err);

#endif
