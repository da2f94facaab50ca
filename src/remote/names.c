/* names.c - see names.h. */
#include "remote/names.h"

#include <stdio.h>
#include <string.h>

#include "base/procfs.h"
#include "python/inspect.h"

static void kernel_name(const struct remote *remote, const struct remote_thread *thread, char *text)
{
	char name[40];

	text[0] = '\0';
	if (thread->tid == remote->pid) {
		snprintf(text, REMOTE_NAME_BYTES, "MainThread");
		return;
	}
	snprintf(name, sizeof(name), "task/%d/comm", (int)thread->tid);
	/* A core does not have the kernel's names. */
	if (thread->tid <= 0 || remote->core != NULL ||
	    procfs_read(remote->pid, name, text, REMOTE_NAME_BYTES) < 0)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* Gives the name to whichever thread of the interpreter has this id. */
static void give_name(const struct remote *remote, const struct remote_threads *threads,
		      char (*names)[REMOTE_NAME_BYTES], py_addr interpreter,
		      const struct dict_entry *entry)
{
	char text[REMOTE_NAME_BYTES];
	int64_t id;

	if (entry->key == 0 || entry->value == 0 || !inspect_int(&remote->walker, entry->key, &id) ||
	    !inspect_text(&remote->walker, inspect_attribute(&remote->walker, entry->value, "_name"), text, sizeof(text)))
		return;
	for (uint32_t i = 0; i < threads->items.count; i++) {
		const struct remote_thread *thread = &threads->items.items[i];

		if (thread->interpreter == interpreter && thread->pthread_id == (uint64_t)id)
			snprintf(names[i], REMOTE_NAME_BYTES, "%s", text);
	}
}

static void read_interpreter(const struct remote *remote, const struct remote_threads *threads,
			     char (*names)[REMOTE_NAME_BYTES], py_addr interpreter)
{
	struct dict_entry entries[DICT_AT_ONCE];
	py_addr active = inspect_module_variable(&remote->walker, interpreter, "threading", "_active");
	struct dict_view dict;
	uint32_t count;

	if (active == 0 || !inspect_dict_open(&remote->walker, active, &dict))
		return;
	for (uint32_t from = 0; (count = dict_read(&remote->walker, &dict, from, entries)) > 0;
	     from += count) {
		for (uint32_t i = 0; i < count; i++)
			give_name(remote, threads, names, interpreter, &entries[i]);
	}
}

void remote_names_read(const struct remote *remote, const struct remote_threads *threads,
		       char (*names)[REMOTE_NAME_BYTES])
{
	py_addr done = 0;

	for (uint32_t i = 0; i < threads->items.count; i++)
		kernel_name(remote, &threads->items.items[i], names[i]);
	for (uint32_t i = 0; i < threads->items.count; i++) {
		py_addr interpreter = threads->items.items[i].interpreter;

		if (interpreter != done)
			read_interpreter(remote, threads, names, interpreter);
		done = interpreter;
	}
}
