/* small_file.h - what the kernel tells in a file of a line or a page.  Not for handlers. */
#ifndef HEATLINE_AGENT_SMALL_FILE_H
#define HEATLINE_AGENT_SMALL_FILE_H

#include <stddef.h>

/* As much of the file as there is room for, terminated.  Returns how many bytes, 0 also when it
 * cannot be read. */
size_t small_file_read(const char *path, char *text, size_t room);

/* What follows the name in a line "name:  value" of /proc/self/status, as a number; 0: no such line. */
unsigned long long small_file_status(const char *name);

#endif
