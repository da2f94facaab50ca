/* procfs.h - small files of /proc, read whole. */
#ifndef HEATLINE_BASE_PROCFS_H
#define HEATLINE_BASE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads /proc/PID/name (name may lead on: "task/12/stat") into text, which is
 * then terminated; what does not fit is cut.  Returns the bytes, or -errno. */
ssize_t procfs_read(pid_t pid, const char *name, char *text, size_t size);

/* The process's command line, its words with a space between, cut to the room; false
 * when it has none, or cannot be asked. */
bool procfs_command(pid_t pid, char *text, size_t size);

/* Words, each with a zero behind it, become one text with a space between them. */
void procfs_join_words(char *words, size_t size);

/* What the kernel says of a thread's turns on the CPU. */
struct procfs_schedule {
	unsigned long long ran_ns;
	unsigned long long ready_ns; /* waiting for a CPU; of a turn it is told when that begins */
	unsigned long long turns;    /* given a CPU so often */
};

/* Reads it from an open schedstat file; false when the thread has gone, or the
 * kernel does not tell. */
bool procfs_read_schedule(int fd, struct procfs_schedule *schedule);

/* Where the link /proc/PID/name leads, terminated; false when it cannot be
 * read or does not fit. */
bool procfs_link(pid_t pid, const char *name, char *text, size_t size);

/* The number after "Key:" in the text of a status file, in this base; `which`
 * counts from 0 where the line has several, -1: the last.  False: none. */
bool procfs_number(const char *status, const char *key, int which, int base, uint64_t *number);

/* A line of /proc/PID/maps. */
struct procfs_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	bool is_executable;
	const char *name; /* within the line; "": none */
};

/* Takes a line apart, and cuts it where its name ends; false when it is none. */
bool procfs_parse_mapping(char *line, struct procfs_mapping *mapping);

struct procfs_stat {
	char state;        /* 'R', 'S', 'T', 'Z' … */
	pid_t parent_pid;
	uint64_t start;    /* when it began, in the kernel's ticks since boot; tells it from
			      another that has got its number */
};

/* False when there is no such process. */
bool procfs_stat(pid_t pid, struct procfs_stat *stat);

/* When it began, or 0. */
uint64_t procfs_start(pid_t pid);

/* Whether the very process that began then still runs: another one with its
 * number does not count, nor one that has ended and was not waited for.
 * start 0: not known, any will do. */
bool procfs_is_alive(pid_t pid, uint64_t start);

/* The threads of a process: each call gives the next id, or 0 at the end.
 * `dir` begins as NULL and is the call's own. */
pid_t procfs_next_task(pid_t pid, void **dir);

#endif
