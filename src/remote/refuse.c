/* refuse.c - why the kernel does not let us look, and what permits it.
 *
 * The kernel says EPERM whatever the reason, so the reasons are looked at in
 * turn: the first that holds is the one that has to be removed first. */
#include "remote/remote.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/procfs.h"

#define CAP_SYS_PTRACE_BIT 19

/* Whether a filter forbids the call itself: then it fails on ourselves too. */
static bool is_filtered(void)
{
	char from = 1, to = 0;
	struct iovec local = { &to, 1 }, there = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &there, 1, 0) != 1;
}

static bool has_ptrace_right(void)
{
	char status[4096];
	uint64_t rights = 0;

	return procfs_read(getpid(), "status", status, sizeof(status)) > 0 &&
	       procfs_number(status, "CapEff", 0, 16, &rights) && (rights >> CAP_SYS_PTRACE_BIT & 1) != 0;
}

/* Yama's setting; 0 where there is none. */
static int yama_scope(void)
{
	char digit = '0';
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");

	if (file != NULL) {
		if (fread(&digit, 1, 1, file) != 1)
			digit = '0';
		fclose(file);
	}
	return digit >= '0' && digit <= '9' ? digit - '0' : 0;
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
