/* cupti.c - a stand-in for libcupti.so.  TEST DOUBLE: see double.h.
 *
 *	DOUBLE_SUBSCRIBE=39  what cuptiSubscribe answers
 *	DOUBLE_ENABLE=35     what cuptiActivityEnable answers
 *	DOUBLE_VERSION=10    the version that it says it has
 *	DOUBLE_NONSENSE=1    records with another layout
 *	DOUBLE_BUFFERS=2     copies have a buffer of their own, which comes last
 * Built with -DWITHOUT_FLUSH_PERIOD it lacks a function. */
#include <pthread.h>
#include <string.h>

#include "double.h"

#define NAMES 8
#define TAKEN 39
#define KERNEL_BYTES 208
#define COPY_BYTES 96
#define SET_BYTES 88
#define MEMORY_BYTES 128

typedef void on_call(void *data, int domain, uint32_t id, const void *call);
typedef void on_request(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

struct call {
	int32_t site;
	const char *name;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_uid;
	uint64_t *own;
	uint32_t correlation;
};

static const char *const names[3][NAMES] = {
	[1] = {NULL, "cuLaunchKernel", "cuGraphLaunch", "cuMemcpyHtoDAsync_v2", "cuMemAlloc_v2",
	       "cuStreamSynchronize", "cuDeviceGetCount", NULL},
	[2] = {NULL, "cudaLaunchKernel_v7000", "cudaGetLastError_v3020", NULL},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static on_call *subscriber;
static uint8_t enabled[3][NAMES];
static uint8_t kinds[64];
static on_request *request;
static on_complete *complete;
static struct {
	uint8_t *at;
	size_t size, used;
} buffers[2];
static uint32_t correlations;
static __thread uint64_t own_words[8];
static __thread int depth;

const char *heatline_is_test_double(void);
const char *heatline_is_test_double(void)
{
	return "a stand-in for libcupti.so";
}

int cuptiGetVersion(uint32_t *version)
{
	*version = (uint32_t)setting("DOUBLE_VERSION", 130001);
	return 0;
}

int cuptiSubscribe(void **handle, on_call *callback, void *data)
{
	(void)data;
	int result = setting("DOUBLE_SUBSCRIBE", subscriber == NULL ? 0 : TAKEN);
	*handle = &subscriber;
	if (result == 0)
		subscriber = callback;
	return result;
}

int cuptiUnsubscribe(void *handle)
{
	(void)handle;
	subscriber = NULL;
	return 0;
}

int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t id)
{
	(void)handle;
	enabled[domain][id] = (uint8_t)enable;
	return 0;
}

int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
	if (domain < 1 || domain > 2 || id >= NAMES || names[domain][id] == NULL)
		return 1;
	*name = names[domain][id];
	return 0;
}

int cuptiActivityRegisterCallbacks(on_request *asks, on_complete *gives)
{
	request = asks;
	complete = gives;
	return 0;
}

int cuptiActivityEnable(int kind)
{
	kinds[kind] = 1;
	return setting("DOUBLE_ENABLE", 0);
}

int cuptiActivityDisable(int kind)
{
	kinds[kind] = 0;
	return 0;
}

int cuptiGetTimestamp(uint64_t *time)
{
	*time = now_ns();
	return 0;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == 999 ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OF_THE_DOUBLE";
	return 0;
}

/* --- buffers --- */

static void hand_over(int which)
{
	pthread_mutex_lock(&lock);
	uint8_t *full = buffers[which].at;
	size_t size = buffers[which].size, used = buffers[which].used;
	buffers[which].at = NULL;
	pthread_mutex_unlock(&lock);
	if (full != NULL)
		complete(NULL, 0, full, size, used);
}

int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	hand_over(0);
	hand_over(1);
	return 0;
}

#ifndef WITHOUT_FLUSH_PERIOD
/* As the real one: only full buffers come by themselves, and those come anyway. */
int cuptiActivityFlushPeriod(uint32_t milliseconds)
{
	(void)milliseconds;
	return 0;
}
#endif

static size_t size_of(uint32_t kind)
{
	return kind == WORK_KERNEL   ? KERNEL_BYTES
	       : kind == WORK_COPY   ? COPY_BYTES
	       : kind == WORK_MEMORY ? MEMORY_BYTES
				     : SET_BYTES;
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t used, void **record)
{
	uint8_t *at = *record;
	uint32_t kind;
	if (at == NULL) {
		*record = from;
		return used == 0 ? 12 : 0;
	}
	memcpy(&kind, at, sizeof(kind));
	at += size_of(kind);
	*record = at;
	return at >= from + used ? 12 : 0;
}

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* The offsets are those of the real records. */
static void fill(uint8_t *at, uint32_t correlation, const struct double_work *work)
{
	memset(at, 0, size_of(work->kind));
	put32(at, work->kind);
	if (work->kind == WORK_KERNEL) {
		put64(at + 16, work->start);
		put64(at + 24, work->end);
		put32(at + 40, work->device);
		put32(at + 92, correlation);
	} else if (work->kind == WORK_MEMORY) {
		put32(at + 4, work->detail);
		put32(at + 8, 3);
		put32(at + 12, correlation);
		put64(at + 24, work->bytes);
		put64(at + 32, work->start);
		put32(at + 52, work->device);
	} else {
		at[4] = (uint8_t)work->detail;
		put64(at + 8, work->bytes);
		put64(at + 16, work->start);
		put64(at + 24, work->end);
		put32(at + 32, work->device);
		put32(at + 44, correlation);
	}
	if (setting("DOUBLE_NONSENSE", 0))
		memset(at + 4, 0xa5, size_of(work->kind) - 4);
}

/* --- called by the driver's double --- */

static void tell(int site, int domain, const char *name, uint32_t correlation)
{
	for (uint32_t id = 1; id < NAMES && names[domain][id] != NULL; id++) {
		if (strcmp(names[domain][id], name) != 0 || !enabled[domain][id])
			continue;
		struct call call = {.site = site, .name = name, .own = &own_words[depth % 8],
				    .correlation = correlation};
		if (subscriber != NULL)
			subscriber(NULL, domain, id, &call);
	}
}

double_begin double_call_begin;
double_record double_call_record;
double_end double_call_end;

uint32_t double_call_begin(int domain, const char *name)
{
	uint32_t correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	depth++;
	own_words[depth % 8] = 0;
	tell(0, domain, name, correlation);
	return correlation;
}

void double_call_record(uint32_t correlation, const struct double_work *work)
{
	if (!kinds[work->kind] || request == NULL)
		return;
	int which = work->kind == WORK_COPY && setting("DOUBLE_BUFFERS", 1) == 2;
	pthread_mutex_lock(&lock);
	if (buffers[which].at != NULL && buffers[which].used + KERNEL_BYTES > buffers[which].size) {
		pthread_mutex_unlock(&lock);
		hand_over(which);
		pthread_mutex_lock(&lock);
	}
	if (buffers[which].at == NULL) {
		size_t most;
		request(&buffers[which].at, &buffers[which].size, &most);
		buffers[which].used = 0;
	}
	fill(buffers[which].at + buffers[which].used, correlation, work);
	buffers[which].used += size_of(work->kind);
	pthread_mutex_unlock(&lock);
}

void double_call_end(int domain, const char *name, uint32_t correlation)
{
	tell(1, domain, name, correlation);
	depth--;
}
