/* perf_clock.c - see perf_clock.h. */
#include "remote/perf_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES 65536u /* a power of two; some 15 samples */
#define PAGE_BYTES ((size_t)sysconf(_SC_PAGESIZE))

/* Head, program counter, numbers, time, kind of registers. */
#define FIXED_BYTES (sizeof(struct perf_event_header) + 32u)
#define RECORD_BYTES_MAX (FIXED_BYTES + PERF_WORDS_MAX * 8u + 16u)

/* The general registers: any may hold where the evaluation loop is. */
#if defined(__x86_64__)
#define REGISTERS 0xff00ffull /* without flags and segments */
#elif defined(__aarch64__)
#define REGISTERS 0x7fffffffull
#else
#define REGISTERS 0ull
#endif

static int open_event(pid_t tid, uint64_t period_ns, bool has_kernel)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period_ns;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER;
	attr.sample_regs_user = REGISTERS;
	attr.sample_stack_user = PERF_STACK_BYTES;
	attr.exclude_kernel = !has_kernel;
	attr.exclude_hv = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	/* Nobody waits for it: to wake somebody up would cost the thread a second interrupt. */
	attr.watermark = 1;
	attr.wakeup_watermark = UINT32_MAX;
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static enum perf_clock_result result_of(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return PERF_CLOCK_FORBIDDEN;
	case ESRCH:
		return PERF_CLOCK_GONE;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOSPC:
		return PERF_CLOCK_FULL;
	default:
		return PERF_CLOCK_ABSENT;
	}
}

enum perf_clock_result perf_clock_open(struct perf_clock *clock, pid_t tid, uint64_t period_ns, bool has_kernel)
{
	int fd = open_event(tid, period_ns, has_kernel);
	if (fd < 0)
		return result_of(errno);
	void *map = mmap(NULL, PAGE_BYTES + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		close(fd);
		return PERF_CLOCK_FULL;
	}
	*clock = (struct perf_clock){.fd = fd, .map = map};
	return PERF_CLOCK_OK;
}

void perf_clock_close(struct perf_clock *clock)
{
	munmap(clock->map, PAGE_BYTES + RING_BYTES);
	close(clock->fd);
}

void perf_clock_set_period(struct perf_clock *clock, uint64_t period_ns)
{
	/* If it fails the old one is as good. */
	(void)ioctl(clock->fd, PERF_EVENT_IOC_PERIOD, &period_ns);
}

/* --- records --- */

/* Reads numbers out of a record, and none behind its end. */
struct cursor {
	const unsigned char *at, *end;
};

static bool take(struct cursor *cursor, uint64_t *number)
{
	if ((size_t)(cursor->end - cursor->at) < sizeof(*number))
		return false;
	memcpy(number, cursor->at, sizeof(*number));
	cursor->at += sizeof(*number);
	return true;
}

static bool take_words(struct cursor *cursor, uint64_t bytes, uint64_t kept_bytes, struct perf_sample *sample)
{
	if (bytes > (uint64_t)(cursor->end - cursor->at) || kept_bytes > bytes ||
	    kept_bytes / 8 > PERF_WORDS_MAX - sample->word_count)
		return false;
	memcpy(sample->words + sample->word_count, cursor->at, kept_bytes / 8 * 8);
	sample->word_count += (uint32_t)(kept_bytes / 8);
	cursor->at += bytes;
	return true;
}

/* How much of the stack there is stands behind it. */
static bool take_stack(struct cursor *cursor, struct perf_sample *sample)
{
	uint64_t bytes, filled_bytes;
	if (!take(cursor, &bytes))
		return false;
	if (bytes == 0)
		return true;
	if (bytes % 8 != 0 || bytes > (uint64_t)(cursor->end - cursor->at))
		return false;
	struct cursor behind = {cursor->at + bytes, cursor->end};
	return take(&behind, &filled_bytes) && take_words(cursor, bytes, filled_bytes, sample);
}

bool perf_sample_parse(const unsigned char *record, size_t size, struct perf_sample *sample)
{
	struct perf_event_header head;
	struct cursor cursor = {record + sizeof(head), record + size};
	uint64_t numbers, abi;
	if (size < FIXED_BYTES)
		return false;
	memcpy(&head, record, sizeof(head));
	unsigned mode = head.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (head.type != PERF_RECORD_SAMPLE || head.size != size ||
	    (mode != PERF_RECORD_MISC_KERNEL && mode != PERF_RECORD_MISC_USER))
		return false;
	sample->is_kernel = mode == PERF_RECORD_MISC_KERNEL;
	sample->word_count = 0;
	if (!take(&cursor, &sample->pc) || !take(&cursor, &numbers) || !take(&cursor, &sample->time_ns) ||
	    !take(&cursor, &abi))
		return false;
	uint64_t bytes = abi == PERF_SAMPLE_REGS_ABI_NONE ? 0 : 8u * (uint64_t)__builtin_popcountll(REGISTERS);
	return take_words(&cursor, bytes, bytes, sample) && take_stack(&cursor, sample);
}

/* --- the ring --- */

static void copy_out(const struct perf_clock *clock, uint64_t from, void *into, size_t size)
{
	const unsigned char *ring = clock->map + PAGE_BYTES;
	size_t at = from % RING_BYTES, first = RING_BYTES - at < size ? RING_BYTES - at : size;
	memcpy(into, ring + at, first);
	memcpy((unsigned char *)into + first, ring, size - first);
}

static void note_lost(struct perf_clock *clock, const unsigned char *record, size_t size)
{
	uint64_t lost; /* behind the event's number */
	if (size < sizeof(struct perf_event_header) + 16)
		return;
	memcpy(&lost, record + sizeof(struct perf_event_header) + 8, sizeof(lost));
	clock->lost += lost;
}

bool perf_clock_next(struct perf_clock *clock, struct perf_sample *sample)
{
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)(void *)clock->map;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	unsigned char record[RECORD_BYTES_MAX];
	bool is_sample = false;
	while (!is_sample && clock->tail != head) {
		struct perf_event_header next = {.size = 0};
		if (head - clock->tail <= RING_BYTES && head - clock->tail >= sizeof(next))
			copy_out(clock, clock->tail, &next, sizeof(next));
		/* What makes no sense is thrown away as a whole. */
		if (next.size < sizeof(next) || next.size > head - clock->tail) {
			clock->tail = head;
			break;
		}
		if (next.size <= sizeof(record)) {
			copy_out(clock, clock->tail, record, next.size);
			is_sample = perf_sample_parse(record, next.size, sample);
			if (next.type == PERF_RECORD_LOST)
				note_lost(clock, record, next.size);
		}
		clock->tail += next.size;
	}
	__atomic_store_n(&page->data_tail, clock->tail, __ATOMIC_RELEASE);
	return is_sample;
}
