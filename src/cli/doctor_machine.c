/* doctor_machine.c - what the kernel permits here, and what the machine has. */
#include "cli/doctor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/trial.h"
#include "collect/folder.h"
#include "collect/nvml.h"
#include "collect/runs.h"
#include "remote/perf_clock.h"
#include "remote/remote.h"

#define TRIAL_PERIOD_NS 10000000u /* of a clock that is closed at once */
#define ROOM_WANTED_BYTES ((double)(48u << 20)) /* journal, and the rings of some processes */

/* Docker's mark, and podman's. */
static bool is_container(void)
{
	return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

/* ---- clocks ---- */

static enum perf_clock_result try_clock(bool has_kernel)
{
	struct perf_clock clock;
	enum perf_clock_result result = perf_clock_open(&clock, 0, TRIAL_PERIOD_NS, has_kernel);

	if (result == PERF_CLOCK_OK)
		perf_clock_close(&clock);
	return result;
}

/* How often the kernel looks at its clocks. */
static double tick_ms(void)
{
	struct timespec step = {0, 4000000};

	clock_getres(CLOCK_MONOTONIC_COARSE, &step);
	return (double)step.tv_nsec / 1e6;
}

static void fix_perf(struct doctor_check *check, const struct perf_refusal *refusal)
{
	if (refusal->permit)
		doctor_fix(check, "%s", refusal->permit);
}

void doctor_check_clock(struct doctor *doctor)
{
	struct doctor_check *check = doctor_add(doctor, "clock");
	enum perf_clock_result result = try_clock(false);
	struct perf_refusal refusal;

	doctor_fact_truth(check, "has_perf", result == PERF_CLOCK_OK);
	doctor_fact_number(check, "tick_ms", tick_ms());
	if (result == PERF_CLOCK_OK) {
		doctor_say(check, DOCTOR_OK, "perf events are permitted: shares are right for loops of any length");
		return;
	}
	perf_clock_refuse(result, &refusal);
	doctor_say(check, DOCTOR_LIMITED,
		   "only the kernel's tick of %g ms, which loops can be in step with; no perf events: %s",
		   tick_ms(), refusal.why);
	fix_perf(check, &refusal);
}

/* ---- other processes ---- */

/* What a process that is no parent of ours, as heatline is none of another's, is told when it looks
 * at us: our child. */
static int try_other(struct err *err)
{
	static const uint64_t word = 1;
	pid_t target = getpid();
	struct err *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return err_set(err, ERR_SYSTEM, "there is no memory to try it");
	err_set(shared, ERR_SYSTEM, "no process can be started");
	pid_t pid = fork();
	if (pid == 0) {
		err_clear(shared);
		remote_try_memory(target, (uintptr_t)&word, "heatline attach PID", shared);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	*err = *shared;
	munmap(shared, sizeof(*shared));
	return -(int)err->code;
}

void doctor_check_attach(struct doctor *doctor)
{
	struct doctor_check *check = doctor_add(doctor, "attach");
	struct perf_refusal refusal;
	struct err err;
	int status = try_other(&err);
	enum perf_clock_result result = try_clock(true);

	doctor_fact_truth(check, "may_read", status == 0);
	doctor_fact_truth(check, "has_system_time", result == PERF_CLOCK_OK);
	if (status) {
		doctor_blame(check, DOCTOR_NO, &err);
		return;
	}
	if (result == PERF_CLOCK_OK) {
		doctor_say(check, DOCTOR_OK, "attach, dump and top may look at %s",
			   geteuid() == 0 ? "any process" : "your processes; at others' with sudo");
		return;
	}
	perf_clock_refuse(result, &refusal);
	doctor_say(check, DOCTOR_LIMITED,
		   "attach, dump and top work, but do not tell system time apart (no perf events: %s)", refusal.why);
	fix_perf(check, &refusal);
}

/* ---- shared memory ---- */

static double room_bytes(const char *place)
{
	struct statvfs room;

	if (statvfs(place, &room) != 0)
		return 0;
	return (double)room.f_bavail * (double)room.f_frsize;
}

/* Mounted larger from outside, or here. */
static void fix_room(struct doctor_check *check)
{
	doctor_fix(check, is_container() ? "docker run --shm-size=1g"
					 : "sudo mount -o remount,size=1g /dev/shm");
}

void doctor_check_shared_memory(struct doctor *doctor)
{
	struct doctor_check *check = doctor_add(doctor, "shared_memory");
	const char *places[FOLDER_PLACES];
	char *folder;
	struct control *control;
	struct err err;

	if (folder_new(&folder, &control, &err)) {
		doctor_blame(check, DOCTOR_NO, &err);
		return;
	}
	char *place = path_dirname(folder);
	double free_mb = room_bytes(place) / 1e6;
	folder_remove(folder, control);
	folder_places(places);
	doctor_fact_text(check, "place", place);
	doctor_fact_number(check, "free_mb", free_mb);
	if (strcmp(place, places[0]) != 0 && access(places[0], W_OK) == 0) {
		doctor_say(check, DOCTOR_LIMITED, "%s has %.0f MB, which the program may need itself; %s is used, which may be slower",
			   places[0], room_bytes(places[0]) / 1e6, place);
		fix_room(check);
	} else if (strcmp(place, places[0]) != 0) {
		doctor_say(check, DOCTOR_LIMITED, "%s cannot be written to; %s is used, which may be slower",
			   places[0], place);
		doctor_fix(check, "sudo chmod 1777 %s", places[0]);
	} else if (free_mb * 1e6 < ROOM_WANTED_BYTES) {
		doctor_say(check, DOCTOR_LIMITED,
			   "%.0f MB free in %s: enough for few processes, the rest is lost and counted", free_mb,
			   place);
		fix_room(check);
	} else {
		bool is_large = free_mb >= 10e3;

		doctor_say(check, DOCTOR_OK, "%.0f %s free in %s for what is measured",
			   is_large ? free_mb / 1e3 : free_mb, is_large ? "GB" : "MB", place);
	}
	free(place);
}

/* ---- GPU ---- */

bool doctor_has_gpu(void)
{
	struct nvml *nvml = nvml_open(NULL);
	bool has_gpu = nvml != NULL;

	nvml_close(nvml);
	return has_gpu;
}

/* Why the GPU work of the test program could not be measured kernel by kernel; NULL: it could. */
static const char *gpu_complaint(const struct trial *trial)
{
	const struct profile *profile = trial->profile;

	if (!profile)
		return "not tried";
	if (profile->gpu.note)
		return profile->gpu.note;
	for (uint32_t i = 0; i < profile->quality.warning_count; i++) {
		const char *at = strstr(profile->quality.warnings[i], "cannot be measured: ");

		if (at && strstr(profile->quality.warnings[i], "CUDA"))
			return at + strlen("cannot be measured: ");
	}
	return trial->profiled.cupti[0] ? NULL : "the driver has not let CUPTI in";
}

static void say_gpu(struct doctor_check *check, const struct nvml *nvml, const struct trial *trial)
{
	char name[96], bus[16];
	double memory_bytes;
	const char *complaint = gpu_complaint(trial);

	nvml_describe(nvml, 0, name, bus, &memory_bytes);
	doctor_fact_text(check, "device", name);
	doctor_fact_number(check, "devices", nvml_count(nvml));
	doctor_fact_truth(check, "has_cupti", complaint == NULL);
	doctor_fact_text(check, "cupti", trial->profiled.cupti);
	if (!complaint) {
		doctor_say(check, DOCTOR_OK, "%s (%u in all): kernels and copies are timed by CUPTI", name,
			   nvml_count(nvml));
		return;
	}
	doctor_say(check, DOCTOR_LIMITED, "%s: only how busy it is, not what each line launched (%s)", name,
		   complaint);
	if (strstr(complaint, "not installed"))
		doctor_fix(check, "%s -m pip install nvidia-cuda-cupti", trial->python);
}

void doctor_check_gpu(struct doctor *doctor, const struct trial *trial)
{
	struct doctor_check *check = doctor_add(doctor, "gpu");
	struct err err;
	struct nvml *nvml = nvml_open(&err);

	if (nvml) {
		say_gpu(check, nvml, trial);
		nvml_close(nvml);
	} else if (access("/proc/driver/nvidia/version", F_OK) == 0) {
		doctor_blame(check, DOCTOR_LIMITED, &err); /* there is one, but not for us */
		doctor_fix(check, is_container() ? "docker run --gpus all" : "install NVIDIA's driver again");
	} else {
		doctor_say(check, DOCTOR_NOTE, "no NVIDIA GPU here");
	}
}

/* ---- runs ---- */

void doctor_check_left_behind(struct doctor *doctor)
{
	struct doctor_check *check = doctor_add(doctor, "left_behind");
	struct runs runs;
	uint32_t lost = 0;

	runs_init(&runs);
	for (uint32_t i = 0; i < runs.entries.count; i++)
		lost += !runs.entries.items[i].is_alive;
	doctor_fact_number(check, "runs", lost);
	if (lost) {
		doctor_say(check, DOCTOR_NOTE, "%u %s whose heatline was killed can be recovered", lost,
			   lost == 1 ? "run" : "runs");
		doctor_fix(check, "heatline recover");
	} else {
		doctor_say(check, DOCTOR_OK, "no run waits to be recovered");
	}
	runs_fini(&runs);
}
