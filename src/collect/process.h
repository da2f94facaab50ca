/* process.h - the processes of a run: finding their rings, draining them, their ends; and the code
 * objects that they run (process_codes.c). */
#ifndef HEATLINE_COLLECT_PROCESS_H
#define HEATLINE_COLLECT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "python/reader.h"

struct code_info;
struct collector;
struct mem_reader;
struct process;
struct process_facts;
struct record;
struct record_code;
struct ring;
struct walker;

/* Something has happened for which more rounds are needed (pace.h). */
void processes_note_astir(struct collector *collector);

/* Looks for rings of processes that have started since the last time. */
void processes_discover(struct collector *collector);

/* Takes everything out of all rings; notices processes that have ended. */
void processes_drain(struct collector *collector);

/* Notices ended processes that the kernel still has a number for: their own
 * one, or somebody else's. */
void processes_look_at_lives(struct collector *collector);

/* What the journal of an earlier collector tells: a process (with its ring, if
 * that is still there), a record that was taken out of its ring at position
 * (is_from_look: a code object that was read from outside), the end of a
 * process.  processes_go_on: that was all, the rings are next. */
void processes_add_again(struct collector *collector, const char *path,
			 const struct process_facts *facts, const char *command, const char *cwd);
void processes_take_again(struct collector *collector, struct process *process,
			  const struct record *record, uint64_t position, bool is_from_look);
void processes_end_again(struct collector *collector, struct process *process);
void processes_go_on(struct collector *collector);

/* Whether it is the process behind the reader that has made the ring, and it has not started another
 * program since. */
bool processes_have_made(const struct mem_reader *reader, const struct ring *ring);

/* --- process_codes.c --- */

/* Reads a code object of a process, however large it is.  What *info leads to is valid until
 * the next call. */
bool processes_read_code(struct collector *collector, const struct walker *walker, py_addr address,
			 struct code_info *info);

/* A code object met from outside or in a ring; relative file names are
 * those of the process's folder.  Gives its index in collector->codes. */
uint32_t processes_add_code(struct collector *collector, struct process *process,
			    const struct code_info *info);

/* The code object of a record, 0 when that makes no sense; and the same under the
 * id that the process's samples have for it. */
uint32_t processes_take_code(struct collector *collector, struct process *process,
			     const struct record_code *record);
bool processes_on_code(struct collector *collector, struct process *process,
		       const struct record_code *record);

#endif
