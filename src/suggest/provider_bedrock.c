/* provider_bedrock.c - Amazon Bedrock: a bearer key, or requests signed with access keys.
 *
 * A model's id has colons, which are sent as %3A; sigv4.h says how that is signed.
 * AWS_ENDPOINT_URL_BEDROCK_RUNTIME and AWS_ENDPOINT_URL_BEDROCK lead elsewhere, as they
 * do with Amazon's own tools. */
#include <string.h>
#include <time.h>

#include "suggest/provider_parts.h"
#include "suggest/sigv4.h"

static const char *region_of(const struct settings *settings)
{
	const char *region = settings_get(settings, "AWS_REGION");

	return region ? region : settings_get(settings, "AWS_DEFAULT_REGION");
}

bool bedrock_is_ready(const struct settings *settings)
{
	return region_of(settings) && (settings_get(settings, "AWS_BEARER_TOKEN_BEDROCK") ||
				       (settings_get(settings, "AWS_ACCESS_KEY_ID") &&
					settings_get(settings, "AWS_SECRET_ACCESS_KEY")));
}

/* Signs what the call has so far: its address and body. */
static void sign(struct provider_call *call, const struct settings *settings, const char *method)
{
	const struct sigv4_keys keys = {
		.access = settings_get(settings, "AWS_ACCESS_KEY_ID"),
		.secret = settings_get(settings, "AWS_SECRET_ACCESS_KEY"),
		.session = settings_get(settings, "AWS_SESSION_TOKEN"),
	};
	const char *start = strstr(call->url.data, "://") + 3;
	const char *path = start + strcspn(start, "/");
	struct buf host, authorization;
	char date[SIGV4_DATE_BYTES];

	buf_init(&host, 1024);
	buf_init(&authorization, 8192);
	buf_append(&host, start, (size_t)(path - start));
	struct sigv4_request request = {
		.method = method,
		.host = host.data,
		.path = path,
		.query = "",
		.body = call->body.size ? call->body.data : NULL,
		.body_size = call->body.size,
		.region = region_of(settings),
		.service = "bedrock",
		.when = time(NULL),
	};
	sigv4_sign(&request, &keys, &authorization);
	sigv4_date(request.when, date);
	call_header(call, "X-Amz-Date: %s", date);
	if (keys.session)
		call_header(call, "X-Amz-Security-Token: %s", keys.session);
	call_header(call, "Authorization: %s", authorization.data);
	buf_fini(&host);
	buf_fini(&authorization);
}

static void authorise(struct provider_call *call, const struct settings *settings,
		      const char *method)
{
	const char *bearer = settings_get(settings, "AWS_BEARER_TOKEN_BEDROCK");

	if (call->body.size)
		call_header(call, "Content-Type: " SIGV4_TYPE);
	if (bearer)
		call_header(call, "Authorization: Bearer %s", bearer);
	else
		sign(call, settings, method);
}

static void put_base(struct provider_call *call, const struct settings *settings,
		     const char *variable, const char *service, const char *rest)
{
	const char *elsewhere = settings_get(settings, variable);
	struct buf base;

	buf_init(&base, 1024);
	if (elsewhere)
		buf_text(&base, elsewhere);
	else
		buf_printf(&base, "https://%s.%s.amazonaws.com", service, region_of(settings));
	call_url(call, base.data, rest);
	buf_fini(&base);
}

int bedrock_ask(struct provider_call *call, const struct settings *settings,
		const struct provider_question *question, struct err *err)
{
	put_base(call, settings, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "bedrock-runtime", "model/");
	call_encode(&call->url, question->model);
	buf_text(&call->url, "/converse-stream");
	if (!strstr(call->url.data, "://"))
		return err_set(err, ERR_USAGE, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME is no address");
	body_converse(&call->body, question);
	call->shape = STREAM_CONVERSE;
	authorise(call, settings, "POST");
	return 0;
}

bool bedrock_list(struct provider_call *call, const struct settings *settings, unsigned which)
{
	static const char *const lists[] = {"foundation-models", "inference-profiles"};

	if (which >= sizeof(lists) / sizeof(lists[0]))
		return false;
	put_base(call, settings, "AWS_ENDPOINT_URL_BEDROCK", "bedrock", lists[which]);
	if (!strstr(call->url.data, "://"))
		return false;
	authorise(call, settings, "GET");
	return true;
}
