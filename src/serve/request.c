/* request.c - look at a request's headers. */
#include "serve/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

bool request_is_for_loopback(const struct request_headers *headers)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

	for (size_t i = 0; headers->host && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size = strlen(names[i]);
		const char *port = headers->host + size;

		if (strncasecmp(headers->host, names[i], size) != 0)
			continue;
		if (!*port)
			return true;
		size_t digits = strspn(port + 1, "0123456789");
		return *port == ':' && digits > 0 && digits <= 5 && !port[1 + digits];
	}
	return false;
}

static bool is_own_origin(const struct request_headers *headers)
{
	return headers->host && text_starts_with(headers->origin, "http://") &&
	       strcasecmp(headers->origin + strlen("http://"), headers->host) == 0;
}

bool request_is_same_origin(const struct request_headers *headers, bool is_page)
{
	if (headers->origin && !is_own_origin(headers))
		return false;
	if (!headers->fetch_site || strcmp(headers->fetch_site, "same-origin") == 0 ||
	    strcmp(headers->fetch_site, "none") == 0)
		return true;
	return is_page && text_equal(headers->fetch_mode, "navigate");
}

bool request_may_act(const struct request_headers *headers)
{
	static const char json[] = "application/json";
	const char *type = headers->content_type;

	if (!headers->origin || !is_own_origin(headers) || !type)
		return false;
	return strncasecmp(type, json, sizeof(json) - 1) == 0 &&
	       strchr("; ", type[sizeof(json) - 1]) != NULL;
}

uint64_t request_body_bytes(const struct request_headers *headers)
{
	return headers->content_length ? strtoull(headers->content_length, NULL, 10) : 0;
}

static int digit_value(char digit)
{
	const char *digits = "0123456789abcdef";
	const char *found = digit ? strchr(digits, tolower((unsigned char)digit)) : NULL;

	return found ? (int)(found - digits) : -1;
}

char *request_decode(const char *value)
{
	char *decoded = mem_copy_text(value), *end = decoded;

	for (; *value; value++) {
		if (*value != '%') {
			*end++ = *value;
			continue;
		}
		int high = digit_value(value[1]), low = high < 0 ? -1 : digit_value(value[2]);
		if (low < 0 || high + low == 0) {
			free(decoded);
			return NULL;
		}
		*end++ = (char)(high * 16 + low);
		value += 2;
	}
	*end = '\0';
	return decoded;
}

/* "gzip;q=0" is a refusal; any other weight is none. */
bool request_accepts_gzip(const struct request_headers *headers)
{
	const char *rest = headers->accept_encoding;

	while (rest && *rest) {
		rest += strspn(rest, " \t,");
		size_t size = strcspn(rest, ",");
		size_t name = strcspn(rest, " \t,;");

		if (name == strlen("gzip") && strncasecmp(rest, "gzip", name) == 0) {
			const char *weight = memmem(rest, size, "q=", 2);

			return !weight || strtod(weight + 2, NULL) > 0;
		}
		rest += size;
	}
	return false;
}
