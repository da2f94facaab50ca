/* settings.c - read the file, look names up, keep values in. */
#include "suggest/settings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "suggest/mask.h"

#define MAX_FILE_BYTES 65536u
#define MIN_SECRET_BYTES 6u /* a shorter value would be found everywhere */

/* Those whose value is a secret. */
static const char *const secret_names[] = {
	"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "ANTHROPIC_API_KEY",
	"ANTHROPIC_AUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID",
	"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY",
};

static char *file_path(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config == '/')
		return path_join(config, "heatline/providers");
	return home && *home == '/' ? path_join(home, ".config/heatline/providers") : NULL;
}

static int check_file(const char *path, struct err *err)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return -ERR_NOT_FOUND;
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_PERMISSION, "'%s' is not a file", path);
	if (status.st_uid != geteuid())
		return err_set(err, ERR_PERMISSION, "'%s' holds keys and belongs to another user",
			       path);
	if (status.st_mode & 077)
		return err_set(err, ERR_PERMISSION,
			       "'%s' holds keys that others can read; type: chmod 600 '%s'", path,
			       path);
	return 0;
}

/* "A=b\n# c\n" becomes "A\0b\0": names and values in turn. */
static size_t split(char *text, size_t size)
{
	char *out = text, *end = text + size;

	for (char *line = text; line < end;) {
		char *next = memchr(line, '\n', (size_t)(end - line));
		char *stop = next ? next : end;
		char *equals = memchr(line, '=', (size_t)(stop - line));

		if (stop > line && stop[-1] == '\r')
			stop--;
		if (*line != '#' && equals && equals < stop) {
			size_t name = (size_t)(equals - line), value = (size_t)(stop - equals) - 1;

			memmove(out, line, name);
			out[name] = '\0';
			memmove(out + name + 1, equals + 1, value);
			out[name + 1 + value] = '\0';
			out += name + value + 2;
		}
		line = next ? next + 1 : end;
	}
	return (size_t)(out - text);
}

int settings_load(struct settings *settings, struct err *err)
{
	char *path = file_path();

	*settings = (struct settings){0};
	int status = path ? check_file(path, err) : -ERR_NOT_FOUND;
	if (status == 0)
		status = file_read(path, MAX_FILE_BYTES, &settings->text, &settings->size, err);
	if (status == 0)
		settings->size = split(settings->text, settings->size);
	free(path);
	return status == -ERR_NOT_FOUND ? 0 : status;
}

void settings_fini(struct settings *settings)
{
	if (settings->text)
		explicit_bzero(settings->text, settings->size);
	free(settings->text);
	*settings = (struct settings){0};
}

const char *settings_get(const struct settings *settings, const char *name)
{
	const char *value = getenv(name);
	const char *at = settings->text, *end = at + settings->size;

	if (value && *value)
		return value;
	while (at && at < end) {
		value = at + strlen(at) + 1;
		if (strcmp(at, name) == 0)
			return *value ? value : NULL;
		at = value + strlen(value) + 1;
	}
	return NULL;
}

/* Where the first secret in the text begins, and its bytes; NULL: there is none. */
bool settings_is_secret(const char *entry)
{
	size_t length = strcspn(entry, "=");

	for (size_t i = 0; i < sizeof(secret_names) / sizeof(secret_names[0]); i++) {
		if (strlen(secret_names[i]) == length && memcmp(secret_names[i], entry, length) == 0)
			return true;
	}
	return false;
}

static const char *find_secret(const struct settings *settings, const char *text, size_t size,
			       size_t *length)
{
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(secret_names) / sizeof(secret_names[0]); i++) {
		const char *value = settings_get(settings, secret_names[i]);
		size_t bytes = value ? strlen(value) : 0;
		const char *found =
			bytes >= MIN_SECRET_BYTES ? memmem(text, size, value, bytes) : NULL;

		if (found && (!first || found < first)) {
			first = found;
			*length = bytes;
		}
	}
	return first;
}

void settings_scrub(const struct settings *settings, struct buf *out, const char *text,
		    size_t size)
{
	const char *end = text + size, *secret;
	size_t length;

	while ((secret = find_secret(settings, text, (size_t)(end - text), &length)) != NULL) {
		buf_append(out, text, (size_t)(secret - text));
		buf_text(out, MASK_TEXT);
		text = secret + length;
	}
	buf_append(out, text, (size_t)(end - text));
}
