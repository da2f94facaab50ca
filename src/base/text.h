/* text.h - strings and paths. */
#ifndef HEATLINE_BASE_TEXT_H
#define HEATLINE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

bool text_starts_with(const char *text, const char *start);
bool text_ends_with(const char *text, const char *end);
bool text_equal(const char *a, const char *b); /* NULL equals only NULL */

/* A length of time as a person reads it: "45 ms", "4.21 s", "99.9 s", "9999 s", "2.8 h". */
void text_put_seconds(char *text, size_t size, double seconds);

/* Paths are text with '/'; nothing here looks at the file system.  What is
 * returned as char * is the caller's to free. */

/* left/right with one slash between; right alone when it is absolute or left
 * is empty. */
char *path_join(const char *left, const char *right);

/* "/a/b" -> "/a"; "/a" -> "/"; "a" -> ".". */
char *path_dirname(const char *path);

/* What follows the last slash; points into path. */
const char *path_basename(const char *path);

/* Without ".", "..", doubled and trailing slashes.  Symbolic links are not
 * resolved, as in Python's os.path.normpath, but those of an absolute path that
 * ".." follows: there the kernel goes up from where the link leads. */
char *path_normalise(const char *path);

/* Whether the normalised path lies in the folder or is it ("/a/bc" does not
 * lie in "/a/b"). */
bool path_is_inside(const char *path, const char *folder);

/* How many letters to insert, delete, replace or swap to turn a into b. */
unsigned text_distance(const char *a, const char *b);

/* "did you mean": the choice nearest to text, or NULL when none is near
 * (a third of the letters differ).  choices ends with NULL. */
const char *text_nearest(const char *text, const char *const *choices);

/* Bytes of the UTF-8 character at text (1 to 4), or 0 when the bytes there
 * are no valid character; size is how many bytes are left. */
size_t text_utf8_length(const char *text, size_t size);

#endif
