/* start.c - from the preload's constructor to the first sample, fork, and the end.
 *
 * Every process of the run comes through here, most of them not Python (a
 * shell, a compiler): those leave after a look at the environment and a
 * symbol.  The interpreter is not initialised yet; nothing of it is called
 * but Py_GetVersion, which formats a constant. */
#include "agent/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/codes.h"
#include "agent/debugger.h"
#include "agent/exec.h"
#include "agent/forbidden.h"
#include "agent/gpu.h"
#include "agent/memory.h"
#include "agent/resident.h"
#include "agent/signals.h"
#include "agent/small_file.h"
#include "agent/threads.h"

/* CPU time between samples unless the user says otherwise.  Measured: a
 * sample costs some 8 us at depth 10, so this stays below half a percent. */
#define DEFAULT_INTERVAL_NS 2000000u
#define MIN_INTERVAL_NS 20000u

/* What the process's Python offers. */
struct python_symbols {
	void *runtime;
	void *code_type;
	void *(*this_thread_state)(void);
};

/* There where the process has a Python.  Bound by the loader: to look for a name that is not there
 * takes 10 us, and most processes are none. */
extern const char *Py_GetVersion(void) __attribute__((weak));

/* Not every C library has these.  A child of the program may use another one
 * (musl), whose loader refuses a preload with a symbol that it does not know;
 * no Python of ours runs there, so none of them is called.  pthread_atfork itself
 * is linked into the caller and asks for the first. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));
#pragma weak on_exit

/* The folder of the run; copied, since the program may change its environment. */
static char run_folder[256];

const char *start_folder(void)
{
	return run_folder;
}

static bool find_python(struct python_symbols *symbols)
{
	if (Py_GetVersion == NULL)
		return false;
	symbols->runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	symbols->code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
	*(void **)&symbols->this_thread_state =
		dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	return true;
}

/* In the place of an old page, if there is one. */
static struct control *map_control(struct control *old)
{
	char path[300];
	snprintf(path, sizeof(path), "%s/" CONTROL_FILE, run_folder);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	struct stat status;
	void *page = MAP_FAILED;
	if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(struct control))
		page = mmap(old, sizeof(struct control), PROT_READ | PROT_WRITE,
			    MAP_SHARED | (old != NULL ? MAP_FIXED : 0), fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return NULL;
	struct control *control = page;
	if (control->magic == CONTROL_MAGIC && control->wire_version == WIRE_VERSION)
		return control;
	agent_map_again(page, sizeof(struct control));
	return NULL;
}

/* Whether the program may make a file as large as a ring; if not, trying to would kill it. */
static bool may_make_ring(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= sizeof(struct ring);
}

/* Maps the file, in the place of an old ring if there is one.  NULL where there is no room:
 * writing to the mapping would kill the program. */
static struct ring *map_ring(int fd, struct ring *old)
{
	if (ftruncate(fd, sizeof(struct ring)) != 0)
		return NULL;
	struct ring *ring = mmap(old, sizeof(*ring), PROT_READ | PROT_WRITE,
				 MAP_SHARED | (old != NULL ? MAP_FIXED : 0), fd, 0);
	if (ring == MAP_FAILED)
		return NULL;
	int status = ring_make_room(ring);
	if (status == -EINVAL && fallocate(fd, 0, 0, sizeof(*ring)) == 0) {
		atomic_store(&ring->room, RING_BYTES);
		status = 0;
	}
	if (status == 0)
		return ring;
	if (old != NULL)
		agent_map_again(old, sizeof(*old));
	else
		munmap(ring, sizeof(*ring));
	return NULL;
}

/* The page is ours even where the folder is not: after setuid or chroot, or where no more
 * files, or none that large, may be made. */
static struct ring *ring_refused(int error)
{
	atomic_store(&g_agent.control->refused_error, error);
	atomic_fetch_add(&g_agent.control->rings_refused, 1);
	return NULL;
}

void start_note_unreachable(int error)
{
	if (g_agent.is_active && !g_agent.is_loaded && g_agent.control->is_first_only == 0)
		ring_refused(error);
}

static uint64_t pid_namespace(void)
{
	struct stat status;
	return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

/* Makes this process's ring, in the place of an old one if there is one; the
 * collector sees it once the counter moves. */
static struct ring *ring_new(struct ring *old)
{
	char path[340];
	uint64_t now_ns = now_wall_ns();
	if (!may_make_ring())
		return ring_refused(EFBIG);
	snprintf(path, sizeof(path), "%s/" RING_FILE_PREFIX "%d-%llx", run_folder, (int)getpid(),
		 (unsigned long long)now_ns);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return ring_refused(errno);
	struct ring *ring = map_ring(fd, old);
	close(fd);
	if (ring == NULL) {
		unlink(path);
		return ring_refused(ENOSPC);
	}
	ring->magic = RING_MAGIC;
	ring->wire_version = WIRE_VERSION;
	ring->pid = getpid();
	ring->parent_pid = getppid();
	ring->pid_namespace = pid_namespace();
	ring->start_ns = now_ns;
	g_agent.cookie = now_ns ^ (uint64_t)(uintptr_t)ring ^ (uint64_t)getpid() << 40;
	ring->cookie = g_agent.cookie;
	ring->cookie_addr = (uint64_t)(uintptr_t)&g_agent.cookie;
	return ring;
}

static void ring_publish(struct ring *ring, enum ring_state state)
{
	atomic_store_explicit(&ring->state, state, memory_order_release);
	atomic_fetch_add(&g_agent.control->rings, 1);
}

/* The code of the library or executable that holds an address. */
struct image_search {
	uint64_t inside;
	uint64_t start, end;
};

static int find_image(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	struct image_search *search = data;
	uint64_t start = UINT64_MAX, end = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
			continue;
		uint64_t from = info->dlpi_addr + segment->p_vaddr;
		if (from < start)
			start = from;
		if (from + segment->p_memsz > end)
			end = from + segment->p_memsz;
	}
	if (search->inside < start || search->inside >= end)
		return 0;
	search->start = start;
	search->end = end;
	return 1;
}

void start_find_code(uint64_t inside, uint64_t *start, uint64_t *end)
{
	struct image_search search = {.inside = inside};
	dl_iterate_phdr(find_image, &search);
	*start = search.start;
	*end = search.end;
}

static unsigned parse_version(const char *text, char *copy, size_t size)
{
	unsigned major = 0, minor = 0;
	if (text == NULL || sscanf(text, "%u.%u", &major, &minor) != 2 || major > 255 || minor > 255)
		return 0;
	size_t length = strcspn(text, " ");
	if (length >= size)
		length = size - 1;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return major << 8 | minor;
}

/* The ring's words, which are all zero so far. */
static void read_command(struct ring *ring)
{
	/* Without them it is named by who meets it in time. */
	small_file_read("/proc/self/cmdline", ring->command, sizeof(ring->command));
}

/* Fills layout and ring from the interpreter.  NULL, or why it cannot be. */
static const char *learn_python(const struct python_symbols *symbols, struct ring *ring)
{
	ring->python = parse_version(Py_GetVersion(), ring->version_text,
				     sizeof(ring->version_text));
	read_command(ring);
	if (symbols->this_thread_state == NULL || symbols->code_type == NULL)
		return "its interpreter hides the symbols that are needed";
	ring->runtime = (uint64_t)(uintptr_t)symbols->runtime;
	ring->code_type = (uint64_t)(uintptr_t)symbols->code_type;
	start_find_code((uint64_t)(uintptr_t)symbols->this_thread_state, &ring->image_start,
			&ring->image_end);

	const struct py_layout *known = py_layout_known(ring->python);
	if (known != NULL) {
		g_agent.layout = *known;
		return NULL;
	}
	if (ring->python < 0x030d || symbols->runtime == NULL)
		return "this version of Python is not known to Heatline (3.8 to 3.15 are)";
	const char *why = NULL;
	if (py_layout_published(&g_agent.reader, ring->runtime, &g_agent.layout, &why) != 0)
		return why;
	return NULL;
}

/* Whether memory can be copied from this very process; else through a pipe. */
static const char *choose_reader(void)
{
	uint64_t probe = 1, copy = 0;
	mem_reader_init_process(&g_agent.reader, getpid());
	if (g_agent.reader.read(&g_agent.reader, (py_addr)(uintptr_t)&probe, &copy, sizeof(copy)) &&
	    copy == probe)
		return NULL;
	if (mem_reader_init_pipe(&g_agent.reader) == 0)
		return NULL;
	return "this process may not read its own memory by copy";
}

/* Lets the collector look at waiting threads where yama forbids it. */
static void permit_collector(void)
{
	int32_t collector = atomic_load(&g_agent.control->collector_pid);
	atomic_store(&g_agent.permitted_pid, collector);
	prctl(PR_SET_PTRACER, (unsigned long)collector, 0, 0, 0);
}

const char *start_sampling(void)
{
	permit_collector();
	if (codes_reset() != 0)
		return "no memory for the table of code objects";
	if (signals_start() != 0)
		return "the sampling signal cannot be installed";
	if (g_agent.is_loaded)
		return NULL;
	forbidden_start();
	g_agent.is_active = true;
	if (threads_start_main() != 0) {
		g_agent.is_active = false;
		return "no CPU timer can be made (see ulimit -i)";
	}
	if (memory_start != NULL && memory_start() != 0) {
		g_agent.is_active = false;
		return "no memory for the table of allocations";
	}
	return NULL;
}

/* Only the first Python process is wanted, and this is another one. */
static bool is_left_out(void)
{
	int32_t first = 0;
	return g_agent.control->is_first_only != 0 &&
	       !atomic_compare_exchange_strong(&g_agent.control->first_pid, &first, getpid()) &&
	       first != getpid();
}

/* A parent may end before its child has run at all, and then nobody would know that
 * there is more to come.  (A fork that fails is told as one whose child never comes.) */
static void before_fork(void)
{
	if (g_agent.is_active)
		atomic_fetch_add(&g_agent.control->forking, 1);
}

/* A process of its own, with a ring of its own. */
static void begin_child(void)
{
	struct ring *parent = g_agent.ring;
	struct ring *ring = is_left_out() ? NULL : ring_new(NULL);
	if (ring == NULL || codes_after_fork() != 0) {
		g_agent.is_active = false;
		return;
	}
	mem_reader_init_process(&g_agent.reader, getpid());
	ring->python = parent->python;
	memcpy(ring->version_text, parent->version_text, sizeof(ring->version_text));
	memcpy(ring->command, parent->command, sizeof(ring->command));
	ring->runtime = parent->runtime;
	ring->code_type = parent->code_type;
	ring->image_start = parent->image_start;
	ring->image_end = parent->image_end;
	g_agent.ring = ring;
	munmap(parent, sizeof(*parent));
	if (memory_after_fork != NULL)
		memory_after_fork();
	gpu_after_fork();
	resident_after_fork();
	permit_collector();
	ring_publish(ring, RING_ACTIVE);
	threads_after_fork();
}

/* In the child of a fork. */
static void after_fork(void)
{
	threads_unlock();
	if (!g_agent.is_active)
		return;
	int saved = errno, cancel = agent_keep_cancel();
	begin_child();
	atomic_fetch_sub(&g_agent.control->forking, 1);
	agent_let_cancel(cancel);
	errno = saved;
}

static void choose_interval(void)
{
	uint64_t wanted = g_agent.control->interval_ns;
	g_agent.has_fixed_rate = wanted != 0;
	g_agent.interval_ns = wanted == 0 ? DEFAULT_INTERVAL_NS
			      : wanted < MIN_INTERVAL_NS ? MIN_INTERVAL_NS
							 : wanted;
}

/* The end in good order; anything else the collector sees from outside.  is_at_once: by _exit,
 * which may be called anywhere: no file is read then. */
static void push_exit(int status, bool is_at_once)
{
	/* Not the child of a vfork, which has our memory. */
	if (!g_agent.is_active || g_agent.ring->pid != getpid())
		return;
	int cancel = agent_keep_cancel();
	if (memory_end != NULL)
		memory_end();
	threads_tell_rests();
	uint64_t delay_ns = is_at_once ? 0 : threads_main_delay_ns();
	struct record *record = ring_reserve(g_agent.ring, sizeof(struct record_exit));
	if (record != NULL) {
		struct record_exit *out = (struct record_exit *)record;
		out->time_ns = now_wall_ns();
		out->delay_ns = delay_ns;
		out->cpu_ns = now_cpu_of_ns((int32_t)getpid());
		out->peak_resident_bytes = resident_peak_bytes(is_at_once);
		out->status = status;
		out->reserved = 0;
		ring_commit(record, sizeof(*out), RECORD_EXIT);
	}
	agent_let_cancel(cancel);
}

static void on_normal_exit(int status, void *unused)
{
	(void)unused;
	push_exit(status, false);
}

/* os._exit, and how the children of a fork usually end. */
AGENT_EXPORT void _exit(int status)
{
	if (g_agent.is_active)
		gpu_flush();
	push_exit(status, true);
	for (;;)
		syscall(SYS_exit_group, status);
}

const char *start_prepare(const char *folder, struct ring **ring)
{
	struct python_symbols symbols = {0};
	*ring = NULL;
	if (folder == NULL || strlen(folder) >= sizeof(run_folder) || !find_python(&symbols))
		return "there is no Python in it";
	memcpy(run_folder, folder, strlen(folder) + 1);
	struct control *control = map_control(g_agent.control);
	if (control == NULL)
		return "the run's folder cannot be read";
	g_agent.control = control;
	struct ring *made = is_left_out() ? NULL : ring_new(g_agent.ring);
	if (made == NULL)
		return "there is no room in shared memory";
	*ring = g_agent.ring = made;
	resident_start();
	g_agent.this_thread_state = symbols.this_thread_state;
	choose_interval();
	const char *why = choose_reader();
	if (why == NULL)
		why = learn_python(&symbols, made);
	if (why == NULL && debugger_is_there())
		why = "a debugger runs it, which would stop it for each of heatline's signals";
	g_agent.walker.reader = &g_agent.reader;
	g_agent.walker.layout = &g_agent.layout;
	g_agent.walker.code_type = made->code_type;
	return why;
}

void start_publish(struct ring *ring, const char *why)
{
	static bool is_registered;
	if (why == NULL && !is_registered) {
		__register_atfork(before_fork, NULL, after_fork, __dso_handle);
		on_exit(on_normal_exit, NULL);
		is_registered = true;
	}
	if (why != NULL)
		snprintf(ring->reason, sizeof(ring->reason), "%s", why);
	ring_publish(ring, why == NULL ? RING_ACTIVE : RING_REFUSED);
}

void start_leave_ring(void)
{
	atomic_store(&g_agent.ring->is_left, 1);
	agent_map_again(g_agent.ring, sizeof(struct ring));
	agent_map_again(g_agent.control, sizeof(struct control));
	prctl(PR_SET_PTRACER, 0UL, 0, 0, 0);
}

void start_push_mark(const char *text, size_t size)
{
	size = size > MARK_MAX_BYTES ? MARK_MAX_BYTES : size;
	uint32_t bytes = (uint32_t)(sizeof(struct record_mark) + size + 7u) & ~7u;
	struct record *record = ring_reserve(g_agent.ring, bytes);
	if (record == NULL)
		return;
	struct record_mark *out = (struct record_mark *)record;
	out->time_ns = now_wall_ns();
	out->text_size = (uint32_t)size;
	out->reserved = 0;
	memcpy(out + 1, text, size);
	ring_commit(record, bytes, RECORD_MARK);
}

/* Whether this library was preloaded, and not loaded by a process that has the
 * environment of a run: then its functions are in front of the C library's. */
static bool is_preloaded(void)
{
	Dl_info front, own;
	return dladdr(dlsym(RTLD_DEFAULT, "pthread_create"), &front) != 0 &&
	       dladdr(run_folder, &own) != 0 && front.dli_fbase == own.dli_fbase;
}

__attribute__((constructor)) static void agent_start(void)
{
	forbidden_prepare();
	if (getenv(CONTROL_ENV) == NULL || !is_preloaded())
		return;
	int saved = errno;
	const char *folder = exec_start();
	struct ring *ring;
	if (memory_prepare != NULL)
		memory_prepare();
	const char *why = start_prepare(folder, &ring);
	if (ring != NULL) {
		g_agent.session = 1;
		start_publish(ring, why != NULL ? why : start_sampling());
	}
	errno = saved;
}
