/* text.c - strings and paths. */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

#define DISTANCE_MAX_LETTERS 64u /* longer words are never near anything */
#define SECONDS_MAX 1e12         /* more is not told apart: figures may come from damaged files */

bool text_starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool text_ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);
	return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void text_put_seconds(char *text, size_t size, double seconds)
{
	double value = !(seconds > 0) ? 0 : seconds < SECONDS_MAX ? seconds : SECONDS_MAX;
	if (value < 0.0995)
		snprintf(text, size, "%.0f ms", value * 1000);
	else if (value < 9.995)
		snprintf(text, size, "%.2f s", value);
	else if (value < 99.95)
		snprintf(text, size, "%.1f s", value);
	else if (value < 9999.5)
		snprintf(text, size, "%.0f s", value);
	else if (value < 3600 * 99.95)
		snprintf(text, size, "%.1f h", value / 3600);
	else
		snprintf(text, size, "%.0f h", value / 3600);
}

char *path_join(const char *left, const char *right)
{
	size_t left_size = strlen(left), right_size = strlen(right);
	if (left_size == 0 || right[0] == '/')
		return mem_copy_text(right);
	bool has_slash = left[left_size - 1] == '/';
	char *path = mem_alloc(left_size + right_size + 2);
	memcpy(path, left, left_size);
	if (!has_slash)
		path[left_size++] = '/';
	memcpy(path + left_size, right, right_size + 1);
	return path;
}

char *path_dirname(const char *path)
{
	size_t size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		size--;
	while (size > 0 && path[size - 1] != '/')
		size--;
	while (size > 1 && path[size - 1] == '/')
		size--;
	return size ? mem_copy_bytes(path, size) : mem_copy_text(".");
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Removes the last part of out, unless it is ".." or there is none. */
static bool drop_last_part(char *out, size_t *size, bool is_absolute)
{
	size_t root = is_absolute ? 1 : 0;
	if (*size <= root)
		return is_absolute; /* "/.." is "/" */
	size_t start = *size;
	while (start > root && out[start - 1] != '/')
		start--;
	if (*size - start == 2 && out[start] == '.' && out[start + 1] == '.')
		return false;
	*size = start > root ? start - 1 : root;
	return true;
}

/* Above a symbolic link is not what stands before it, but what is above the place it leads to.
 * out becomes that place; rest_size bytes will be put behind it. */
static void follow_link(char **out, size_t *size, size_t rest_size)
{
	struct stat info;
	(*out)[*size] = '\0';
	if (lstat(*out, &info) != 0 || !S_ISLNK(info.st_mode))
		return;
	char *real = realpath(*out, NULL);
	if (real == NULL)
		return;
	free(*out);
	*size = strlen(real);
	*out = mem_alloc(*size + rest_size + 2);
	memcpy(*out, real, *size);
	free(real);
}

char *path_normalise(const char *path)
{
	bool is_absolute = path[0] == '/';
	char *out = mem_alloc(strlen(path) + 2);
	size_t size = 0;
	if (is_absolute)
		out[size++] = '/';
	for (const char *at = path; *at;) {
		size_t part = strcspn(at, "/");
		bool is_dot = part == 1 && at[0] == '.';
		bool is_up = part == 2 && at[0] == '.' && at[1] == '.';
		if (is_up && is_absolute)
			follow_link(&out, &size, strlen(at));
		if (part && !is_dot && !(is_up && drop_last_part(out, &size, is_absolute))) {
			if (size && out[size - 1] != '/')
				out[size++] = '/';
			memcpy(out + size, at, part);
			size += part;
		}
		at += part;
		while (*at == '/')
			at++;
	}
	if (size == 0)
		out[size++] = '.';
	out[size] = '\0';
	return out;
}

bool path_is_inside(const char *path, const char *folder)
{
	size_t size = strlen(folder);
	while (size > 1 && folder[size - 1] == '/')
		size--;
	if (strncmp(path, folder, size) != 0)
		return false;
	return path[size] == '\0' || path[size] == '/' || (size == 1 && folder[0] == '/');
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned smaller = a < b ? a : b;
	return smaller < c ? smaller : c;
}

unsigned text_distance(const char *a, const char *b)
{
	size_t a_size = strlen(a), b_size = strlen(b);
	if (a_size > DISTANCE_MAX_LETTERS || b_size > DISTANCE_MAX_LETTERS)
		return a_size == b_size && strcmp(a, b) == 0 ? 0 : UINT32_MAX;
	/* Three rows of the table: a swap looks two rows back. */
	unsigned rows[3][DISTANCE_MAX_LETTERS + 1];
	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_size; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_size; j++) {
			unsigned differs = a[i - 1] != b[j - 1];
			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + differs);
			bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				       a[i - 2] == b[j - 1];
			unsigned swapped = is_swap ? rows[(i + 1) % 3][j - 2] + 1 : UINT32_MAX;
			if (swapped < row[j])
				row[j] = swapped;
		}
	}
	return rows[a_size % 3][b_size];
}

const char *text_nearest(const char *text, const char *const *choices)
{
	const char *nearest = NULL;
	unsigned nearest_distance = UINT32_MAX;
	for (; *choices; choices++) {
		unsigned distance = text_distance(text, *choices);
		if (distance < nearest_distance) {
			nearest_distance = distance;
			nearest = *choices;
		}
	}
	size_t size = strlen(text);
	bool is_near = nearest_distance <= 1 + size / 3 && nearest_distance <= size / 2;
	return is_near ? nearest : NULL;
}

size_t text_utf8_length(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	if (size == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	if (at[0] < 0xc2 || at[0] > 0xf4 || length > size)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Overlong forms, surrogates, and beyond U+10FFFF. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}
