/* refuse.c - why the kernel does not let us look, and what permits it.
 *
 * The kernel says EPERM whatever the reason, so the reasons are looked at in
 * turn: the first that holds is the one that has to be removed first. */
#include "remote/perf_clock.h"
#include "remote/remote.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/procfs.h"

#define CAP_SYS_PTRACE_BIT 19
#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT 38
#define SECCOMP_FILTERED 2 /* in /proc/PID/status */

/* Whether a filter forbids the call itself: then it fails on ourselves too. */
static bool is_filtered(void)
{
	char from = 1, to = 0;
	struct iovec local = { &to, 1 }, there = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &there, 1, 0) != 1;
}

/* A number of our own status; 0 where it is not told. */
static uint64_t own_number(const char *key, int base)
{
	char status[4096];
	uint64_t number = 0;

	if (procfs_read(getpid(), "status", status, sizeof(status)) <= 0 ||
	    !procfs_number(status, key, 0, base, &number))
		return 0;
	return number;
}

static bool has_right(unsigned bit)
{
	return (own_number("CapEff", 16) >> bit & 1) != 0;
}

static bool has_ptrace_right(void)
{
	return has_right(CAP_SYS_PTRACE_BIT);
}

/* A setting of the kernel; otherwise where there is none. */
static int kernel_setting(const char *path, int otherwise)
{
	FILE *file = fopen(path, "re");
	int value;

	if (file == NULL)
		return otherwise;
	if (fscanf(file, "%d", &value) != 1)
		value = otherwise;
	fclose(file);
	return value;
}

/* Yama's setting; 0 where there is none. */
static int yama_scope(void)
{
	return kernel_setting("/proc/sys/kernel/yama/ptrace_scope", 0);
}

static int refuse_other_user(pid_t pid, uint64_t owner, const char *command, struct err *err)
{
	const struct passwd *user = getpwuid((uid_t)owner);
	char name[64];

	if (user != NULL)
		snprintf(name, sizeof(name), "%s", user->pw_name);
	else
		snprintf(name, sizeof(name), "number %llu", (unsigned long long)owner);
	return err_set(err, ERR_PERMISSION, "process %d belongs to another user, %s; type: sudo %s",
		       (int)pid, name, command);
}

int remote_refuse(pid_t pid, int error_number, const char *command, struct err *err)
{
	char status[4096];
	uint64_t owner = geteuid();

	if (error_number == ESRCH || error_number == ENOENT ||
	    procfs_read(pid, "status", status, sizeof(status)) <= 0)
		return err_set(err, ERR_TARGET, "process %d has ended", (int)pid);
	if (error_number == EFAULT || error_number == EIO)
		return err_set(err, ERR_TARGET, "the memory of process %d cannot be read where its Python "
			       "should be", (int)pid);
	if (is_filtered())
		return err_set(err, ERR_PERMISSION,
			       "a seccomp filter of this container forbids reading another process; start it "
			       "with: docker run --cap-add SYS_PTRACE");
	if (geteuid() == 0 && !has_ptrace_right())
		return err_set(err, ERR_PERMISSION,
			       "root has no right to look at other processes in this container "
			       "(CAP_SYS_PTRACE); start it with: docker run --cap-add SYS_PTRACE");
	procfs_number(status, "Uid", 1, 10, &owner);
	if (owner != geteuid() && !has_ptrace_right())
		return refuse_other_user(pid, owner, command, err);
	switch (has_ptrace_right() ? 0 : yama_scope()) {
	case 0:
		break;
	case 1:
		return err_set(err, ERR_PERMISSION,
			       "this system lets a process look only at its children (yama ptrace_scope 1); "
			       "type: sudo %s, or permit it: sudo sysctl kernel.yama.ptrace_scope=0",
			       command);
	case 2:
		return err_set(err, ERR_PERMISSION,
			       "this system lets only root look at other processes (yama ptrace_scope 2); "
			       "type: sudo %s", command);
	default:
		return err_set(err, ERR_PERMISSION,
			       "this system lets nobody look at other processes until it is started again "
			       "(yama ptrace_scope 3); set kernel.yama.ptrace_scope=1 in /etc/sysctl.conf "
			       "and restart it");
	}
	return err_set(err, ERR_PERMISSION,
		       "the kernel does not let process %d be looked at (%s): it has protected itself, or "
		       "runs in a user namespace of its own; type: sudo %s",
		       (int)pid, strerror(error_number), command);
}

int remote_try_memory(pid_t pid, py_addr addr, const char *command, struct err *err)
{
	uint64_t word;
	struct iovec local = { &word, sizeof(word) };
	struct iovec there = { (void *)(uintptr_t)addr, sizeof(word) };

	if (process_vm_readv(pid, &local, 1, &there, 1, 0) == (ssize_t)sizeof(word))
		return 0;
	return remote_refuse(pid, errno, command, err);
}

void perf_clock_refuse(enum perf_clock_result refused, struct perf_refusal *refusal)
{
	int paranoid = kernel_setting("/proc/sys/kernel/perf_event_paranoid", -1);

	refusal->permit = NULL;
	if (refused == PERF_CLOCK_ABSENT) {
		snprintf(refusal->why, sizeof(refusal->why), "this kernel has none");
	} else if (refused == PERF_CLOCK_FULL) {
		snprintf(refusal->why, sizeof(refusal->why),
			 "no descriptor or no memory that may be locked is left");
	} else if (paranoid >= 2 && !has_right(CAP_PERFMON_BIT) && !has_right(CAP_SYS_ADMIN_BIT)) {
		snprintf(refusal->why, sizeof(refusal->why), "kernel.perf_event_paranoid is %d", paranoid);
		refusal->permit = "sudo sysctl kernel.perf_event_paranoid=1";
	} else {
		snprintf(refusal->why, sizeof(refusal->why), "a seccomp filter or a security module forbids them");
		if (own_number("Seccomp", 10) == SECCOMP_FILTERED)
			refusal->permit = "docker run --cap-add PERFMON";
	}
}
