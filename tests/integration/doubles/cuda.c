/* cuda.c - a stand-in for libcuda.so.1.  TEST DOUBLE: see double.h.
 *
 * cuInit loads what CUDA_INJECTION64_PATH names, as the real one does.  The
 * functions that programs of the tests call have simple parameters. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "double.h"

#define DEVICES 8

static uint64_t busy_until[DEVICES];
static double_begin *begin;
static double_record *record;
static double_end *end;
static int is_initialised;

const char *heatline_is_test_double(void);
const char *heatline_is_test_double(void)
{
	return "a stand-in for libcuda.so.1";
}

static void find_cupti(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
	for (int i = 0; i < 2 && begin == NULL; i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
		if (library == NULL)
			continue;
		*(void **)&begin = dlsym(library, "double_call_begin");
		*(void **)&record = dlsym(library, "double_call_record");
		*(void **)&end = dlsym(library, "double_call_end");
	}
}

int cuInit(unsigned flags)
{
	(void)flags;
	const char *path = getenv("CUDA_INJECTION64_PATH");
	if (is_initialised)
		return 0;
	is_initialised = 1;
	void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW);
	int (*inject)(void) = NULL;
	if (library != NULL)
		*(void **)&inject = dlsym(library, "InitializeInjection");
	if (inject != NULL)
		inject();
	find_cupti();
	return 0;
}

int cuDriverGetVersion(int *version)
{
	*version = setting("DOUBLE_DRIVER", 13000);
	return 0;
}

int cuDeviceGetCount(int *count)
{
	*count = DEVICES;
	return is_initialised ? 0 : 3;
}

int cuDeviceGet(int *device, int number)
{
	*device = number;
	return 0;
}

int cuDeviceGetName(char *name, int size, int device)
{
	snprintf(name, (size_t)size, "Double GPU %d", device);
	return 0;
}

int cuDeviceGetPCIBusId(char *bus, int size, int device)
{
	snprintf(bus, (size_t)size, "0000:%02x:00.0", 16 + device);
	return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	*bytes = (size_t)(8 + device) << 30;
	return 0;
}

/* --- what programs of the tests call --- */

static void do_work(uint32_t correlation, struct double_work work, uint64_t us)
{
	uint64_t now = now_ns();
	uint64_t *until = &busy_until[work.device % DEVICES];
	work.start = *until > now ? *until : now;
	work.end = work.start + us * 1000;
	*until = work.end;
	if (record != NULL)
		record(correlation, &work);
}

/* Kernels of us microseconds each, as one call: several are a CUDA graph. */
void double_launch(int device, int us, int count);
void double_launch(int device, int us, int count)
{
	const char *name = count > 1 ? "cuGraphLaunch" : "cuLaunchKernel";
	find_cupti();
	uint32_t correlation = begin == NULL ? 0 : begin(1, name);
	for (int i = 0; i < count; i++)
		do_work(correlation, (struct double_work){.kind = WORK_KERNEL, .device = (uint32_t)device},
			(uint64_t)us);
	if (end != NULL)
		end(1, name, correlation);
}

/* The same through the runtime: its call contains the driver's. */
void double_runtime_launch(int device, int us);
void double_runtime_launch(int device, int us)
{
	uint32_t outer = begin == NULL ? 0 : begin(2, "cudaLaunchKernel_v7000");
	double_launch(device, us, 1);
	if (end != NULL)
		end(2, "cudaLaunchKernel_v7000", outer);
}

/* The same from a thread that never runs Python, for which the caller waits. */
struct engine {
	int device, us, count;
};

static void *run_engine(void *argument)
{
	const struct engine *engine = argument;
	for (int i = 0; i < engine->count; i++)
		double_launch(engine->device, engine->us, 1);
	return NULL;
}

void double_engine(int device, int us, int count);
void double_engine(int device, int us, int count)
{
	struct engine engine = {device, us, count};
	pthread_t thread;
	if (pthread_create(&thread, NULL, run_engine, &engine) == 0)
		pthread_join(thread, NULL);
}

void double_copy(int device, int us, long bytes, int direction);
void double_copy(int device, int us, long bytes, int direction)
{
	uint32_t correlation = begin == NULL ? 0 : begin(1, "cuMemcpyHtoDAsync_v2");
	do_work(correlation, (struct double_work){.kind = WORK_COPY, .device = (uint32_t)device,
						  .detail = (uint32_t)direction,
						  .bytes = (uint64_t)bytes},
		(uint64_t)us);
	if (end != NULL)
		end(1, "cuMemcpyHtoDAsync_v2", correlation);
}

void double_memory(int device, long bytes, int is_taken);
void double_memory(int device, long bytes, int is_taken)
{
	uint32_t correlation = begin == NULL ? 0 : begin(1, "cuMemAlloc_v2");
	struct double_work work = {.kind = WORK_MEMORY, .device = (uint32_t)device,
				   .detail = is_taken ? 1 : 2, .bytes = (uint64_t)bytes};
	do_work(correlation, work, 0);
	if (end != NULL)
		end(1, "cuMemAlloc_v2", correlation);
}

/* Waits until the device has done its work. */
void double_synchronise(int device);
void double_synchronise(int device)
{
	uint32_t correlation = begin == NULL ? 0 : begin(1, "cuStreamSynchronize");
	uint64_t until = busy_until[device % DEVICES], now = now_ns();
	if (until > now)
		usleep((useconds_t)((until - now) / 1000));
	if (end != NULL)
		end(1, "cuStreamSynchronize", correlation);
}
