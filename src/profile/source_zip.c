/* source_zip.c - read one member of a zip archive.
 *
 * The directory stands at the end, and says where each member begins, counted
 * from the archive's own start: a line for the shell, or a whole program, may
 * stand before it.  What must hold: every number of the file is compared with
 * what was read before it is used. */
#include "profile/source_zip.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"

#define END_SIGNATURE 0x06054b50u
#define END_BYTES 22u
#define END_REACH (END_BYTES + 65535u) /* a comment may follow it */
#define ENTRY_SIGNATURE 0x02014b50u
#define ENTRY_BYTES 46u
#define MEMBER_SIGNATURE 0x04034b50u
#define MEMBER_BYTES 30u
#define DIRECTORY_MAX ((size_t)64 << 20)

enum method { METHOD_STORED = 0, METHOD_DEFLATED = 8 };

struct archive {
	int fd;
	uint64_t size;
	uint64_t start; /* of the archive in the file */
};

/* A member, as the directory describes it. */
struct member {
	uint32_t method, packed_size, size;
	uint64_t offset; /* in the file */
};

static uint32_t number16(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t number32(const unsigned char *at)
{
	return number16(at) | number16(at + 2) << 16;
}

/* All of these bytes, or NULL; the caller frees. */
static unsigned char *read_part(const struct archive *archive, uint64_t offset, size_t size)
{
	if (offset > archive->size || size > archive->size - offset)
		return NULL;
	unsigned char *bytes = mem_alloc(size + 1);
	if (pread(archive->fd, bytes, size, (off_t)offset) == (ssize_t)size)
		return bytes;
	free(bytes);
	return NULL;
}

/* The directory, with its size; the archive's start becomes known. */
static unsigned char *read_directory(struct archive *archive, size_t *size)
{
	size_t reach = archive->size < END_REACH ? (size_t)archive->size : END_REACH;
	unsigned char *tail = read_part(archive, archive->size - reach, reach);
	unsigned char *directory = NULL;
	for (size_t at = reach; tail != NULL && at-- > 0;) {
		if (reach - at < END_BYTES || number32(tail + at) != END_SIGNATURE)
			continue;
		uint64_t end = archive->size - reach + at;
		uint64_t bytes = number32(tail + at + 12), offset = number32(tail + at + 16);
		if (bytes > DIRECTORY_MAX || bytes + offset > end)
			break;
		archive->start = end - bytes - offset;
		*size = (size_t)bytes;
		directory = read_part(archive, end - bytes, (size_t)bytes);
		break;
	}
	free(tail);
	return directory;
}

static bool find_member(const struct archive *archive, const unsigned char *directory, size_t size,
			const char *name, struct member *member)
{
	size_t name_size = strlen(name);
	for (size_t at = 0; size - at >= ENTRY_BYTES;) {
		const unsigned char *entry = directory + at;
		uint32_t own_size = number16(entry + 28);
		size_t whole = (size_t)ENTRY_BYTES + own_size + number16(entry + 30) + number16(entry + 32);
		if (number32(entry) != ENTRY_SIGNATURE || whole > size - at)
			return false;
		if (own_size == name_size && memcmp(entry + ENTRY_BYTES, name, name_size) == 0) {
			*member = (struct member){number16(entry + 10), number32(entry + 20),
						  number32(entry + 24),
						  archive->start + number32(entry + 42)};
			return true;
		}
		at += whole;
	}
	return false;
}

/* The archive's copy of the data that size bytes were made of, unpacked into bytes. */
static bool unpack(const struct member *member, unsigned char *packed, unsigned char *bytes)
{
	if (member->method == METHOD_STORED && member->packed_size == member->size) {
		memcpy(bytes, packed, member->size);
		return true;
	}
	z_stream stream = {.next_in = packed, .avail_in = member->packed_size,
			   .next_out = bytes, .avail_out = member->size};
	if (member->method != METHOD_DEFLATED || inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return false;
	bool is_whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
	inflateEnd(&stream);
	return is_whole;
}

static char *read_member(const struct archive *archive, const struct member *member, size_t maximum)
{
	if (member->size > maximum || member->packed_size > maximum)
		return NULL;
	unsigned char *head = read_part(archive, member->offset, MEMBER_BYTES), *packed = NULL;
	if (head != NULL && number32(head) == MEMBER_SIGNATURE)
		packed = read_part(archive,
				   member->offset + MEMBER_BYTES + number16(head + 26) + number16(head + 28),
				   member->packed_size);
	free(head);
	if (packed == NULL)
		return NULL;
	unsigned char *bytes = mem_alloc((size_t)member->size + 1);
	bool is_unpacked = unpack(member, packed, bytes);
	free(packed);
	if (is_unpacked)
		return (char *)bytes;
	free(bytes);
	return NULL;
}

static char *read_from(const char *path, const char *name, size_t maximum, size_t *size)
{
	struct archive archive = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	struct stat status;
	if (archive.fd < 0)
		return NULL;
	char *bytes = NULL;
	unsigned char *directory = NULL;
	size_t directory_size = 0;
	struct member member;
	if (fstat(archive.fd, &status) == 0 && S_ISREG(status.st_mode)) {
		archive.size = (uint64_t)status.st_size;
		directory = read_directory(&archive, &directory_size);
	}
	if (directory != NULL && find_member(&archive, directory, directory_size, name, &member))
		bytes = read_member(&archive, &member, maximum);
	if (bytes != NULL)
		*size = member.size;
	free(directory);
	close(archive.fd);
	return bytes;
}

char *source_zip_read(const char *path, size_t maximum, size_t *size)
{
	struct stat status;
	/* The first part that is no folder, if it is a file. */
	for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		if (slash == path)
			continue;
		char *front = mem_copy_bytes(path, (size_t)(slash - path));
		bool is_there = stat(front, &status) == 0;
		bool is_file = is_there && S_ISREG(status.st_mode);
		char *bytes = is_file ? read_from(front, slash + 1, maximum, size) : NULL;
		free(front);
		if (!is_there || is_file)
			return bytes;
	}
	return NULL;
}
