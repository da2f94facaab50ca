/* foreign.c - a stand-in for a profiler inside the program, as torch.profiler.
 * TEST DOUBLE: see double.h.  Linked with CUPTI's; counts the kernels that it is
 * told of. */
#include <string.h>

#include "double.h"

#define KERNEL_BYTES 208

int cuptiSubscribe(void **handle, void *callback, void *data);
int cuptiActivityRegisterCallbacks(void *request, void *complete);
int cuptiActivityEnable(int kind);
int cuptiActivityFlushAll(uint32_t flag);

static uint8_t buffer[1 << 16];
static int seen;

static void on_request(uint8_t **block, size_t *size, size_t *most)
{
	*block = buffer;
	*size = sizeof(buffer);
	*most = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *block, size_t size, size_t used)
{
	(void)context;
	(void)stream;
	(void)block;
	(void)size;
	seen += (int)(used / KERNEL_BYTES);
}

static void on_call(void)
{
}

/* CUPTI's answer to the beginning: 0, or why not. */
int foreign_begin(void);
int foreign_begin(void)
{
	void *handle, *functions[3];
	void (*call)(void) = on_call;
	void (*request)(uint8_t **, size_t *, size_t *) = on_request;
	void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t) = on_complete;
	memcpy(&functions[0], &call, sizeof(call));
	memcpy(&functions[1], &request, sizeof(request));
	memcpy(&functions[2], &complete, sizeof(complete));
	int result = cuptiSubscribe(&handle, functions[0], NULL);
	if (result == 0)
		result = cuptiActivityRegisterCallbacks(functions[1], functions[2]);
	return result != 0 ? result : cuptiActivityEnable(WORK_KERNEL);
}

/* How many kernels it was told of. */
int foreign_end(void);
int foreign_end(void)
{
	cuptiActivityFlushAll(1);
	return seen;
}
