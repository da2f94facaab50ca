/* nvml.c - see nvml.h. */
#include "collect/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/mem.h"

#define LIBRARY "libnvidia-ml.so.1"
#define DONE 0
#define PROCESSES_MAX 256u
#define DEVICES_MAX 64u

/* Layouts of the library's interface. */
struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_utilisation {
	unsigned gpu, memory; /* percent */
};

struct nvml_process {
	unsigned pid;
	unsigned long long used_bytes; /* all ones: not known */
	unsigned instance[2];
};

struct nvml_bus {
	char legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char text[32];
};

#define NVML_FUNCTIONS(X)                                                                          \
	X(nvmlInit_v2, (void))                                                                     \
	X(nvmlShutdown, (void))                                                                    \
	X(nvmlDeviceGetCount_v2, (unsigned *))                                                     \
	X(nvmlDeviceGetHandleByIndex_v2, (unsigned, void **))                                      \
	X(nvmlDeviceGetName, (void *, char *, unsigned))                                           \
	X(nvmlDeviceGetMemoryInfo, (void *, struct nvml_memory *))                                 \
	X(nvmlDeviceGetUtilizationRates, (void *, struct nvml_utilisation *))

/* Not in every version. */
#define NVML_EXTRAS(X)                                                                             \
	X(nvmlDeviceGetPciInfo_v3, (void *, struct nvml_bus *))                                    \
	X(nvmlDeviceGetComputeRunningProcesses_v3, (void *, unsigned *, struct nvml_process *))

struct nvml {
	void *library;
	void *devices[DEVICES_MAX];
	uint32_t count;
#define X(name, parameters) int(*name) parameters;
	NVML_FUNCTIONS(X)
	NVML_EXTRAS(X)
#undef X
};

static const struct library_function functions[] = {
#define X(name, parameters) {#name, offsetof(struct nvml, name), false},
	NVML_FUNCTIONS(X)
#undef X
#define X(name, parameters) {#name, offsetof(struct nvml, name), true},
	NVML_EXTRAS(X)
#undef X
};

static void find_devices(struct nvml *nvml)
{
	unsigned count = 0;
	if (nvml->nvmlDeviceGetCount_v2(&count) != DONE)
		return;
	for (unsigned i = 0; i < count && nvml->count < DEVICES_MAX; i++) {
		if (nvml->nvmlDeviceGetHandleByIndex_v2(i, &nvml->devices[nvml->count]) == DONE)
			nvml->count++;
	}
}

struct nvml *nvml_open(struct err *err)
{
	struct nvml *nvml = mem_zalloc(1, sizeof(*nvml));
	const char *missing;
	int result = DONE;
	nvml->library = library_open(LIBRARY, functions, sizeof(functions) / sizeof(functions[0]), nvml,
				     &missing);
	if (nvml->library == NULL) {
		err_set(err, ERR_USAGE, "no NVIDIA GPU can be measured: the driver's " LIBRARY " is %s",
			missing != NULL ? "too old" : "not there");
	} else if ((result = nvml->nvmlInit_v2()) != DONE) {
		err_set(err, ERR_USAGE, "no NVIDIA GPU can be measured: the driver answers with error %d",
			result);
	} else {
		find_devices(nvml);
		if (nvml->count > 0)
			return nvml;
		nvml->nvmlShutdown();
		err_set(err, ERR_USAGE, "no NVIDIA GPU can be measured: there is none");
	}
	if (nvml->library != NULL)
		dlclose(nvml->library);
	free(nvml);
	return NULL;
}

void nvml_close(struct nvml *nvml)
{
	if (nvml == NULL)
		return;
	nvml->nvmlShutdown();
	dlclose(nvml->library);
	free(nvml);
}

uint32_t nvml_count(const struct nvml *nvml)
{
	return nvml->count;
}

/* "00000000:1B:00.0" in this library is "0000:1b:00.0" elsewhere. */
static void copy_bus(char bus[16], const char *text, size_t size)
{
	size_t length = strnlen(text, size);
	const char *from = length > 12 ? text + (length - 12) : text;
	size_t i = 0;
	for (; from + i < text + length && i < 15; i++) {
		char c = from[i];
		bus[i] = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
	}
	bus[i] = '\0';
}

void nvml_describe(const struct nvml *nvml, uint32_t device, char name[96], char bus[16],
		   double *memory_bytes)
{
	struct nvml_memory memory = {0};
	struct nvml_bus where = {.text = ""};
	void *handle = nvml->devices[device];
	memset(name, 0, 96);
	bus[0] = '\0';
	if (nvml->nvmlDeviceGetName(handle, name, 96) != DONE)
		name[0] = '\0';
	name[95] = '\0';
	if (nvml->nvmlDeviceGetPciInfo_v3 != NULL &&
	    nvml->nvmlDeviceGetPciInfo_v3(handle, &where) == DONE)
		copy_bus(bus, where.text, sizeof(where.text));
	nvml->nvmlDeviceGetMemoryInfo(handle, &memory);
	*memory_bytes = (double)memory.total;
}

bool nvml_sample(const struct nvml *nvml, uint32_t device, double *busy, double *used_bytes)
{
	struct nvml_utilisation lately = {0, 0};
	struct nvml_memory memory = {0};
	void *handle = nvml->devices[device];
	if (nvml->nvmlDeviceGetUtilizationRates(handle, &lately) != DONE ||
	    nvml->nvmlDeviceGetMemoryInfo(handle, &memory) != DONE)
		return false;
	*busy = lately.gpu < 100 ? lately.gpu / 100.0 : 1;
	*used_bytes = (double)memory.used;
	return true;
}

bool nvml_process_memory(const struct nvml *nvml, uint32_t device, pid_t pid, double *bytes)
{
	struct nvml_process processes[PROCESSES_MAX];
	unsigned count = PROCESSES_MAX;
	if (nvml->nvmlDeviceGetComputeRunningProcesses_v3 == NULL ||
	    nvml->nvmlDeviceGetComputeRunningProcesses_v3(nvml->devices[device], &count,
							  processes) != DONE)
		return false;
	for (unsigned i = 0; i < count && i < PROCESSES_MAX; i++) {
		if (processes[i].pid != (unsigned)pid || processes[i].used_bytes == ~0ull)
			continue;
		*bytes = (double)processes[i].used_bytes;
		return true;
	}
	return false;
}
