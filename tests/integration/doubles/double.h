/* double.h - what the stand-ins for NVIDIA's libraries share.
 *
 * TEST DOUBLES.  Nothing here talks to a GPU: work is a number of microseconds
 * that is written into records.  They do what the real libraries do towards
 * Heatline (who calls whom, in which order, with which layout), and fail when
 * the environment says so. */
#ifndef HEATLINE_DOUBLE_H
#define HEATLINE_DOUBLE_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* The clock of the doubles is not that of the system, as the real one's. */
#define CLOCK_SHIFT_NS 7777000000000ull

static inline uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + CLOCK_SHIFT_NS;
}

static inline int setting(const char *name, int otherwise)
{
	const char *text = getenv(name);
	return text == NULL ? otherwise : atoi(text);
}

enum double_kind { WORK_KERNEL = 10, WORK_COPY = 1, WORK_SET = 2, WORK_MEMORY = 49 };

/* One piece of work, from the driver to CUPTI. */
struct double_work {
	enum double_kind kind;
	uint32_t device;
	uint32_t detail; /* of copies: 1 to the device, 2 from it; of memory: 1 taken, 2 given */
	uint64_t bytes;
	uint64_t start, end;
};

/* What the driver's double finds in CUPTI's: a call begins (returns its
 * correlation), it has made work, it ends. */
typedef uint32_t double_begin(int domain, const char *name);
typedef void double_record(uint32_t correlation, const struct double_work *work);
typedef void double_end(int domain, const char *name, uint32_t correlation);

#endif
