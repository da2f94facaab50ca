/* images.h - what lies where in a process's address space.
 *
 * Reads /proc/PID/maps, again when a program counter is met that it does not
 * know.  Only executable ranges are kept. */
#ifndef HEATLINE_COLLECT_IMAGES_H
#define HEATLINE_COLLECT_IMAGES_H

#include <stdint.h>
#include <sys/types.h>

struct evaluator;

enum image_kind {
	IMAGE_UNKNOWN,     /* not in the table, or the process is gone */
	IMAGE_INTERPRETER, /* holds the evaluation loop */
	IMAGE_SUPPORT,     /* the C library and its kin, which everybody calls */
	IMAGE_EXTENSION,   /* any other file */
	IMAGE_GENERATED,   /* no file: code made at run time */
};

struct image_range {
	uint64_t start, end;
	uint64_t offset; /* in its file */
	enum image_kind kind;
};

struct images {
	struct image_range *ranges; /* owned; sorted by start */
	uint32_t count, room;
	uint64_t interpreter; /* an address inside the interpreter's code */
	char *interpreter_path; /* owned; its file; NULL: not met yet */
	const struct evaluator *evaluator; /* borrowed; of that file; NULL: not asked for yet */
	uint32_t open_samples; /* of instructions that may be long, until it is asked for */
	uint64_t next_read_ns; /* not before; a hostile program could make it read all day */
};

void images_init(struct images *images, uint64_t interpreter);
void images_fini(struct images *images);

/* What the address belongs to; reads the process's map when it must. */
enum image_kind images_find(struct images *images, pid_t pid, uint64_t address, uint64_t now_ns);

/* Where in its file lies the code at an address that images_find() knows; UINT64_MAX for others. */
uint64_t images_offset(const struct images *images, uint64_t address);

#endif
