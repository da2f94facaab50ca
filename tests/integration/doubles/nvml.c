/* nvml.c - a stand-in for libnvidia-ml.so.1.  TEST DOUBLE: see double.h.
 *
 *	DOUBLE_DEVICES=0   how many GPUs there are (1)
 *	DOUBLE_INIT=9      what nvmlInit answers
 *	DOUBLE_BUSY=60     utilisation, in percent
 *	DOUBLE_USED_MB=300 memory in use */
#include <stdio.h>
#include <string.h>

#include "double.h"

const char *heatline_is_test_double(void);
const char *heatline_is_test_double(void)
{
	return "a stand-in for libnvidia-ml.so.1";
}

int nvmlInit_v2(void)
{
	return setting("DOUBLE_INIT", 0);
}

int nvmlShutdown(void)
{
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = (unsigned)setting("DOUBLE_DEVICES", 1);
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle)
{
	*handle = (void *)(uintptr_t)(index + 1);
	return 0;
}

int nvmlDeviceGetName(void *handle, char *name, unsigned size)
{
	snprintf(name, size, "Double GPU %d", (int)(uintptr_t)handle - 1);
	return 0;
}

int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *memory)
{
	(void)handle;
	memory[0] = 8ull << 30;
	memory[2] = (unsigned long long)setting("DOUBLE_USED_MB", 300) << 20;
	memory[1] = memory[0] - memory[2];
	return 0;
}

int nvmlDeviceGetUtilizationRates(void *handle, unsigned *rates)
{
	(void)handle;
	rates[0] = (unsigned)setting("DOUBLE_BUSY", 60);
	rates[1] = 0;
	return 0;
}
