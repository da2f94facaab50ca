/* cupti.h - what we use of CUPTI, the measuring interface of NVIDIA's driver.
 *
 * Declared here by names and numbers, since the library is opened at run time
 * and its headers are not there when this is built.  Of each record we read a
 * few fields at the beginning, which lie at the same place in every version of
 * the record from CUDA 11 (API version 14) to CUDA 13 (compared with the
 * headers of 12.8 and 13.4: kernel records 4 to 13, copies 1 to 7,
 * sets 4 and 5, memory 2 to 4).  What a newer version delivers is tried, and
 * gpu_records.c switches itself off when it makes no sense. */
#ifndef HEATLINE_AGENT_CUPTI_H
#define HEATLINE_AGENT_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_OLDEST_VERSION 14u

/* Results of every function; others have only a text. */
#define CUPTI_DONE 0
#define CUPTI_OLD_DRIVER 14      /* NOT_COMPATIBLE */
#define CUPTI_NOT_THERE 15       /* NOT_INITIALIZED */
#define CUPTI_NOT_PERMITTED 35   /* INSUFFICIENT_PRIVILEGES */
#define CUPTI_TAKEN 39           /* MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */

/* Kinds of activity records. */
enum cupti_kind {
	CUPTI_COPY = 1,
	CUPTI_SET = 2,
	CUPTI_KERNEL = 10,    /* CONCURRENT_KERNEL: kernels keep running side by side */
	CUPTI_PEER_COPY = 22, /* from device to device */
	CUPTI_MEMORY = 49,    /* MEMORY2: memory taken or given back */
};

#define CUPTI_COPY_TO_DEVICE 1
#define CUPTI_COPY_FROM_DEVICE 2
#define CUPTI_COPY_TO_ARRAY 3
#define CUPTI_COPY_FROM_ARRAY 4

#define CUPTI_MEMORY_TAKEN 1
#define CUPTI_MEMORY_GIVEN 2
#define CUPTI_MEMORY_DEVICE 3
#define CUPTI_MEMORY_MANAGED 5

/* Times are on cuptiGetTimestamp's clock, in nanoseconds. */
struct cupti_kernel {
	uint32_t kind;
	uint32_t settings[3];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t shared[2];
	uint32_t local[2];
	uint32_t correlation;
};
_Static_assert(offsetof(struct cupti_kernel, start) == 16, "as in CUPTI");
_Static_assert(offsetof(struct cupti_kernel, device) == 40, "as in CUPTI");
_Static_assert(offsetof(struct cupti_kernel, correlation) == 92, "as in CUPTI");

/* Copies and sets alike. */
struct cupti_copy {
	uint32_t kind;
	uint8_t direction; /* CUPTI_COPY_...; of sets: the value */
	uint8_t rest[3];
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation; /* of peer copies: the source's device */
	uint32_t peer[3];
	uint32_t peer_correlation;
};
_Static_assert(offsetof(struct cupti_copy, correlation) == 44, "as in CUPTI");
_Static_assert(offsetof(struct cupti_copy, peer_correlation) == 60, "as in CUPTI");

struct cupti_memory {
	uint32_t kind;
	uint32_t operation;   /* CUPTI_MEMORY_TAKEN, _GIVEN */
	uint32_t memory_kind; /* CUPTI_MEMORY_DEVICE, ... */
	uint32_t correlation;
	uint64_t address, bytes, time;
	uint64_t program_counter;
	uint32_t process, device;
};
_Static_assert(offsetof(struct cupti_memory, device) == 52, "as in CUPTI");

enum cupti_domain {
	CUPTI_DRIVER = 1,
	CUPTI_RUNTIME = 2,
	CUPTI_DOMAINS
};

#define CUPTI_ENTER 0

/* What a callback is told. */
struct cupti_call {
	int32_t site; /* CUPTI_ENTER, or leaving */
	const char *name;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_uid;
	uint64_t *own; /* ours from enter to exit; begins as 0 */
	uint32_t correlation;
};
_Static_assert(offsetof(struct cupti_call, own) == 56, "as in CUPTI");
_Static_assert(offsetof(struct cupti_call, correlation) == 64, "as in CUPTI");

typedef void cupti_on_call(void *data, int domain, uint32_t id, const struct cupti_call *call);
typedef void cupti_on_request(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid_size);

/* Every function that is looked up: name, parameters. */
#define CUPTI_FUNCTIONS(X)                                                                         \
	X(cuptiGetVersion, (uint32_t * version))                                                   \
	X(cuptiSubscribe, (void **subscriber, cupti_on_call *callback, void *data))                \
	X(cuptiUnsubscribe, (void *subscriber))                                                    \
	X(cuptiEnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t id))       \
	X(cuptiGetCallbackName, (int domain, uint32_t id, const char **name))                      \
	X(cuptiActivityRegisterCallbacks, (cupti_on_request *, cupti_on_complete *))               \
	X(cuptiActivityEnable, (int kind))                                                         \
	X(cuptiActivityDisable, (int kind))                                                        \
	X(cuptiActivityFlushAll, (uint32_t flag))                                                  \
	X(cuptiActivityFlushPeriod, (uint32_t milliseconds))                                       \
	X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid_size, void **record))        \
	X(cuptiGetTimestamp, (uint64_t * time))                                                    \
	X(cuptiGetResultString, (int result, const char **text))

struct cupti {
#define X(name, parameters) int(*name) parameters;
	CUPTI_FUNCTIONS(X)
#undef X
};

#endif
