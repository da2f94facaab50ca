/* open.c - from a pid or a core to the interpreter's runtime and layout. */
#include "remote/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/procfs.h"
#include "base/text.h"
#include "remote/core.h"
#include "remote/elf_file.h"
#include "remote/maps.h"

#define DATA_BYTES_MAX (8u << 20) /* of the interpreter's own variables, searched for its version */
#define VERSION_FIRST 0x0308u

/* Where the interpreter's file was loaded and what it has. */
struct image {
	uint64_t bias; /* to add to an address of the file */
	uint64_t code; /* an address inside its code */
	uint64_t runtime, code_type, version; /* addresses; 0: not there */
	struct elf_piece data[2];             /* .data and .bss, moved */
};

enum symbol { SYMBOL_RUNTIME, SYMBOL_CODE_TYPE, SYMBOL_VERSION, SYMBOL_COUNT };
static const char *const symbol_names[SYMBOL_COUNT] = { "_PyRuntime", "PyCode_Type", "Py_Version" };

/* ---- the file ---- */

/* Opens the file of a range as the process sees it.  The executable can be
 * opened also when it has been replaced meanwhile. */
static int open_file(struct elf_file *elf, const struct remote *remote, const char *path,
		     bool is_executable)
{
	char exe[40];

	if (remote->core != NULL)
		return core_find_file(remote->core, path) == CORE_FILE_SAME ? elf_open(elf, path) : -ENOENT;
	if (!is_executable)
		return elf_open_of(elf, remote->pid, path);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)remote->pid);
	return elf_open(elf, exe);
}

/* By how much the file was moved, from its first range. */
static bool find_bias(const struct elf_file *elf, const struct maps *maps, const char *path,
		      struct image *image)
{
	uint64_t offset, address;
	bool is_found = false;

	if (!elf_first_load(elf, &offset, &address))
		return false;
	for (uint32_t i = 0; i < maps->ranges.count; i++) {
		const struct map_range *range = &maps->ranges.items[i];

		if (range->path != path)
			continue;
		if (!is_found && range->offset == offset) {
			image->bias = range->start - address;
			is_found = true;
		}
		if (range->is_executable && image->code == 0)
			image->code = range->start;
	}
	return is_found;
}

static uint64_t moved(uint64_t address, uint64_t bias)
{
	return address == 0 ? 0 : address + bias;
}

/* Whether this file holds the interpreter; fills *image then. */
static bool look_into(const struct remote *remote, const struct maps *maps, const char *path,
		      bool is_executable, struct image *image)
{
	static const char *const data[] = { ".data", ".bss" };
	struct elf_piece found[SYMBOL_COUNT];
	struct elf_piece section;
	struct elf_file elf;

	memset(image, 0, sizeof(*image));
	if (open_file(&elf, remote, path, is_executable) != 0)
		return false;
	elf_find_symbols(&elf, symbol_names, found, SYMBOL_COUNT);
	if (found[SYMBOL_RUNTIME].address == 0 && elf_find_section(&elf, ".PyRuntime", &section))
		found[SYMBOL_RUNTIME] = section;
	if (found[SYMBOL_RUNTIME].address != 0 && find_bias(&elf, maps, path, image)) {
		image->runtime = moved(found[SYMBOL_RUNTIME].address, image->bias);
		image->code_type = moved(found[SYMBOL_CODE_TYPE].address, image->bias);
		image->version = moved(found[SYMBOL_VERSION].address, image->bias);
		for (int i = 0; i < 2; i++) {
			if (elf_find_section(&elf, data[i], &section))
				image->data[i] = (struct elf_piece){
					moved(section.address, image->bias), section.size };
		}
	}
	elf_close(&elf);
	return image->runtime != 0;
}

static bool is_called_after_python(const char *path)
{
	return strstr(path_basename(path), "python") != NULL;
}

/* The executable, then whatever is called after Python: the next of them that holds an
 * interpreter, from *at on, which begins with 0. */
static bool find_image(const struct remote *remote, const struct maps *maps, const char *exe,
		       uint32_t *at, struct image *image)
{
	const uint32_t count = maps->paths.count;

	while (*at < 2 * count) {
		bool is_library = *at >= count;
		const char *path = maps->paths.items[(*at)++ % count];
		bool is_executable = strcmp(path, exe) == 0;

		if ((is_library ? !is_executable && is_called_after_python(path) : is_executable) &&
		    look_into(remote, maps, path, is_executable, image))
			return true;
	}
	return false;
}

/* ---- the version ---- */

/* "3.8.18 (" somewhere in the text that sys.version was made of. */
static bool version_at(const char *at, size_t left, char *text, size_t size)
{
	size_t digits = 0, dots = 0;

	if (left < 8 || at[0] != '3' || at[1] != '.')
		return false;
	while (digits < left && digits < size - 1 &&
	       ((at[digits] >= '0' && at[digits] <= '9') || at[digits] == '.'))
		dots += at[digits++] == '.';
	if (dots != 2 || digits + 2 > left)
		return false;
	/* A release candidate, a build of one's own: "3.8.0rc1+ (". */
	const char *bracket = memchr(at + digits, ' ', left - digits < 16 ? left - digits : 16);
	if (bracket == NULL || (size_t)(bracket - at) + 1 >= left || bracket[1] != '(')
		return false;
	memcpy(text, at, digits);
	text[digits] = '\0';
	return true;
}

/* Searches the interpreter's variables; versions before 3.11 have no symbol
 * that tells. */
static bool search_version(const struct remote *remote, const struct elf_piece *piece, char *text,
			   size_t size)
{
	size_t bytes = piece->size < DATA_BYTES_MAX ? piece->size : DATA_BYTES_MAX;
	char *data;
	bool is_found = false;

	if (piece->address == 0 || bytes < 16)
		return false;
	data = mem_alloc(bytes);
	if (remote->reader.read(&remote->reader, piece->address, data, bytes)) {
		for (const char *at = data; !is_found && at != NULL;) {
			is_found = version_at(at, bytes - (size_t)(at - data), text, size);
			at = memchr(at + 1, '3', bytes - (size_t)(at + 1 - data));
		}
	}
	free(data);
	return is_found;
}

/* The version as a number (0x0308), and its text. */
static unsigned find_version(struct remote *remote, const struct image *image)
{
	uint64_t words[2] = { 0, 0 };
	unsigned long minor;

	/* 3.13 and later: the published offsets say it. */
	if (remote->reader.read(&remote->reader, image->runtime, words, sizeof(words)) &&
	    memcmp(words, "xdebugpy", 8) == 0)
		words[0] = words[1];
	else if (image->version == 0 ||
		 !remote->reader.read(&remote->reader, image->version, words, sizeof(words[0])))
		words[0] = 0;
	if (words[0] != 0) {
		snprintf(remote->version_text, sizeof(remote->version_text), "%u.%u.%u",
			 (unsigned)(words[0] >> 24 & 255), (unsigned)(words[0] >> 16 & 255),
			 (unsigned)(words[0] >> 8 & 255));
		return (unsigned)(words[0] >> 16 & 0xffff);
	}
	for (int i = 1; i >= 0; i--) {
		if (search_version(remote, &image->data[i], remote->version_text,
				   sizeof(remote->version_text))) {
			minor = strtoul(remote->version_text + 2, NULL, 10);
			return minor < 256 ? 0x0300 | (unsigned)minor : 0;
		}
	}
	return 0;
}

static int learn_layout(struct remote *remote, unsigned version, struct err *err)
{
	const struct py_layout *known = py_layout_known(version);
	const char *why;

	if (version < VERSION_FIRST)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s runs Python %s, which is not known; Heatline knows 3.8 and later",
			       remote->label, version == 0 ? "of some version" : remote->version_text);
	if (known != NULL) {
		remote->layout = *known;
		return 0;
	}
	if (py_layout_published(&remote->reader, remote->runtime, &remote->layout, &why) != 0)
		return err_set(err, ERR_UNSUPPORTED, "%s runs Python %s, which cannot be read: %s",
			       remote->label, remote->version_text, why);
	return 0;
}

/* ---- the process ---- */

/* What can be said of a pid without looking into it.  A thread's id becomes
 * that of its process. */
static int check_process(pid_t *pid, struct err *err)
{
	char status[4096];
	uint64_t group;

	if (*pid <= 0 || procfs_read(*pid, "status", status, sizeof(status)) <= 0 ||
	    !procfs_number(status, "Tgid", 0, 10, &group))
		return err_set(err, ERR_TARGET, "there is no process %d", (int)*pid);
	if (strstr(status, "\nState:\tZ") != NULL || strstr(status, "\nState:\tX") != NULL)
		return err_set(err, ERR_TARGET, "process %d has ended", (int)*pid);
	*pid = (pid_t)group;
	return 0;
}

/* What the process runs is nowhere to be found but in its memory, unless root asks. */
static int refuse_nameless(pid_t pid, const char *path, const char *command, struct err *err)
{
	int size = (int)(strlen(path) - strlen(NAMELESS_MARK));

	if (geteuid() != 0)
		return err_set(err, ERR_PERMISSION,
			       "process %d runs Python from '%.*s', which has been replaced or removed "
			       "since; only root can read it: sudo %s", (int)pid, size, path, command);
	return err_set(err, ERR_PERMISSION,
		       "process %d runs Python from '%.*s', which has been replaced or removed since, and "
		       "cannot be read here (CAP_SYS_ADMIN); start the process again", (int)pid, size, path);
}

static int refuse_foreign(pid_t pid, const struct maps *maps, const char *command, struct err *err)
{
	char exe[1024] = "";

	for (uint32_t i = 0; i < maps->paths.count; i++) {
		const char *path = maps->paths.items[i];

		if (text_starts_with(path_basename(path), "libpython") && maps_is_nameless(path))
			return refuse_nameless(pid, path, command, err);
	}

	errno = 0;
	if (!procfs_link(pid, "exe", exe, sizeof(exe)) && (errno == EACCES || errno == EPERM))
		return remote_refuse(pid, errno, command, err);
	if (exe[0] == '\0')
		return err_set(err, ERR_TARGET, "process %d is not Python", (int)pid);
	return err_set(err, ERR_TARGET, "process %d is not Python: it runs %s", (int)pid, exe);
}

static bool is_in_namespace(pid_t pid)
{
	char status[4096];
	uint64_t inner = (uint64_t)pid;

	return procfs_read(pid, "status", status, sizeof(status)) > 0 &&
	       procfs_number(status, "NSpid", -1, 10, &inner) && inner != (uint64_t)pid;
}

/* Having the map does not mean that the memory may be read, nor that a core has it. */
static int check_memory(const struct remote *remote, const struct image *image, const char *command,
			struct err *err)
{
	uint64_t word;

	if (remote->core == NULL)
		return remote_try_memory(remote->pid, image->runtime, command, err);
	if (!remote->reader.read(&remote->reader, image->runtime, &word, sizeof(word)))
		return err_set(err, ERR_FORMAT, "%s is cut short: the interpreter's memory is not in it",
			       remote->label);
	return 0;
}

static int open_image(struct remote *remote, const struct image *image, const char *command,
		      struct err *err)
{
	uint64_t word;
	int status = check_memory(remote, image, command, err);

	if (status != 0)
		return status;
	remote->runtime = image->runtime;
	remote->image_start = image->code;
	remote->version_text[0] = '\0';
	status = learn_layout(remote, find_version(remote, image), err);
	if (status != 0)
		return status;
	remote->walker = (struct walker){ .reader = &remote->reader,
					   .layout = &remote->layout,
					   .code_type = image->code_type };
	if (!remote->reader.read(&remote->reader,
				 remote->runtime + remote->layout.runtime_interpreters_head, &word,
				 sizeof(word)) ||
	    word == 0)
		return err_set(err, ERR_TARGET,
			       "%s has not started its interpreter yet, or has ended it", remote->label);
	return 0;
}

#define NO_IMAGE 1

/* A process may have several interpreters loaded of which it uses one.  NO_IMAGE when it has
 * none; where none can be opened err says why not the first. */
static int open_any_image(struct remote *remote, const struct maps *maps, const char *exe,
			  const char *command, struct err *err)
{
	struct image image;
	uint32_t at = 0;
	int status = NO_IMAGE;

	while (status != 0 && find_image(remote, maps, exe, &at, &image)) {
		bool is_first = status == NO_IMAGE;
		int found = open_image(remote, &image, command, is_first ? err : NULL);

		if (is_first || found == 0)
			status = found;
	}
	return status;
}

int remote_open(struct remote *remote, pid_t pid, const char *command, struct err *err)
{
	char exe[4096];
	struct maps maps;
	int status = check_process(&pid, err);

	if (status != 0)
		return status;
	memset(remote, 0, sizeof(*remote));
	remote->pid = pid;
	snprintf(remote->label, sizeof(remote->label), "process %d", (int)pid);
	remote->start_time = procfs_start(pid);
	remote->has_namespace = is_in_namespace(pid);
	mem_reader_init_process(&remote->reader, pid);
	if (!procfs_link(pid, "exe", exe, sizeof(exe)))
		exe[0] = '\0';
	status = maps_read(&maps, pid);
	if (status != 0)
		status = remote_refuse(pid, -status, command, err);
	else
		status = open_any_image(remote, &maps, exe, command, err);
	if (status == NO_IMAGE)
		status = refuse_foreign(pid, &maps, command, err);
	maps_fini(&maps);
	return status;
}

/* ---- the core ---- */

/* Why no interpreter was found: a file is missing, or there is none. */
static int refuse_core(const struct remote *remote, const char *exe, struct err *err)
{
	struct core *core = remote->core;

	for (uint32_t i = 0; i < core->maps.paths.count; i++) {
		const char *path = core->maps.paths.items[i];

		if (path != exe && strstr(path_basename(path), "python") == NULL)
			continue;
		if (core_find_file(core, path) == CORE_FILE_OTHER)
			return err_set(err, ERR_NOT_FOUND,
				       "%s comes from a program that ran '%s', but that file is another one now",
				       remote->label, path);
		if (core_find_file(core, path) == CORE_FILE_MISSING)
			return err_set(err, ERR_NOT_FOUND,
				       "%s comes from a program that ran '%s', which is not on this machine; "
				       "name the folder that has its files: --root FOLDER",
				       remote->label, path);
	}
	if (exe == NULL)
		return err_set(err, ERR_TARGET, "%s does not tell which program it comes from", remote->label);
	return err_set(err, ERR_TARGET, "%s does not come from Python: it ran %s", remote->label, exe);
}

int remote_open_core(struct remote *remote, struct core *core, const char *name, struct err *err)
{
	const char *exe = core_executable(core);

	memset(remote, 0, sizeof(*remote));
	remote->pid = core->pid;
	remote->core = core;
	snprintf(remote->label, sizeof(remote->label), "'%s'", name);
	core_init_reader(core, &remote->reader);
	int status = open_any_image(remote, &core->maps, exe == NULL ? "" : exe, NULL, err);
	return status == NO_IMAGE ? refuse_core(remote, exe, err) : status;
}

bool remote_is_alive(const struct remote *remote)
{
	uint64_t word;

	return remote->reader.read(&remote->reader, remote->runtime, &word, sizeof(word)) &&
	       procfs_start(remote->pid) == remote->start_time;
}
