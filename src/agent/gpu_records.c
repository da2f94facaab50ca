/* gpu_records.c - what the GPU did, from CUPTI's buffers to records.
 *
 * CUPTI fills buffers with activity records, some hundred bytes for each kernel
 * and copy, and gives a buffer back when it is full or some time has passed.
 * The ring could not take a record for each of them, so a buffer is summed up:
 * by site and device what was done, and by device when it worked.
 *
 * Kernels of several streams overlap: a device's busy time is the union of
 * all in a buffer.  It is sent as spans of some milliseconds with the busy time
 * within; buffers come in no order, and the collector adds them up. */
#include <sched.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/gpu.h"

/* CUPTI gives back what is full, so a small one comes sooner; 1 200 kernels. */
#define BUFFER_BYTES (1u << 18)
#define BUFFERS_FREE 32u /* kept for the next request */

#define WORKS 1024u      /* power of two: sites and devices of one buffer */
#define WORK_PROBES 8u
#define TIMES 16384u     /* pieces of work of one buffer */

#define SPAN_GAP_NS 500000u  /* idle for longer: another span */
#define SPAN_NS 10000000u    /* no span is longer, but for one kernel that is */

/* Records that make no sense, after which nothing more is believed. */
#define NONSENSE_MAX 16u
#define KERNEL_MAX_NS 86400000000000ull

struct piece {
	uint64_t start_ns, end_ns;
	uint32_t device;
};

/* A device: what is known of it, and the span that is being made. */
struct device {
	bool is_told;
	uint64_t memory_bytes; /* taken of it by this process */
	uint64_t memory_peak_bytes; /* since the last span */
	uint64_t busy_until_ns;
	uint64_t begin_ns, end_ns, busy_ns; /* busy 0: none */
};

/* One buffer at a time is summed up. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static struct device devices[GPU_DEVICES];
static struct record_gpu_work works[WORKS]; /* launches, copies and alloc all 0: free */
static struct piece pieces[TIMES];
static uint32_t piece_count;
static uint64_t clock_offset_ns; /* what CUPTI's clock is behind ours */
static uint32_t nonsense;

/* --- buffers --- */

static atomic_flag free_lock = ATOMIC_FLAG_INIT;
static uint8_t *free_buffers[BUFFERS_FREE];
static uint32_t free_count;

static void take_lock(atomic_flag *flag)
{
	while (atomic_flag_test_and_set_explicit(flag, memory_order_acquire))
		sched_yield();
}

static void leave_lock(atomic_flag *flag)
{
	atomic_flag_clear_explicit(flag, memory_order_release);
}

void gpu_records_on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	take_lock(&free_lock);
	uint8_t *block = free_count > 0 ? free_buffers[--free_count] : NULL;
	leave_lock(&free_lock);
	*buffer = block != NULL ? block : agent_map(BUFFER_BYTES);
	*size = *buffer == NULL ? 0 : BUFFER_BYTES;
	*max_records = 0; /* as many as fit */
}

static void give_back(uint8_t *buffer)
{
	take_lock(&free_lock);
	bool is_kept = free_count < BUFFERS_FREE;
	if (is_kept)
		free_buffers[free_count++] = buffer;
	leave_lock(&free_lock);
	if (!is_kept)
		syscall(SYS_munmap, buffer, (size_t)BUFFER_BYTES);
}

/* --- devices --- */

static void tell_device(uint32_t number)
{
	int (*get)(int *, int), (*get_name)(char *, int, int), (*get_bus)(char *, int, int);
	int (*get_memory)(size_t *, int);
	struct record_gpu_device told = {.device = number};
	size_t bytes = 0;
	int handle = 0;
	*(void **)&get = gpu_library_driver("cuDeviceGet");
	*(void **)&get_name = gpu_library_driver("cuDeviceGetName");
	*(void **)&get_bus = gpu_library_driver("cuDeviceGetPCIBusId");
	*(void **)&get_memory = gpu_library_driver("cuDeviceTotalMem_v2");
	if (get != NULL && get(&handle, (int)number) == 0) {
		if (get_name != NULL)
			get_name(told.name, (int)sizeof(told.name) - 1, handle);
		if (get_bus != NULL)
			get_bus(told.bus, (int)sizeof(told.bus) - 1, handle);
		if (get_memory != NULL && get_memory(&bytes, handle) == 0)
			told.memory_bytes = bytes;
	}
	struct record *record = ring_reserve(g_agent.ring, sizeof(told));
	if (record == NULL)
		return;
	told.time_ns = now_wall_ns();
	memcpy(record + 1, (char *)&told + sizeof(*record), sizeof(told) - sizeof(*record));
	ring_commit(record, sizeof(told), RECORD_GPU_DEVICE);
	devices[number].is_told = true;
}

/* --- sums by site --- */

static bool is_free(const struct record_gpu_work *work)
{
	return work->launches == 0 && work->copies == 0 && work->alloc_bytes == 0;
}

static void push_work(struct record_gpu_work *work, uint64_t now_ns)
{
	struct record *record = ring_reserve(g_agent.ring, sizeof(*work));
	if (record != NULL) {
		work->time_ns = now_ns;
		memcpy(record + 1, (char *)work + sizeof(*record), sizeof(*work) - sizeof(*record));
		ring_commit(record, sizeof(*work), RECORD_GPU_WORK);
	}
	memset(work, 0, sizeof(*work));
}

static struct record_gpu_work *work_of(uint32_t site, uint32_t device)
{
	uint32_t home = (site * 0x9e3779b1u ^ device * 0x85ebca6bu) >> 8;
	struct record_gpu_work *work = NULL;
	for (uint32_t i = 0; i < WORK_PROBES; i++) {
		work = &works[(home + i) & (WORKS - 1)];
		if (is_free(work) || (work->site == site && work->device == device))
			break;
	}
	if (!is_free(work) && (work->site != site || work->device != device))
		push_work(work, now_wall_ns());
	work->site = site;
	work->device = device;
	return work;
}

static void push_works(void)
{
	uint64_t now_ns = now_wall_ns();
	for (uint32_t i = 0; i < WORKS; i++) {
		if (!is_free(&works[i]))
			push_work(&works[i], now_ns);
	}
}

/* --- when a device worked --- */

static void push_span(uint32_t number)
{
	struct device *device = &devices[number];
	struct record *record = device->busy_ns == 0
					? NULL
					: ring_reserve(g_agent.ring, sizeof(struct record_gpu_span));
	if (record != NULL) {
		struct record_gpu_span *out = (struct record_gpu_span *)record;
		out->time_ns = device->begin_ns;
		out->end_ns = device->end_ns;
		out->busy_ns = device->busy_ns;
		out->memory_bytes = device->memory_bytes;
		out->memory_peak_bytes = device->memory_peak_bytes;
		device->memory_peak_bytes = device->memory_bytes;
		out->device = number;
		out->reserved = 0;
		ring_commit(record, sizeof(*out), RECORD_GPU_SPAN);
	}
	device->busy_ns = 0;
}

static void add_piece(const struct piece *piece)
{
	struct device *device = &devices[piece->device];
	uint64_t start_ns = piece->start_ns > device->busy_until_ns ? piece->start_ns
								    : device->busy_until_ns;
	if (piece->end_ns <= start_ns)
		return;
	device->busy_until_ns = piece->end_ns;
	if (device->busy_ns != 0 && (start_ns - device->end_ns > SPAN_GAP_NS ||
				     piece->end_ns - device->begin_ns > SPAN_NS))
		push_span(piece->device);
	if (device->busy_ns == 0)
		device->begin_ns = start_ns;
	device->end_ns = piece->end_ns;
	device->busy_ns += piece->end_ns - start_ns;
}

/* Shell's sort: they come nearly in order. */
static void sort_pieces(void)
{
	static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
	for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
		uint32_t gap = gaps[g];
		for (uint32_t i = gap; i < piece_count; i++) {
			struct piece moved = pieces[i];
			uint32_t to = i;
			for (; to >= gap && pieces[to - gap].start_ns > moved.start_ns; to -= gap)
				pieces[to] = pieces[to - gap];
			pieces[to] = moved;
		}
	}
}

static void push_spans(void)
{
	sort_pieces();
	for (uint32_t i = 0; i < piece_count; i++)
		add_piece(&pieces[i]);
	piece_count = 0;
	for (uint32_t i = 0; i < GPU_DEVICES; i++) {
		push_span(i);
		devices[i].busy_until_ns = 0;
	}
}

/* --- records --- */

/* Whether work can have been so; when too much cannot, nothing is believed. */
static bool is_sound(uint32_t device, uint64_t start, uint64_t end)
{
	if (device < GPU_DEVICES && start <= end && end - start < KERNEL_MAX_NS)
		return true;
	nonsense++;
	return false;
}

/* Work that was done, and what its site has to be told; NULL: nothing. */
static struct record_gpu_work *book(uint32_t device, uint32_t correlation, uint64_t start,
				    uint64_t end)
{
	uint32_t site;
	/* 0 and 0: CUPTI could not tell. */
	if (!is_sound(device, start, end) || end == 0 || !gpu_launch_find(correlation, &site))
		return NULL;
	if (!devices[device].is_told)
		tell_device(device);
	if (piece_count == TIMES)
		push_spans();
	pieces[piece_count++] = (struct piece){start + clock_offset_ns, end + clock_offset_ns, device};
	struct record_gpu_work *work = work_of(site, device);
	uint64_t memory = devices[device].memory_bytes;
	work->memory_mib_ns += (memory >> 20) * (end - start);
	if (memory > work->memory_peak_bytes)
		work->memory_peak_bytes = memory;
	return work;
}

static void on_kernel(const struct cupti_kernel *kernel)
{
	struct record_gpu_work *work = book(kernel->device, kernel->correlation, kernel->start,
					    kernel->end);
	if (work == NULL)
		return;
	work->kernel_ns += kernel->end - kernel->start;
	work->launches++;
}

static void on_copy(const struct cupti_copy *copy)
{
	uint32_t correlation = copy->kind == CUPTI_PEER_COPY ? copy->peer_correlation
							     : copy->correlation;
	struct record_gpu_work *work = book(copy->device, correlation, copy->start, copy->end);
	if (work == NULL)
		return;
	work->copy_ns += copy->end - copy->start;
	work->copies++;
	if (copy->kind == CUPTI_SET)
		return;
	work->copied_bytes += copy->bytes;
	if (copy->kind == CUPTI_PEER_COPY)
		return;
	if (copy->direction == CUPTI_COPY_TO_DEVICE || copy->direction == CUPTI_COPY_TO_ARRAY)
		work->to_device_bytes += copy->bytes;
	else if (copy->direction == CUPTI_COPY_FROM_DEVICE ||
		 copy->direction == CUPTI_COPY_FROM_ARRAY)
		work->from_device_bytes += copy->bytes;
}

static void on_memory(const struct cupti_memory *memory)
{
	uint32_t site;
	if (!is_sound(memory->device, 0, 0) || (memory->memory_kind != CUPTI_MEMORY_DEVICE &&
						memory->memory_kind != CUPTI_MEMORY_MANAGED))
		return;
	struct device *device = &devices[memory->device];
	uint64_t *taken = &device->memory_bytes;
	if (memory->operation == CUPTI_MEMORY_GIVEN) {
		*taken -= memory->bytes < *taken ? memory->bytes : *taken;
	} else if (memory->operation == CUPTI_MEMORY_TAKEN) {
		*taken += memory->bytes;
		if (*taken > device->memory_peak_bytes)
			device->memory_peak_bytes = *taken;
		if (gpu_launch_find(memory->correlation, &site))
			work_of(site, memory->device)->alloc_bytes += memory->bytes;
	}
}

static void on_record(const void *record)
{
	uint32_t kind;
	memcpy(&kind, record, sizeof(kind));
	switch (kind) {
	case CUPTI_KERNEL:
		on_kernel(record);
		break;
	case CUPTI_COPY:
	case CUPTI_SET:
	case CUPTI_PEER_COPY:
		on_copy(record);
		break;
	case CUPTI_MEMORY:
		on_memory(record);
		break;
	default:
		break;
	}
}

static void learn_offset(void)
{
	uint64_t theirs = 0;
	if (g_cupti.cuptiGetTimestamp(&theirs) == CUPTI_DONE)
		clock_offset_ns = now_wall_ns() - theirs;
}

void gpu_records_on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			     size_t valid_size)
{
	void *record = NULL;
	uint64_t begin_ns = now_wall_ns();
	(void)context;
	(void)stream;
	(void)size;
	take_lock(&lock);
	bool is_believed = g_agent.is_active && nonsense < NONSENSE_MAX;
	if (is_believed) {
		learn_offset();
		while (nonsense < NONSENSE_MAX &&
		       g_cupti.cuptiActivityGetNextRecord(buffer, valid_size, &record) == CUPTI_DONE)
			on_record(record);
		push_works();
		push_spans();
	}
	bool is_stopped = is_believed && nonsense >= NONSENSE_MAX;
	leave_lock(&lock);
	give_back(buffer);
	if (g_agent.is_active)
		atomic_fetch_add(&g_agent.ring->agent_ns, now_wall_ns() - begin_ns);
	if (is_stopped)
		gpu_stop_reading("the records of this version of CUPTI are not understood");
}

void gpu_records_after_fork(void)
{
	atomic_flag_clear(&lock);
	atomic_flag_clear(&free_lock);
	gpu_records_forget();
}

void gpu_records_forget(void)
{
	memset(devices, 0, sizeof(devices));
	memset(works, 0, sizeof(works));
	piece_count = 0;
	nonsense = 0;
}
