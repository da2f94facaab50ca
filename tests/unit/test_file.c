/* test_file.c - reading with a maximum; writing so that the old file survives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[2][sizeof(folder) + 256];
	static int turn;
	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static int make_folder(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/heatline-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		unlink(in_folder(entry->d_name));
	if (dir)
		closedir(dir);
	return rmdir(folder);
}

static int count_files(void)
{
	int count = 0;
	DIR *dir = opendir(folder);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void check_content(const char *path, const char *expected)
{
	char *data;
	size_t size;
	assert_int_equal(file_read(path, 1 << 20, &data, &size, NULL), 0);
	assert_int_equal(size, strlen(expected));
	assert_string_equal(data, expected);
	free(data);
}

static void test_write_and_read(void **state)
{
	struct err err;
	assert_int_equal(file_write(in_folder("a"), "one", 3, &err), 0);
	check_content(in_folder("a"), "one");
	assert_int_equal(file_write(in_folder("a"), "second", 6, &err), 0);
	check_content(in_folder("a"), "second");
	assert_int_equal(count_files(), 1);
}

static void test_read_refuses(void **state)
{
	struct err err;
	char *data = (char *)"untouched";
	size_t size = 7;
	assert_int_equal(file_read(in_folder("none"), 10, &data, &size, &err), -(int)ERR_NOT_FOUND);
	assert_non_null(strstr(err.message, "No such file"));
	assert_int_equal(file_read(folder, 10, &data, &size, &err), -(int)ERR_IO);
	assert_non_null(strstr(err.message, "it is a folder"));
	file_write(in_folder("large"), "12345678901", 11, &err);
	int result = file_read(in_folder("large"), 10, &data, &size, &err);
	assert_int_equal(result, -(int)ERR_TOO_LARGE);
	assert_string_equal(data, "untouched");
	assert_int_equal(size, 7);
	assert_int_equal(file_read(in_folder("large"), 11, &data, &size, &err), 0);
	free(data);
}

static void test_read_of_a_pipe_without_writer_ends(void **state)
{
	char *data;
	size_t size;
	assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
	assert_int_equal(file_read(in_folder("pipe"), 100, &data, &size, NULL), 0);
	assert_int_equal(size, 0);
	free(data);
	assert_int_equal(file_check_writable(in_folder("pipe"), NULL), 0);
}

static void test_read_of_a_pipe_waits_for_its_writer(void **state)
{
	char *data, path[40];
	size_t size;
	int ends[2];
	struct err err;
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	assert_int_equal(file_read(path, 100, &data, &size, &err), -(int)ERR_IO);
	assert_int_equal(file_read_within(path, 100, 10, &data, &size, &err), -(int)ERR_IO);
	assert_non_null(strstr(err.message, "has written nothing"));
	pid_t writer = fork();
	if (writer == 0) {
		usleep(50000);
		(void)!write(ends[1], "late", 4);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(file_read_within(path, 100, 20000, &data, &size, &err), 0);
	assert_string_equal(data, "late");
	free(data);
	close(ends[0]);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
}

static void test_begin_and_same(void **state)
{
	char bytes[4];
	char first[sizeof(folder) + 8];
	snprintf(first, sizeof(first), "%s/first", folder);
	assert_int_equal(file_begin(first, bytes, 4), 0);
	assert_false(file_is_same(first, first));
	file_write(first, "123456", 6, NULL);
	assert_int_equal(file_begin(first, bytes, 4), 4);
	assert_memory_equal(bytes, "1234", 4);
	assert_int_equal(symlink(first, in_folder("link")), 0);
	assert_true(file_is_same(in_folder("link"), first));
	file_write(in_folder("other"), "123456", 6, NULL);
	assert_false(file_is_same(in_folder("other"), first));
	assert_int_equal(file_begin(folder, bytes, 4), 0);
	assert_int_equal(file_begin("/dev/zero", bytes, 4), 0);
}

static void test_missing_folder_is_named(void **state)
{
	struct err err;
	assert_int_equal(file_write(in_folder("no/such/file"), "x", 1, &err), -(int)ERR_NOT_FOUND);
	assert_non_null(strstr(err.message, "the folder '"));
	assert_non_null(strstr(err.message, "no/such' does not exist"));
	assert_int_equal(file_check_writable(in_folder("no/file"), &err), -(int)ERR_NOT_FOUND);
	file_write(in_folder("plain"), "x", 1, &err);
	assert_int_equal(file_write(in_folder("plain/file"), "x", 1, &err), -(int)ERR_NOT_FOUND);
	assert_non_null(strstr(err.message, "is not a folder"));
	assert_int_equal(file_write(folder, "x", 1, &err), -(int)ERR_IO);
	assert_non_null(strstr(err.message, "it is a folder"));
}

static void test_full_disk_is_told(void **state)
{
	struct err err;
	assert_int_equal(file_write("/dev/full", "x", 1, &err), -(int)ERR_NO_SPACE);
	assert_non_null(strstr(err.message, "the disk is full"));
}

static void test_abandon_keeps_the_old_file(void **state)
{
	struct file_writer writer;
	file_write(in_folder("a"), "old", 3, NULL);
	assert_int_equal(file_writer_open(&writer, in_folder("a"), NULL), 0);
	fputs("half of the new", writer.stream);
	check_content(in_folder("a"), "old");
	file_writer_abandon(&writer);
	check_content(in_folder("a"), "old");
	assert_int_equal(count_files(), 1);
	file_writer_abandon(&writer);
}

static void test_failed_write_keeps_the_old_file(void **state)
{
	struct file_writer writer;
	struct err err;
	file_write(in_folder("a"), "old", 3, NULL);
	assert_int_equal(file_writer_open(&writer, in_folder("a"), NULL), 0);
	/* The disk fills up half way: the stream's descriptor leads to a full one. */
	int full = open("/dev/full", O_WRONLY);
	dup2(full, fileno(writer.stream));
	close(full);
	fputs("new", writer.stream);
	assert_int_equal(file_writer_commit(&writer, &err), -(int)ERR_NO_SPACE);
	check_content(in_folder("a"), "old");
	assert_int_equal(count_files(), 1);
}

static void test_mode_and_link_are_kept(void **state)
{
	struct stat info;
	file_write(in_folder("a"), "old", 3, NULL);
	assert_int_equal(chmod(in_folder("a"), 0640), 0);
	assert_int_equal(symlink("a", in_folder("link")), 0);
	assert_int_equal(file_write(in_folder("link"), "new", 3, NULL), 0);
	check_content(in_folder("a"), "new");
	assert_int_equal(lstat(in_folder("link"), &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(stat(in_folder("a"), &info), 0);
	assert_int_equal(info.st_mode & 0777, 0640);
}

static void test_link_to_what_is_not_there_yet(void **state)
{
	struct stat info;
	struct err err;
	assert_int_equal(symlink("second", in_folder("first")), 0);
	assert_int_equal(symlink("file", in_folder("second")), 0);
	assert_int_equal(file_write(in_folder("first"), "new", 3, NULL), 0);
	check_content(in_folder("file"), "new");
	assert_int_equal(lstat(in_folder("first"), &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(symlink("round", in_folder("round")), 0);
	assert_int_not_equal(file_write(in_folder("round"), "new", 3, NULL), 0);
	assert_int_equal(symlink("no/file", in_folder("nowhere")), 0);
	assert_int_equal(file_write(in_folder("nowhere"), "new", 3, &err), -(int)ERR_NOT_FOUND);
	assert_non_null(strstr(err.message, "/no' does not exist"));
	assert_int_equal(count_files(), 5);
}

static void test_pipe_behind_links_is_written_to(void **state)
{
	char path[40], bytes[8] = "";
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	assert_int_equal(file_write(path, "text", 4, NULL), 0);
	assert_int_equal(read(ends[0], bytes, sizeof(bytes)), 4);
	assert_string_equal(bytes, "text");
	close(ends[0]);
	close(ends[1]);
}

/* In a child that is not root: what is said of a file that it may not change. */
static void test_file_that_may_not_be_changed_is_named(void **state)
{
	file_write(in_folder("a"), "old", 3, NULL);
	assert_int_equal(chmod(in_folder("a"), 0444), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	pid_t child = fork();
	if (child == 0) {
		struct err err;
		bool is_nobody = geteuid() != 0 || setuid(65534) == 0;
		bool is_refused = file_check_writable(in_folder("a"), &err) == -(int)ERR_PERMISSION;
		_exit(is_nobody && is_refused && strstr(err.message, "change this file") ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	check_content(in_folder("a"), "old");
}

static void test_check_writable_leaves_nothing(void **state)
{
	assert_int_equal(file_check_writable(in_folder("a"), NULL), 0);
	assert_int_equal(count_files(), 0);
	assert_int_equal(file_check_writable("/dev/null", NULL), 0);
}

static void test_clocks_run(void **state)
{
	uint64_t start = clock_monotonic_ns(), cpu = clock_thread_cpu_ns();
	while (clock_thread_cpu_ns() - cpu < 1000000)
		continue;
	assert_true(clock_monotonic_ns() - start >= 900000);
	assert_true(clock_process_cpu_ns() >= clock_thread_cpu_ns() - cpu);
	assert_true(clock_epoch_s() > 1.6e9);
}

#define in_new_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_new_folder(test_write_and_read),
		in_new_folder(test_read_refuses),
		in_new_folder(test_read_of_a_pipe_without_writer_ends),
		cmocka_unit_test(test_read_of_a_pipe_waits_for_its_writer),
		in_new_folder(test_begin_and_same),
		in_new_folder(test_missing_folder_is_named),
		in_new_folder(test_full_disk_is_told),
		in_new_folder(test_abandon_keeps_the_old_file),
		in_new_folder(test_failed_write_keeps_the_old_file),
		in_new_folder(test_mode_and_link_are_kept),
		in_new_folder(test_link_to_what_is_not_there_yet),
		cmocka_unit_test(test_pipe_behind_links_is_written_to),
		in_new_folder(test_file_that_may_not_be_changed_is_named),
		in_new_folder(test_check_writable_leaves_nothing),
		cmocka_unit_test(test_clocks_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
