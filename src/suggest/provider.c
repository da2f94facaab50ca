/* provider.c - the table of providers, and what they share. */
#include "suggest/provider.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "suggest/provider_parts.h"

#define MAX_URL_BYTES 4096u
#define MAX_BODY_BYTES ((size_t)1 << 20)
#define OLLAMA_PORT 11434
#define LISTENING_MS 100 /* more than this machine ever takes to say so */

void provider_call_init(struct provider_call *call)
{
	*call = (struct provider_call){0};
	buf_init(&call->url, MAX_URL_BYTES);
	buf_init(&call->body, MAX_BODY_BYTES);
}

void provider_call_fini(struct provider_call *call)
{
	for (uint32_t i = 0; i < call->headers.count; i++) {
		explicit_bzero(call->headers.items[i], strlen(call->headers.items[i]));
		free(call->headers.items[i]);
	}
	vec_free(&call->headers);
	buf_fini(&call->url);
	buf_fini(&call->body);
}

void call_header(struct provider_call *call, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	int size = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (size < 0)
		mem_exhausted(0);
	/* A line end in a key would begin another header. */
	text[strcspn(text, "\r\n")] = '\0';
	vec_push(&call->headers, text);
}

void call_url(struct provider_call *call, const char *base, const char *rest)
{
	size_t size = strlen(base);

	while (size && base[size - 1] == '/')
		size--;
	buf_append(&call->url, base, size);
	buf_printf(&call->url, "/%s", rest);
}

void call_encode(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
			buf_char(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

static const char *get_or(const struct settings *settings, const char *name, const char *otherwise)
{
	const char *value = settings_get(settings, name);

	return value ? value : otherwise;
}

static void json_header(struct provider_call *call)
{
	call_header(call, "Content-Type: application/json");
}

/* --- OpenAI, and servers that speak its older protocol --- */

static const char *openai_base(const struct settings *settings)
{
	return get_or(settings, "OPENAI_BASE_URL", "https://api.openai.com/v1");
}

static void openai_authorise(struct provider_call *call, const struct settings *settings)
{
	const char *key = settings_get(settings, "OPENAI_API_KEY");
	const char *organisation = settings_get(settings, "OPENAI_ORG_ID");
	const char *project = settings_get(settings, "OPENAI_PROJECT_ID");

	if (key)
		call_header(call, "Authorization: Bearer %s", key);
	if (organisation)
		call_header(call, "OpenAI-Organization: %s", organisation);
	if (project)
		call_header(call, "OpenAI-Project: %s", project);
}

static bool openai_is_ready(const struct settings *settings)
{
	return settings_get(settings, "OPENAI_API_KEY") != NULL;
}

static int openai_ask(struct provider_call *call, const struct settings *settings,
		      const struct provider_question *question, struct err *err)
{
	call_url(call, openai_base(settings), "responses");
	json_header(call);
	openai_authorise(call, settings);
	body_responses(&call->body, question);
	call->shape = STREAM_RESPONSES;
	return 0;
}

static bool openai_list(struct provider_call *call, const struct settings *settings, unsigned which)
{
	call_url(call, openai_base(settings), "models");
	openai_authorise(call, settings);
	return which == 0;
}

static bool compatible_is_ready(const struct settings *settings)
{
	return settings_get(settings, "OPENAI_BASE_URL") != NULL;
}

static int compatible_ask(struct provider_call *call, const struct settings *settings,
			  const struct provider_question *question, struct err *err)
{
	call_url(call, openai_base(settings), "chat/completions");
	json_header(call);
	openai_authorise(call, settings);
	body_chat(&call->body, question);
	call->shape = STREAM_CHAT;
	return 0;
}

/* --- Azure OpenAI: the model is the name of a deployment --- */

static bool azure_is_ready(const struct settings *settings)
{
	return settings_get(settings, "AZURE_OPENAI_ENDPOINT") &&
	       (settings_get(settings, "AZURE_OPENAI_API_KEY") ||
		settings_get(settings, "AZURE_OPENAI_AD_TOKEN"));
}

static void azure_authorise(struct provider_call *call, const struct settings *settings)
{
	const char *key = settings_get(settings, "AZURE_OPENAI_API_KEY");

	if (key)
		call_header(call, "api-key: %s", key);
	else
		call_header(call, "Authorization: Bearer %s",
			    settings_get(settings, "AZURE_OPENAI_AD_TOKEN"));
}

/* Whoever has set a version of the older interface has deployments that need it. */
static int azure_ask(struct provider_call *call, const struct settings *settings,
		     const struct provider_question *question, struct err *err)
{
	const char *endpoint = settings_get(settings, "AZURE_OPENAI_ENDPOINT");
	const char *version = settings_get(settings, "OPENAI_API_VERSION");

	if (version) {
		call_url(call, endpoint, "openai/deployments/");
		call_encode(&call->url, question->model);
		buf_text(&call->url, "/chat/completions?api-version=");
		call_encode(&call->url, version);
		body_chat(&call->body, question);
	} else {
		call_url(call, endpoint, "openai/v1/responses");
		body_responses(&call->body, question);
	}
	call->shape = version ? STREAM_CHAT : STREAM_RESPONSES;
	json_header(call);
	azure_authorise(call, settings);
	return 0;
}

static bool azure_list(struct provider_call *call, const struct settings *settings, unsigned which)
{
	call_url(call, settings_get(settings, "AZURE_OPENAI_ENDPOINT"), "openai/v1/models");
	azure_authorise(call, settings);
	return which == 0;
}

/* --- Anthropic --- */

static bool anthropic_is_ready(const struct settings *settings)
{
	return settings_get(settings, "ANTHROPIC_API_KEY") ||
	       settings_get(settings, "ANTHROPIC_AUTH_TOKEN");
}

static void anthropic_begin(struct provider_call *call, const struct settings *settings,
			    const char *rest)
{
	const char *key = settings_get(settings, "ANTHROPIC_API_KEY");

	call_url(call, get_or(settings, "ANTHROPIC_BASE_URL", "https://api.anthropic.com"), rest);
	call_header(call, "anthropic-version: 2023-06-01");
	if (key)
		call_header(call, "x-api-key: %s", key);
	else
		call_header(call, "Authorization: Bearer %s",
			    settings_get(settings, "ANTHROPIC_AUTH_TOKEN"));
}

static int anthropic_ask(struct provider_call *call, const struct settings *settings,
			 const struct provider_question *question, struct err *err)
{
	anthropic_begin(call, settings, "v1/messages");
	json_header(call);
	body_anthropic(&call->body, question);
	call->shape = STREAM_ANTHROPIC;
	return 0;
}

static bool anthropic_list(struct provider_call *call, const struct settings *settings,
			   unsigned which)
{
	anthropic_begin(call, settings, "v1/models?limit=1000");
	return which == 0;
}

/* --- Google Gemini --- */

static const char *gemini_key(const struct settings *settings)
{
	const char *key = settings_get(settings, "GOOGLE_API_KEY"); /* as Google's own library */

	return key ? key : settings_get(settings, "GEMINI_API_KEY");
}

static bool gemini_is_ready(const struct settings *settings)
{
	return gemini_key(settings) != NULL;
}

static void gemini_begin(struct provider_call *call, const struct settings *settings,
			 const char *rest)
{
	call_url(call, get_or(settings, "GOOGLE_GEMINI_BASE_URL",
			      "https://generativelanguage.googleapis.com"), rest);
	call_header(call, "x-goog-api-key: %s", gemini_key(settings));
}

static int gemini_ask(struct provider_call *call, const struct settings *settings,
		      const struct provider_question *question, struct err *err)
{
	const char *model = question->model;

	if (text_starts_with(model, "models/"))
		model += strlen("models/");
	gemini_begin(call, settings, "v1beta/models/");
	call_encode(&call->url, model);
	buf_text(&call->url, ":streamGenerateContent?alt=sse");
	json_header(call);
	body_gemini(&call->body, question);
	call->shape = STREAM_GEMINI;
	return 0;
}

static bool gemini_list(struct provider_call *call, const struct settings *settings, unsigned which)
{
	gemini_begin(call, settings, "v1beta/models?pageSize=1000");
	return which == 0;
}

/* --- Ollama --- */

/* OLLAMA_HOST is an address, or a host, or a host and a port; what a server listens on
 * (0.0.0.0) is reached on this machine. */
static void ollama_base(const struct settings *settings, struct buf *base)
{
	const char *host = get_or(settings, "OLLAMA_HOST", "127.0.0.1");
	bool has_scheme = strstr(host, "://") != NULL;

	if (text_starts_with(host, "http://0.0.0.0"))
		host += strlen("http://"), has_scheme = false;
	if (has_scheme) {
		buf_text(base, host);
		return;
	}
	const char *port = host + strcspn(host, ":");
	bool is_any = text_starts_with(host, "0.0.0.0") || port == host;
	buf_printf(base, "http://%.*s%s", is_any ? 9 : (int)(port - host),
		   is_any ? "127.0.0.1" : host, port);
	if (!*port)
		buf_printf(base, ":%d", OLLAMA_PORT);
}

/* Whether something listens there; nothing is sent. */
static bool is_listening(const char *base)
{
	const char *port = strrchr(base, ':');
	struct sockaddr_in address = {.sin_family = AF_INET};

	if (!text_starts_with(base, "http://"))
		return true; /* on another machine: not looked at before it is asked */
	address.sin_port = htons((uint16_t)(port ? strtoul(port + 1, NULL, 10) : 80));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	bool is_there = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	if (!is_there && errno == EINPROGRESS) {
		struct pollfd ready = {.fd = fd, .events = POLLOUT};

		is_there = poll(&ready, 1, LISTENING_MS) == 1 &&
			   !(ready.revents & (POLLERR | POLLHUP));
	}
	close(fd);
	return is_there;
}

static bool ollama_is_ready(const struct settings *settings)
{
	struct buf base;

	buf_init(&base, MAX_URL_BYTES);
	ollama_base(settings, &base);
	bool is_ready = is_listening(base.data);
	buf_fini(&base);
	return is_ready;
}

static void ollama_begin(struct provider_call *call, const struct settings *settings,
			 const char *rest)
{
	struct buf base;

	buf_init(&base, MAX_URL_BYTES);
	ollama_base(settings, &base);
	call_url(call, base.data, rest);
	buf_fini(&base);
}

static int ollama_ask(struct provider_call *call, const struct settings *settings,
		      const struct provider_question *question, struct err *err)
{
	ollama_begin(call, settings, "api/chat");
	json_header(call);
	body_ollama(&call->body, question);
	call->shape = STREAM_OLLAMA;
	return 0;
}

static bool ollama_list(struct provider_call *call, const struct settings *settings, unsigned which)
{
	ollama_begin(call, settings, "api/tags");
	return which == 0;
}

/* --- the table: the first that is ready is asked when none is named --- */

const struct provider providers[PROVIDER_COUNT] = {
	{"anthropic", "Anthropic", "ANTHROPIC_API_KEY", anthropic_is_ready, anthropic_ask,
	 anthropic_list, "data/id"},
	{"compatible", "OpenAI-compatible server",
	 "OPENAI_BASE_URL (and OPENAI_API_KEY if it wants one)", compatible_is_ready, compatible_ask, openai_list, "data/id"},
	{"openai", "OpenAI", "OPENAI_API_KEY", openai_is_ready, openai_ask, openai_list, "data/id"},
	{"azure", "Azure OpenAI", "AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY", azure_is_ready,
	 azure_ask, azure_list, "data/id"},
	{"bedrock", "Amazon Bedrock",
	 "AWS_REGION and AWS_BEARER_TOKEN_BEDROCK (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
	 bedrock_is_ready, bedrock_ask, bedrock_list,
	 "modelSummaries/modelId|inferenceProfileSummaries/inferenceProfileId"},
	{"gemini", "Google Gemini", "GOOGLE_API_KEY or GEMINI_API_KEY", gemini_is_ready, gemini_ask,
	 gemini_list, "models/name"},
	{"ollama", "Ollama on this machine",
	 "a running Ollama (OLLAMA_HOST if it is not at 127.0.0.1:11434)",
	 ollama_is_ready, ollama_ask, ollama_list, "models/name"},
};

int provider_find(const char *id, const struct provider **provider, struct err *err)
{
	struct buf names;

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		if (strcmp(providers[i].id, id) == 0) {
			*provider = &providers[i];
			return 0;
		}
	}
	buf_init(&names, 256);
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", providers[i].id);
	err_set(err, ERR_USAGE, "there is no provider '%.50s'; there are %s", id, names.data);
	buf_fini(&names);
	return -ERR_USAGE;
}

const struct provider *provider_choose(const struct settings *settings)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		if (providers[i].is_ready(settings))
			return &providers[i];
	}
	return NULL;
}
