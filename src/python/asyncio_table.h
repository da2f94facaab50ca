/* asyncio_table.h - the offsets that the _asyncio module publishes (3.14+).
 *
 * They stand in a section of their own (.AsyncioDebug) of the file that holds
 * the module: an extension, libpython or the interpreter itself.  They are
 * constants, so the file has them and the process need not be read. */
#ifndef HEATLINE_PYTHON_ASYNCIO_TABLE_H
#define HEATLINE_PYTHON_ASYNCIO_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ASYNCIO_TABLE_WORDS 13u

/* Looks through the files that the process maps.  False when none has it
 * (yet).  The words are unchecked. */
bool asyncio_table_read(pid_t pid, uint64_t words[ASYNCIO_TABLE_WORDS]);

/* The same for files that are known by their paths. */
bool asyncio_table_search(char *const *paths, uint32_t count, uint64_t words[ASYNCIO_TABLE_WORDS]);

#endif
