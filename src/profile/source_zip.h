/* source_zip.h - Python sources that lie in an archive (zipapps, eggs, wheels on sys.path).
 *
 * Code from one is called "app.pyz/package/module.py".  Archives are untrusted:
 * whatever one contains, the answer is a text or none. */
#ifndef HEATLINE_PROFILE_SOURCE_ZIP_H
#define HEATLINE_PROFILE_SOURCE_ZIP_H

#include <stddef.h>

/* The bytes of a member, when a part of the path is an archive and the rest one of its names;
 * the caller frees.  NULL when there is none, or it is larger than maximum. */
char *source_zip_read(const char *path, size_t maximum, size_t *size);

#endif
