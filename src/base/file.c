/* file.c - read whole files, replace whole files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define READ_STEP_BYTES 65536u
#define MAX_LINKS 40u /* as the kernel has it */
#define WRITE_BYTES 32768u /* at a time: by 4 KB, as stdio has it, a profile takes ten calls and more */

/* Whether there is something to be read from a pipe, or its end. */
static bool has_come(int fd, int patience_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	int count = poll(&wait, 1, patience_ms);
	return count > 0 || (count < 0 && errno == EINTR);
}

/* Reads to the end rather than trusting st_size: files below /proc have none. */
static int read_stream(int fd, size_t maximum, int patience_ms, char **data, size_t *size)
{
	size_t room = READ_STEP_BYTES, used = 0;
	char *bytes = mem_alloc(room);
	for (;;) {
		if (room - used < READ_STEP_BYTES / 2) {
			room *= 2;
			bytes = mem_resize(bytes, room, 1);
		}
		ssize_t got = read(fd, bytes + used, room - used - 1);
		if (got < 0 && (errno == EINTR || (errno == EAGAIN && has_come(fd, patience_ms))))
			continue;
		if (got < 0 || (size_t)got > maximum - used) {
			int error_number = got < 0 ? errno : EFBIG;
			free(bytes);
			return error_number;
		}
		if (got == 0)
			break;
		used += (size_t)got;
	}
	bytes[used] = '\0';
	*data = bytes;
	*size = used;
	return 0;
}

int file_read(const char *path, size_t maximum, char **data, size_t *size, struct err *err)
{
	return file_read_within(path, maximum, 0, data, size, err);
}

int file_read_within(const char *path, size_t maximum, int patience_ms, char **data, size_t *size,
		     struct err *err)
{
	/* O_NONBLOCK: opening a pipe that nobody writes to must not hang. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot read '%s'", path);
	struct stat info;
	int result;
	if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
		result = err_set(err, ERR_IO, "cannot read '%s': it is a folder", path);
	} else {
		int error_number = read_stream(fd, maximum, patience_ms, data, size);
		if (error_number == EFBIG)
			result = err_set(err, ERR_TOO_LARGE,
					 "cannot read '%s': it is larger than %zu MiB", path,
					 maximum >> 20);
		else if (error_number == EAGAIN)
			result = err_set(err, ERR_IO, "cannot read '%s': who writes to it has written "
						      "nothing for %d s", path, patience_ms / 1000);
		else if (error_number)
			result = err_set_errno(err, error_number, "cannot read '%s'", path);
		else
			result = 0;
	}
	close(fd);
	return result;
}

size_t file_begin(const char *path, char *bytes, size_t room)
{
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	bool is_regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
	ssize_t got = is_regular ? read(fd, bytes, room) : 0;
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

bool file_is_same(const char *path, const char *other)
{
	struct stat one, two;
	return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

/* The sentence for a file that cannot be made or finished; real: where its links lead. */
static int cannot_write(struct err *err, const char *path, const char *real, int error_number)
{
	char *folder = path_dirname(real);
	struct stat info;
	int result;
	if (error_number == ENOENT && stat(folder, &info) != 0)
		result = err_set(err, ERR_NOT_FOUND,
				 "cannot write '%s': the folder '%s' does not exist", path, folder);
	else if (error_number == ENOTDIR)
		result = err_set(err, ERR_NOT_FOUND, "cannot write '%s': '%s' is not a folder",
				 path, folder);
	else if ((error_number == EACCES || error_number == EPERM) && stat(real, &info) == 0 &&
		 access(folder, W_OK) == 0)
		result = err_set(err, ERR_PERMISSION,
				 "cannot write '%s': no permission to change this file", path);
	else if (error_number == EACCES || error_number == EPERM)
		result = err_set(err, ERR_PERMISSION,
				 "cannot write '%s': no permission to write in '%s'", path, folder);
	else if (error_number == EROFS)
		result = err_set(err, ERR_PERMISSION,
				 "cannot write '%s': the file system is read-only", path);
	else if (error_number == ENOSPC || error_number == EDQUOT)
		result = err_set(err, ERR_NO_SPACE, "cannot write '%s': the disk is full", path);
	else if (error_number == EISDIR)
		result = err_set(err, ERR_IO, "cannot write '%s': it is a folder", path);
	else
		result = err_set_errno(err, error_number, "cannot write '%s'", path);
	free(folder);
	return result;
}

static bool is_special_file(const struct stat *info)
{
	return !S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode);
}

/* What a link that leads to nothing says, or NULL: it is none. */
static char *dangling_target(const char *path)
{
	struct stat info;
	char target[PATH_MAX];
	ssize_t size = stat(path, &info) == 0 ? -1 : readlink(path, target, sizeof(target));
	if (size < 0 || size == sizeof(target))
		return NULL;
	target[size] = '\0';
	char *folder = path_dirname(path), *whole = path_join(folder, target);
	free(folder);
	return whole;
}

/* Where links lead, also to what is not there yet; NULL with errno set where they go round.
 * What has no path (a pipe at /dev/stdout) keeps its name. */
static char *follow_links(const char *path)
{
	char *real = realpath(path, NULL);
	if (real)
		return real;
	char *at = mem_copy_text(path);
	for (unsigned hop = 0; hop < MAX_LINKS; hop++) {
		char *next = dangling_target(at);
		if (!next)
			return at;
		free(at);
		at = next;
	}
	free(at);
	errno = ELOOP;
	return NULL;
}

/* Makes a file that nobody else has, beside path; -1 with errno set. */
static int open_beside(const char *path, mode_t mode, char **temporary)
{
	size_t room = strlen(path) + 40;
	char *name = mem_alloc(room);
	int fd = -1;
	for (unsigned attempt = 0; attempt < 100; attempt++) {
		snprintf(name, room, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	if (fd < 0) {
		int error_number = errno;
		free(name);
		errno = error_number;
		return -1;
	}
	*temporary = name;
	return fd;
}

/* Opens the descriptor to write to; -1 with errno set. */
static int open_for_writing(struct file_writer *writer)
{
	struct stat info;
	bool exists = stat(writer->path, &info) == 0;
	if (exists && S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (exists && is_special_file(&info))
		return open(writer->path, O_WRONLY | O_CLOEXEC);
	/* A file made read-only is meant to stay: rename would not ask. */
	if (exists && access(writer->path, W_OK) != 0)
		return -1;
	int fd = open_beside(writer->path, 0666, &writer->temporary);
	if (fd >= 0 && exists)
		(void)fchmod(fd, info.st_mode & 0777); /* not all file systems keep modes */
	return fd;
}

int file_writer_open(struct file_writer *writer, const char *path, struct err *err)
{
	*writer = (struct file_writer){.path = follow_links(path)};
	int fd = writer->path ? open_for_writing(writer) : -1;
	if (fd >= 0) {
		writer->stream = fdopen(fd, "w");
		if (writer->stream) {
			writer->room = mem_alloc(WRITE_BYTES);
			setvbuf(writer->stream, writer->room, _IOFBF, WRITE_BYTES);
			return 0;
		}
		close(fd);
	}
	int result = cannot_write(err, path, writer->path ? writer->path : path, errno);
	file_writer_abandon(writer);
	return result;
}

/* Closes the stream and says what went wrong while it was written: 0 or an
 * errno value.  stdio remembers that an earlier write failed, but not why;
 * a full disk is by far the most likely reason, and can be asked for. */
static int close_stream(struct file_writer *writer)
{
	bool had_error = ferror(writer->stream);
	struct statvfs disk;
	bool is_full = had_error && fstatvfs(fileno(writer->stream), &disk) == 0 &&
		       disk.f_bavail == 0;
	int error_number = fflush(writer->stream) != 0 ? errno : 0;
	if (fclose(writer->stream) != 0 && !error_number)
		error_number = errno;
	writer->stream = NULL;
	if (had_error && !error_number)
		error_number = is_full ? ENOSPC : EIO;
	return error_number;
}

/* Its stream is closed, or there was none. */
static void forget(struct file_writer *writer)
{
	free(writer->room);
	free(writer->temporary);
	free(writer->path);
	*writer = (struct file_writer){0};
}

int file_writer_commit(struct file_writer *writer, struct err *err)
{
	int error_number = close_stream(writer);
	if (!error_number && writer->temporary &&
	    rename(writer->temporary, writer->path) != 0)
		error_number = errno;
	if (error_number) {
		int result = cannot_write(err, writer->path, writer->path, error_number);
		file_writer_abandon(writer);
		return result;
	}
	forget(writer);
	return 0;
}

void file_writer_abandon(struct file_writer *writer)
{
	if (writer->stream)
		fclose(writer->stream);
	if (writer->temporary)
		unlink(writer->temporary);
	forget(writer);
}

int file_write(const char *path, const void *data, size_t size, struct err *err)
{
	struct file_writer writer;
	int result = file_writer_open(&writer, path, err);
	if (result)
		return result;
	if (size && fwrite(data, 1, size, writer.stream) != size) {
		result = cannot_write(err, writer.path, writer.path, errno);
		file_writer_abandon(&writer);
		return result;
	}
	return file_writer_commit(&writer, err);
}

int file_check_writable(const char *path, struct err *err)
{
	struct stat info;
	if (stat(path, &info) == 0 && is_special_file(&info))
		return 0; /* opening a pipe would wait for its reader */
	struct file_writer writer;
	int result = file_writer_open(&writer, path, err);
	if (result == 0)
		file_writer_abandon(&writer);
	return result;
}
