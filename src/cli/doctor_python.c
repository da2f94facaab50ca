/* doctor_python.c - the interpreter, and whether 'heatline run' profiles it: told by a trial. */
#include "cli/doctor.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/binary.h"
#include "cli/places.h"
#include "cli/trial.h"
#include "remote/elf_file.h"
#include "remote/evaluator.h"
#include "remote/remote.h"

/* ---- the interpreter ---- */

static void pass_over(void *context, const char *name, struct elf_piece where)
{
	(void)context;
	(void)name;
	(void)where;
}

/* Whether the interpreter has the names of its functions. */
static bool has_names(const char *image)
{
	struct elf_file elf;

	if (elf_open(&elf, image) != 0)
		return false;
	bool has_all = elf_each_function(&elf, pass_over, NULL);
	elf_close(&elf);
	return has_all;
}

/* Whether what its functions are for is known, by their names or without. */
static bool is_understood(const char *image)
{
	struct evaluator evaluator;

	evaluator_read(&evaluator, getpid(), image);
	bool is_known = evaluator.is_complete && evaluator.pieces.count > 0;
	evaluator_fini(&evaluator);
	return is_known;
}

static void say_python(struct doctor_check *check, const struct trial *trial)
{
	const struct trial_python *python = &trial->plain;
	bool is_named = has_names(python->image), is_known = is_named || is_understood(python->image);
	/* A stand-in (pyenv's) says nothing of what it starts. */
	bool is_script = binary_kind(trial->python) == BINARY_SCRIPT;
	char *path = path_normalise(is_script ? python->executable : trial->python);

	doctor_fact_text(check, "version", python->version);
	doctor_fact_text(check, "implementation", python->implementation);
	doctor_fact_text(check, "executable", python->executable);
	doctor_fact_text(check, "image", python->image);
	doctor_fact_truth(check, "is_free_threaded", python->is_free_threaded);
	doctor_fact_truth(check, "has_names", is_named);
	if (python->is_free_threaded) {
		doctor_say(check, trial->profile ? DOCTOR_LIMITED : DOCTOR_NO,
			   "%s, %s; of free-threaded builds %s", python->version, path,
			   trial->profile ? "it is not told where tasks of event loops wait"
					  : "this one cannot be profiled");
		doctor_fix(check, "name one that has the GIL with --python");
	} else if (is_known) {
		doctor_say(check, DOCTOR_OK, "%s, %s%s", python->version, path,
			   is_named ? "" : " (stripped of its names, which can be done without)");
	} else {
		doctor_say(check, DOCTOR_LIMITED,
			   "%s, %s; stripped of its names: where C code calls Python, native time is a guess",
			   python->version, path);
		doctor_fix(check, "name one that is not stripped with --python");
	}
	free(path);
}

void doctor_check_python(struct doctor *doctor, const struct trial *trial)
{
	struct doctor_check *check = doctor_add(doctor, "python");

	if (trial->python)
		doctor_fact_text(check, "path", trial->python);
	if (trial->plain.version[0]) {
		say_python(check, trial);
	} else if (trial->python) {
		doctor_say(check, DOCTOR_NO, "'%s' is no Python that works%s%s", trial->python,
			   trial->plain_complaint[0] ? ": " : ": it ran no program",
			   trial->plain_complaint);
		doctor_fix(check, "name another with --python");
	} else if (trial->refusal.code != ERR_NONE) {
		doctor_blame(check, DOCTOR_NO, &trial->refusal);
	} else {
		doctor_say(check, DOCTOR_NO, "none was tried");
	}
}

/* ---- the agents ---- */

/* In a process that ends with it: what is loaded is never unloaded. */
static bool is_loadable(const char *library)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(dlopen(library, RTLD_NOW | RTLD_LOCAL) ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int check_agent(struct doctor_check *check, bool has_memory, struct err *err)
{
	char *agent = places_find_agent(has_memory, err);

	if (!agent)
		return -(int)err->code;
	doctor_fact_text(check, has_memory ? "agent_memory" : "agent", agent);
	int status = is_loadable(agent) ? 0
					: err_set(err, ERR_UNSUPPORTED,
						  "%s cannot be loaded; install heatline again", agent);
	free(agent);
	return status;
}

/* ---- the run ---- */

/* The program's start with the agent against without, in CPU time, which other programs on the
 * machine do not change. */
static double added_ms(const struct trial *trial)
{
	double more_s = trial->profiled.start_cpu_s - trial->plain.start_cpu_s;

	return more_s > 0 ? 1000 * more_s : 0;
}

static void say_run(struct doctor_check *check, const struct trial *trial)
{
	const struct profile_quality *quality = &trial->profile->quality;

	doctor_fact_number(check, "samples", (double)quality->samples);
	doctor_fact_number(check, "start_added_ms", added_ms(trial));
	doctor_fact_number(check, "elapsed_s", trial->seconds);
	doctor_fact_text(check, "clock", quality->clock ? quality->clock : "");
	if (quality->samples == 0) {
		doctor_say(check, DOCTOR_LIMITED, "a test program ran, but no sample of it was taken");
		doctor_fix(check, "heatline doctor, once more: the machine may have been too busy");
	} else {
		doctor_say(check, DOCTOR_OK, "a test program was profiled: %llu samples, %s%.0f ms added to its start",
			   (unsigned long long)quality->samples, added_ms(trial) < 1 ? "below " : "",
			   added_ms(trial) < 1 ? 1 : added_ms(trial));
	}
}

void doctor_check_run(struct doctor *doctor, const struct trial *trial)
{
	struct doctor_check *check = doctor_add(doctor, "run");
	struct err err;

	if (check_agent(check, true, &err) || check_agent(check, false, &err)) {
		doctor_blame(check, DOCTOR_NO, &err);
		if (getenv("HEATLINE_LIBDIR"))
			doctor_fix(check, "unset HEATLINE_LIBDIR");
	} else if (!trial->plain.version[0]) {
		doctor_say(check, DOCTOR_NO, "not tried, for want of a Python");
	} else if (trial->profile) {
		say_run(check, trial);
	} else {
		err_set(&err, ERR_TARGET, "%s", trial->complaint[0] ? trial->complaint
								    : "there is no profile");
		doctor_blame(check, DOCTOR_NO, &err);
	}
}

/* ---- what the run has measured ---- */

/* Whether a process that we start may be looked at, as those of a run are. */
static int try_child(struct err *err)
{
	static const uint64_t word = 1;
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (pid < 0)
		return err_set(err, ERR_SYSTEM, "no process can be started");
	int status = remote_try_memory(pid, (uintptr_t)&word, "heatline run prog.py", err);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return status;
}

static void blame_waiting(struct doctor_check *check, const struct err *reason)
{
	struct err err;

	err_set(&err, reason->code, "lines do not show what they wait: %.800s", reason->message);
	doctor_blame(check, DOCTOR_LIMITED, &err);
}

void doctor_check_waiting(struct doctor *doctor, const struct trial *trial)
{
	struct doctor_check *check = doctor_add(doctor, "waiting");
	bool is_seen = trial->line_wait_s > TRIAL_WAIT_S / 2;
	struct err err;

	doctor_fact_number(check, "wait_s", trial->line_wait_s);
	doctor_fact_number(check, "slept_s", TRIAL_WAIT_S);
	if (is_seen)
		doctor_say(check, DOCTOR_OK, "time off the CPU is found at the lines that wait");
	else if (try_child(&err))
		blame_waiting(check, &err);
	else if (!trial->profile)
		doctor_say(check, DOCTOR_NOTE, "not tried: the kernel permits to look at waiting threads");
	else
		doctor_say(check, DOCTOR_LIMITED,
			   "the test program's sleep was not found at its line; the machine may be busy");
}

/* The preloaded library whose malloc we were given, as programs are, instead of the C library's; NULL:
 * none.  (A heatline that was built with a sanitizer brings one along for itself.) */
static const char *other_allocator(void)
{
	const char *preload = getenv("LD_PRELOAD");
	Dl_info ours, libc;

	if ((!preload || !*preload) && access("/etc/ld.so.preload", F_OK) != 0)
		return NULL;
	if (!dladdr(dlsym(RTLD_DEFAULT, "malloc"), &ours) ||
	    !dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc) ||
	    strcmp(ours.dli_fname, libc.dli_fname) == 0)
		return NULL;
	return path_basename(ours.dli_fname);
}

void doctor_check_memory(struct doctor *doctor, const struct trial *trial)
{
	struct doctor_check *check = doctor_add(doctor, "memory");
	const char *allocator = other_allocator();
	bool is_seen = trial->line_alloc_bytes > TRIAL_MEMORY_BYTES / 2;

	doctor_fact_number(check, "allocated_bytes", TRIAL_MEMORY_BYTES);
	doctor_fact_number(check, "seen_bytes", trial->line_alloc_bytes);
	if (allocator)
		doctor_fact_text(check, "preloaded_allocator", allocator);
	if (!trial->profile) {
		doctor_say(check, DOCTOR_NOTE, "not tried");
	} else if (!is_seen) {
		doctor_say(check, DOCTOR_LIMITED, "what the test program allocated was not found at its line");
	} else if (allocator) {
		doctor_say(check, DOCTOR_LIMITED,
			   "allocations are seen, but %s is preloaded, whose C++ new and delete are not",
			   allocator);
		doctor_fix(check, "env -u LD_PRELOAD heatline run prog.py");
	} else {
		doctor_say(check, DOCTOR_OK, "Python's allocations and the C library's are seen at their lines");
	}
}
