/* record.h - the records that agent and collector agree on.
 *
 * Both sides are built together, so there is no versioning beyond
 * WIRE_VERSION, which must match.  The collector still treats every record as
 * untrusted: the target process could have written anything over its ring.
 *
 * Every record begins with struct record; size counts the whole record and is
 * a multiple of 8.  Times are CLOCK_MONOTONIC nanoseconds. */
#ifndef HEATLINE_WIRE_RECORD_H
#define HEATLINE_WIRE_RECORD_H

#include <stdint.h>

#define WIRE_VERSION 15u
#define RECORD_MAX_BYTES (192u * 1024u)

enum record_type {
	RECORD_PAD = 1,    /* skip to the ring's start */
	RECORD_CODE,       /* struct record_code: a code object seen for the first time */
	RECORD_SAMPLE,     /* struct record_sample */
	RECORD_THREAD,     /* struct record_thread: a thread began */
	RECORD_THREAD_END, /* struct record_thread: a thread ended */
	RECORD_EXIT,       /* struct record_exit: the process ends in good order */
	RECORD_ALLOC,      /* struct record_alloc: a sampled allocation */
	RECORD_FREE,       /* struct record_free: the end of one */
	RECORD_COPY,       /* struct record_copy: a sampled copy */
	RECORD_MAPPING,    /* struct record_mapping: how a large mapping is now */
	RECORD_MARK,       /* struct record_mark: a word of the program itself */
	RECORD_GPU_STATE,  /* struct record_gpu_state: how the GPU is measured */
	RECORD_GPU_DEVICE, /* struct record_gpu_device: a GPU that is used */
	RECORD_GPU_SITE,   /* struct record_gpu_site: a stack that launches work */
	RECORD_GPU_WORK,   /* struct record_gpu_work: what a site had the GPU do */
	RECORD_GPU_SPAN,   /* struct record_gpu_span: a stretch of time on a GPU */
};

struct record {
	uint32_t size; /* bytes, this header included */
	uint16_t type; /* enum record_type */
	uint16_t reserved;
};

/* Where the program counter stood. */
enum sample_place {
	PLACE_INTERPRETER, /* inside the interpreter's own image */
	PLACE_NATIVE,      /* in another library or the program's other code */
	PLACE_SYSTEM,      /* just after a system call */
};

enum sample_flag {
	SAMPLE_CUT = 1 << 0,  /* the stack was deeper than we follow */
	SAMPLE_TICK = 1 << 1, /* taken by the tick timer (else by perf) */
	SAMPLE_GC = 1 << 2,   /* the interpreter was collecting garbage, in this or another thread */
	SAMPLE_DIRECT = 1 << 3, /* it was an instruction of Python's that called the innermost frame, not
				   C code (3.11+) */
};

struct record_frame {
	uint32_t code;   /* the code's id, from a RECORD_CODE of this ring */
	uint32_t offset; /* byte offset of the instruction */
};

/* user_ns and system_ns are the thread's CPU time since its last sample. */
struct record_sample {
	struct record head;
	uint64_t time_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t pc;     /* program counter */
	uint64_t caller; /* where the function returns to, if it has made no frame of its own
			    on the C stack; else any word; 0: not known */
	uint32_t thread; /* index of the thread slot */
	uint8_t place;   /* enum sample_place */
	uint8_t flags;   /* enum sample_flag */
	uint8_t opcode;  /* of the innermost frame's current instruction, as specialised */
	uint8_t reserved;
	uint32_t count;
	uint32_t reserved_too;
	struct record_frame frames[]; /* count of them, innermost first */
};

/* Followed by filename, qualname, lines, bytecode, without terminators. */
struct record_code {
	struct record head;
	uint64_t address; /* where it lies, if its lines or instructions did not fit in here; else 0 */
	uint32_t id;
	uint32_t first_line;
	uint32_t flags;
	uint32_t filename_size, qualname_size, lines_size, bytecode_size;
	uint32_t reserved;
};

struct record_thread {
	struct record head;
	uint64_t time_ns;
	uint64_t cpu_ns; /* the thread's CPU clock */
	uint32_t thread; /* slot */
	int32_t tid;
	char name[16];   /* what the system calls it; only when it ends */
	uint64_t before_cpu_ns;   /* only when it begins: what the kernel has counted for it … */
	uint64_t before_delay_ns; /* … before, on a CPU and ready to run; 0 for a new thread */
	uint64_t rest_ns; /* only when it ends: CPU time that its samples lack */
	uint64_t delay_ns; /* only when it ends: for so long it was ready to run in all; 0: not known */
};

enum alloc_flag {
	ALLOC_PYTHON = 1 << 0,    /* came through Python's allocators; else native */
	ALLOC_UNTRACKED = 1 << 1, /* its end will not be told: volume only */
	ALLOC_MAPPED = 1 << 2,    /* a large mapping: it counts for what of it is resident … */
	ALLOC_POOL = 1 << 3,      /* … and belongs to who touches it, not to who mapped it */
	ALLOC_RESIZED = 1 << 4,   /* by realloc, of another block */
};

/* What is left of a block that has become smaller: of so many parts. */
#define PART_ALL 65536u

/* A sampled allocation stands for `weight` bytes allocated here (docs/MEMORY.md
 * derives it), of blocks of `size` bytes, and for `live` bytes more that live: as many, but
 * where realloc has made the block of another, by growth only.  What that other was
 * followed as goes on as part of this one. */
struct record_alloc {
	struct record head;
	uint64_t time_ns;
	uint64_t id;     /* for record_free; never 0 */
	uint64_t size;   /* bytes of this block; of a mapping: where it begins */
	uint64_t weight; /* bytes that it stands for */
	uint64_t live;   /* at most as many */
	uint64_t grows;  /* id of the other block's sample; 0: none, */
	uint32_t part;   /* of which so much is left */
	uint32_t thread; /* slot */
	uint32_t flags;  /* enum alloc_flag */
	uint32_t count;
	struct record_frame frames[]; /* count of them, innermost first */
};

enum free_flag {
	FREE_AT_END = 1 << 0, /* given back by the interpreter's own end */
	FREE_MOVED = 1 << 1,  /* by realloc: it goes on as another block */
	FREE_SHRUNK = 1 << 2, /* by realloc: it goes on as a part of itself */
};

struct record_free {
	struct record head;
	uint64_t time_ns;
	uint64_t id;
	uint32_t flags; /* enum free_flag */
	uint32_t part;  /* that is left, where it has shrunk */
};

#define MAPPING_NOT_LOOKED_AT UINT64_MAX

enum mapping_flag {
	MAPPING_AT_END = 1 << 0, /* the interpreter ends, and gives back what was kept */
};

/* A mapping that began with ALLOC_MAPPED. */
struct record_mapping {
	struct record head;
	uint64_t time_ns;
	uint64_t was_at;        /* where it began until now */
	uint64_t address, size; /* what is left of it, or where it has moved */
	uint64_t resident;      /* bytes; or MAPPING_NOT_LOOKED_AT */
	uint32_t flags;         /* enum mapping_flag */
	uint32_t reserved;
};

/* A sampled memcpy or memmove; stands for `weight` bytes copied here. */
struct record_copy {
	struct record head;
	uint64_t time_ns;
	uint64_t weight;
	uint32_t thread;
	uint32_t count;
	struct record_frame frames[]; /* innermost first */
};

#define MARK_MAX_BYTES 200u

/* Followed by the text: text_size bytes of UTF-8, without terminator. */
struct record_mark {
	struct record head;
	uint64_t time_ns;
	uint32_t text_size; /* at most MARK_MAX_BYTES */
	uint32_t reserved;
};

enum gpu_state {
	GPU_STATE_ON = 1, /* every kernel and copy is told */
	GPU_STATE_OFF,    /* they are not, or no more; text says why */
};

struct record_gpu_state {
	struct record head;
	uint64_t time_ns;
	uint32_t state; /* enum gpu_state */
	uint32_t reserved;
	char text[240]; /* ends with 0 */
};

/* device: the process's own number of it; bus tells which one that is. */
struct record_gpu_device {
	struct record head;
	uint64_t time_ns;
	uint64_t memory_bytes;
	uint32_t device;
	uint32_t reserved;
	char name[96];
	char bus[16]; /* "0000:1b:00.0"; empty: not known */
};

#define GPU_SITE_NONE 0u /* no stack is known */

/* A stack, from now on known by a number. */
struct record_gpu_site {
	struct record head;
	uint64_t time_ns;
	uint32_t site;
	uint32_t count;
	struct record_frame frames[]; /* innermost first */
};

/* What a site had one device do since the last such record. */
struct record_gpu_work {
	struct record head;
	uint64_t time_ns;
	uint32_t site, device;
	uint64_t kernel_ns, copy_ns;
	uint64_t copied_bytes, to_device_bytes, from_device_bytes;
	uint64_t alloc_bytes;
	uint64_t memory_mib_ns; /* MiB in use, summed over the time of the work */
	uint64_t memory_peak_bytes;
	uint64_t wait_ns; /* the thread blocked on the device */
	uint32_t launches, copies, waits;
	uint32_t reserved;
};

/* Between time_ns and end_ns the device worked for busy_ns; spans of a device
 * come in order and do not overlap. */
struct record_gpu_span {
	struct record head;
	uint64_t time_ns;
	uint64_t end_ns, busy_ns;
	uint64_t memory_bytes; /* that the process has taken of it by then */
	uint64_t memory_peak_bytes; /* most since the last span */
	uint32_t device;
	uint32_t reserved;
};

struct record_exit {
	struct record head;
	uint64_t time_ns;
	uint64_t delay_ns; /* for so long its main thread was ready to run in all; 0: not known */
	uint64_t cpu_ns; /* the main thread's CPU clock; 0: not known */
	uint64_t peak_resident_bytes; /* the most that ever was of it; 0: not known */
	int32_t status; /* as given to exit or _exit */
	uint32_t reserved;
};

#endif
