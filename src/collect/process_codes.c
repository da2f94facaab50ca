/* process_codes.c - the code objects of the run's processes, under the names that
 * the profile has for them.
 *
 * Processes name their files as they like, from folders of their own; equal code
 * is one entry of codes.h only when its file is told the same way. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/chosen.h"
#include "collect/collector.h"
#include "collect/helpers.h"
#include "collect/process.h"
#include "profile/book.h"

#define LIBRARY_FILE "<run by a library>"
#define HELPER_FILE "<started by multiprocessing>"
#define CODE_IDS_MAX (8u << 20)
#define CODE_ROOM_MAX ((size_t)64 << 20) /* one code object; a module that is all data has some MB */

bool processes_read_code(struct collector *collector, const struct walker *walker, py_addr address,
			 struct code_info *info)
{
	while (code_read(walker, address, collector->code_room, collector->code_room_size, info)) {
		if (!info->is_cut || collector->code_room_size >= CODE_ROOM_MAX)
			return true;
		free(collector->code_room);
		collector->code_room_size *= 4;
		collector->code_room = mem_alloc(collector->code_room_size);
	}
	return false;
}

/* The code's file as one path, however the program wrote it ("../lib/x.py" on
 * sys.path gives names that go up and down again).  NULL: the name as it is. */
static char *full_filename(const struct process *process, const struct code_info *info)
{
	if (info->filename_size == 0 || info->filename[0] == '<')
		return NULL;
	char *name = mem_copy_bytes(info->filename, info->filename_size);
	if (name[0] != '/' && process->cwd != NULL) {
		char *joined = path_join(process->cwd, name);
		free(name);
		name = joined;
	}
	char *full = path_normalise(name);
	free(name);
	return full;
}

/* The line with which a helper is started is not the program's. */
static bool is_helper_line(const struct process *process, const struct code_info *info)
{
	static const char name[] = "<string>";
	return info->filename_size == sizeof(name) - 1 &&
	       memcmp(info->filename, name, sizeof(name) - 1) == 0 &&
	       helpers_find(process->command) != NULL;
}

/* A text that was run as a whole (exec, eval, -c) is the program's, or that of the
 * library that runs it: as that it is another code, out of scope. */
static void add_text(struct collector *collector, uint32_t index, const struct code_info *info)
{
	struct code_info named = *info;
	bool is_new;
	named.filename = LIBRARY_FILE;
	named.filename_size = sizeof(LIBRARY_FILE) - 1;
	uint32_t as_library = codes_add(&collector->codes, &named, collector->codes.items[index].version,
					&is_new);
	collector->codes.items[index].as_library = as_library;
	collector->codes.has_texts = true;
}

uint32_t processes_add_code(struct collector *collector, struct process *process,
			    const struct code_info *info)
{
	struct code_info named = *info;
	char *full = full_filename(process, info);
	if (full != NULL) {
		named.filename = full;
		named.filename_size = (uint32_t)strlen(full);
	}
	if (is_helper_line(process, info)) {
		named.filename = HELPER_FILE;
		named.filename_size = sizeof(HELPER_FILE) - 1;
	}
	bool is_new;
	uint32_t index = codes_add(&collector->codes, &named, process->python, &is_new);
	if (is_new) {
		struct code *code = &collector->codes.items[index];
		code->is_comprehension = profile_is_comprehension(code->qualname);
		code->in_scope = scope_file(&collector->scope, code->filename) &&
				 scope_function(code->filename, code->qualname);
		if (code->in_scope) {
			sources_meet(&collector->sources, code->filename, process->pid,
				     collector->start_epoch_s);
			code->in_scope = chosen_has(collector, code);
		}
		if (code->in_scope && strcmp(code->filename, "<string>") == 0 &&
		    strcmp(code->qualname, "<module>") == 0)
			add_text(collector, index, info);
	}
	free(full);
	return index;
}

static bool is_same_text(const char *a, uint32_t a_size, const char *b, uint32_t b_size)
{
	return a_size == b_size && memcmp(a, b, a_size) == 0;
}

/* What did not fit into the record, from the process itself, if it is still there. */
static void complete_code(struct collector *collector, const struct process *process,
			  py_addr address, struct code_info *info)
{
	struct code_info whole;
	if (process->has_layout &&
	    processes_read_code(collector, &process->walker, address, &whole) &&
	    whole.first_line == info->first_line && whole.flags == info->flags &&
	    is_same_text(whole.filename, whole.filename_size, info->filename, info->filename_size) &&
	    is_same_text(whole.qualname, whole.qualname_size, info->qualname, info->qualname_size))
		*info = whole;
}

uint32_t processes_take_code(struct collector *collector, struct process *process,
			     const struct record_code *record)
{
	uint64_t texts = (uint64_t)record->filename_size + record->qualname_size +
			 record->lines_size + record->bytecode_size;
	if (texts > record->head.size - sizeof(*record))
		return 0;
	const char *at = (const char *)(record + 1);
	struct code_info info = {
		.first_line = record->first_line,
		.flags = record->flags,
		.filename = at,
		.filename_size = record->filename_size,
		.qualname_size = record->qualname_size,
		.lines_size = record->lines_size,
		.bytecode_size = record->bytecode_size,
	};
	info.qualname = info.filename + info.filename_size;
	info.lines = (const unsigned char *)info.qualname + info.qualname_size;
	info.bytecode = info.lines + info.lines_size;
	if (record->address != 0)
		complete_code(collector, process, record->address, &info);
	return processes_add_code(collector, process, &info);
}

bool processes_on_code(struct collector *collector, struct process *process,
		       const struct record_code *record)
{
	bool fits = record->id < CODE_IDS_MAX;
	uint32_t code = fits ? processes_take_code(collector, process, record) : 0;
	if (code == 0)
		return false;
	while (process->ids.count <= record->id)
		vec_push(&process->ids, 0);
	process->ids.items[record->id] = code;
	return true;
}
