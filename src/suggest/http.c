/* http.c - libcurl by its binary interface. */
#include "suggest/http.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/library.h"
#include "base/text.h"
#include "base/units.h"

#define LIBRARY "libcurl.so.4"
#define CONNECT_MS 10000L
#define TOTAL_MS 900000L
#define MAX_KEPT_BYTES ((size_t)8 << 20)
#define ERROR_BYTES 256 /* CURL_ERROR_SIZE */

/* Numbers of libcurl's interface, which never change. */
enum {
	OPTION_WRITE_DATA = 10001,
	OPTION_URL = 10002,
	OPTION_ERROR_BUFFER = 10010,
	OPTION_POST_FIELDS = 10015,
	OPTION_USER_AGENT = 10018,
	OPTION_HTTP_HEADER = 10023,
	OPTION_HEADER_DATA = 10029,
	OPTION_NO_PROGRESS = 43,
	OPTION_FOLLOW = 52,
	OPTION_PROGRESS_DATA = 10057,
	OPTION_POST_SIZE = 60,
	OPTION_VERIFY_PEER = 64,
	OPTION_HEADER_FUNCTION = 20079,
	OPTION_VERIFY_HOST = 81,
	OPTION_NO_SIGNAL = 99,
	OPTION_TIMEOUT_MS = 155,
	OPTION_CONNECT_TIMEOUT_MS = 156,
	OPTION_NO_PROXY = 10177,
	OPTION_PROTOCOLS = 181,
	OPTION_WRITE_FUNCTION = 20011,
	OPTION_PROGRESS_FUNCTION = 20219,

	INFO_STATUS = 0x200002,
	PROTOCOL_HTTP = 1,
	PROTOCOL_HTTPS = 2,
	GLOBAL_ALL = 3,

	CODE_RESOLVE = 6,
	CODE_CONNECT = 7,
	CODE_TIMEOUT = 28,
	CODE_CERTIFICATE = 60,
};

/* X(name, result, parameters): what is used of it, without curl_. */
#define CURL_LIST(X)                                              \
	X(global_init, int, (long))                               \
	X(easy_init, void *, (void))                              \
	X(easy_setopt, int, (void *, int, ...))                   \
	X(easy_perform, int, (void *))                            \
	X(easy_getinfo, int, (void *, int, ...))                  \
	X(easy_cleanup, void, (void *))                           \
	X(easy_strerror, const char *, (int))                     \
	X(slist_append, void *, (void *, const char *))           \
	X(slist_free_all, void, (void *))

static struct curl {
#define X(name, result, parameters) result(*name) parameters;
	CURL_LIST(X)
#undef X
} curl;

static const struct library_function functions[] = {
#define X(name, result, parameters) {"curl_" #name, offsetof(struct curl, name), false},
	CURL_LIST(X)
#undef X
};

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static int open_locked(struct err *err)
{
	struct curl found;
	const char *missing;

	if (curl.global_init)
		return 0;
	void *library = library_open(LIBRARY, functions, sizeof(functions) / sizeof(functions[0]),
				     &found, &missing);
	if (missing)
		return err_set(err, ERR_UNSUPPORTED, LIBRARY " has no %s", missing);
	if (!library)
		return err_set(err, ERR_UNSUPPORTED,
			       "asking a model takes " LIBRARY ", which is not installed (Debian: "
			       "apt install libcurl4); the prompt can be had without: "
			       "heatline suggest --prompt-only");
	if (found.global_init(GLOBAL_ALL) != 0)
		return err_set(err, ERR_UNSUPPORTED, LIBRARY " cannot be started");
	curl = found;
	return 0;
}

int http_open(struct err *err)
{
	pthread_mutex_lock(&opening);
	int status = open_locked(err);
	pthread_mutex_unlock(&opening);
	return status;
}

/* --- addresses --- */

static bool is_loopback(const char *host, size_t size)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == size && strncasecmp(names[i], host, size) == 0)
			return true;
	}
	return false;
}

/* The host in "http://host:port/…"; with its brackets when it is an IPv6 address. */
static const char *find_host(const char *url, size_t *size)
{
	const char *host = strstr(url, "://");

	host = host ? host + 3 : url;
	*size = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/?#");
	if (*size > strlen(host))
		*size = strlen(host);
	return host;
}

/* Whether requests may go to this address: https, or this machine. */
static int check_url(const char *url, struct err *err)
{
	size_t size;
	const char *host = find_host(url, &size);

	for (const char *c = url; *c; c++) {
		if ((unsigned char)*c <= ' ' || *c == '"' || *c == '\\' || *c == 0x7f)
			return err_set(err, ERR_USAGE, "'%.100s' is no address", url);
	}
	if (strcspn(host, "@") < strcspn(host, "/?#"))
		return err_set(err, ERR_USAGE, "an address with a name and '@' in it is not used; "
					       "keys have variables of their own");
	if (text_starts_with(url, "https://") && size)
		return 0;
	if (text_starts_with(url, "http://") && is_loopback(host, size))
		return 0;
	if (text_starts_with(url, "http://"))
		return err_set(err, ERR_PERMISSION,
			       "'%.100s' is not encrypted, and not on this machine; use https", url);
	return err_set(err, ERR_USAGE, "'%.100s' is no address that begins with https://", url);
}

/* --- one transfer --- */

struct transfer {
	const struct http_request *request;
	struct http_answer *answer;
	void *handle;
	size_t received;
	uint64_t heard_ns; /* when the last byte came */
	bool is_silent;    /* … which is too long ago */
};

static bool is_cancelled(struct transfer *transfer)
{
	const struct http_request *request = transfer->request;

	if (request->is_cancelled && request->is_cancelled(request->closure))
		transfer->answer->is_cancelled = true;
	return transfer->answer->is_cancelled;
}

static size_t take_body(char *bytes, size_t one, size_t size, void *closure)
{
	struct transfer *transfer = closure;
	const struct http_request *request = transfer->request;
	struct http_answer *answer = transfer->answer;

	curl.easy_getinfo(transfer->handle, INFO_STATUS, &answer->status);
	transfer->received += size;
	transfer->heard_ns = clock_monotonic_ns();
	answer->is_too_long = transfer->received > request->max_bytes;
	if (answer->is_too_long || is_cancelled(transfer))
		return 0;
	if (answer->status == 200 && request->take) {
		answer->is_stopped = !request->take(request->closure, bytes, size);
		return answer->is_stopped ? 0 : size;
	}
	return buf_append(&answer->body, bytes, size) ? size : 0;
}

/* The value of a header, or NULL; not terminated. */
static const char *header_value(const char *line, size_t size, const char *name)
{
	size_t length = strlen(name);

	if (size <= length || strncasecmp(line, name, length) != 0)
		return NULL;
	line += length;
	return line + strspn(line, " ");
}

static size_t take_header(char *bytes, size_t one, size_t size, void *closure)
{
	struct http_answer *answer = ((struct transfer *)closure)->answer;
	char line[128];

	snprintf(line, sizeof(line), "%.*s", (int)(size < sizeof(line) ? size : sizeof(line)), bytes);
	const char *wait = header_value(line, size, "Retry-After:");
	const char *type = header_value(line, size, "Content-Type:");
	if (wait && *wait >= '0' && *wait <= '9')
		answer->retry_after_s = strtod(wait, NULL);
	if (type)
		answer->is_json = strncasecmp(type, "application/json", 16) == 0;
	return size;
}

static int look(void *closure, int64_t a, int64_t b, int64_t c, int64_t d)
{
	struct transfer *transfer = closure;
	uint64_t limit_ns = (uint64_t)transfer->request->silence_s * SECOND_NS;

	transfer->is_silent = clock_monotonic_ns() > transfer->heard_ns + limit_ns;
	return transfer->is_silent || is_cancelled(transfer);
}

static void set_options(struct transfer *transfer, void *headers, char *message)
{
	const struct http_request *request = transfer->request;
	bool is_plain = text_starts_with(request->url, "http://");
	void *handle = transfer->handle;
	size_t size;
	const char *host = find_host(request->url, &size);

#define SET(option, value) curl.easy_setopt(handle, option, value)
	SET(OPTION_URL, request->url);
	SET(OPTION_USER_AGENT, "heatline/" HEATLINE_VERSION);
	SET(OPTION_PROTOCOLS, (long)(is_plain ? PROTOCOL_HTTP : PROTOCOL_HTTPS));
	SET(OPTION_FOLLOW, 0L);
	SET(OPTION_VERIFY_PEER, 1L);
	SET(OPTION_VERIFY_HOST, 2L);
	SET(OPTION_NO_SIGNAL, 1L);
	if (is_loopback(host, size)) /* a proxy's own loopback is another machine's */
		SET(OPTION_NO_PROXY, "*");
	SET(OPTION_CONNECT_TIMEOUT_MS, CONNECT_MS);
	SET(OPTION_TIMEOUT_MS, TOTAL_MS);
	SET(OPTION_HTTP_HEADER, headers);
	if (request->body) {
		SET(OPTION_POST_SIZE, (long)request->body_size);
		SET(OPTION_POST_FIELDS, request->body);
	}
	SET(OPTION_WRITE_FUNCTION, take_body);
	SET(OPTION_WRITE_DATA, transfer);
	SET(OPTION_HEADER_FUNCTION, take_header);
	SET(OPTION_HEADER_DATA, transfer);
	SET(OPTION_PROGRESS_FUNCTION, look);
	SET(OPTION_PROGRESS_DATA, transfer);
	SET(OPTION_NO_PROGRESS, 0L);
	SET(OPTION_ERROR_BUFFER, message);
#undef SET
}

static int explain(const struct http_request *request, int code, const char *message,
		   struct err *err)
{
	size_t size;
	const char *host = find_host(request->url, &size);
	int shown = (int)(size < 200 ? size : 200);

	if (code == CODE_TIMEOUT)
		return err_set(err, ERR_IO, "%.*s was silent for too long", shown, host);
	if (code == CODE_RESOLVE || code == CODE_CONNECT)
		return err_set(err, ERR_IO, "%.*s cannot be reached: %s", shown, host, message);
	if (code == CODE_CERTIFICATE)
		return err_set(err, ERR_PERMISSION, "%.*s has no valid certificate: %s", shown, host,
			       message);
	return err_set(err, ERR_IO, "the answer of %.*s broke off: %s", shown, host, message);
}

int http_send(const struct http_request *request, struct http_answer *answer, struct err *err)
{
	char message[ERROR_BYTES] = "";
	struct transfer transfer = {.request = request, .answer = answer,
				    .heard_ns = clock_monotonic_ns()};
	void *headers = NULL;

	*answer = (struct http_answer){.retry_after_s = -1};
	buf_init(&answer->body, MAX_KEPT_BYTES);
	int status = http_open(err);
	if (!status)
		status = check_url(request->url, err);
	if (status)
		return status;
	transfer.handle = curl.easy_init();
	if (!transfer.handle)
		return err_set(err, ERR_SYSTEM, LIBRARY " cannot be started");
	for (uint32_t i = 0; i < request->header_count; i++)
		headers = curl.slist_append(headers, request->headers[i]);
	set_options(&transfer, headers, message);
	int code = curl.easy_perform(transfer.handle);
	curl.easy_getinfo(transfer.handle, INFO_STATUS, &answer->status);
	curl.slist_free_all(headers);
	curl.easy_cleanup(transfer.handle);
	if (code == 0 || answer->is_cancelled || answer->is_stopped || answer->is_too_long)
		return 0;
	if (transfer.is_silent)
		code = CODE_TIMEOUT;
	return explain(request, code, message[0] ? message : curl.easy_strerror(code), err);
}

void http_answer_fini(struct http_answer *answer)
{
	buf_fini(&answer->body);
}
