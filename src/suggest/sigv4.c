/* sigv4.c - the canonical request, the text to sign, the signature. */
#include "suggest/sigv4.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

void sigv4_date(time_t when, char date[SIGV4_DATE_BYTES])
{
	struct tm parts;

	gmtime_r(&when, &parts);
	strftime(date, SIGV4_DATE_BYTES, "%Y%m%dT%H%M%SZ", &parts);
}

static void append_hash(struct buf *out, const void *data, size_t size)
{
	unsigned char digest[SHA256_BYTES];
	char hex[SHA256_HEX_BYTES];

	sha256(data, size, digest);
	sha256_hex(digest, hex);
	buf_text(out, hex);
}

static void append_encoded_path(struct buf *out, const char *path)
{
	for (; *path; path++) {
		if (isalnum((unsigned char)*path) || strchr("-_.~/", *path))
			buf_char(out, *path);
		else
			buf_printf(out, "%%%02X", (unsigned char)*path);
	}
}

static void append_header_names(struct buf *out, const struct sigv4_request *request,
				const struct sigv4_keys *keys)
{
	buf_text(out, request->body ? "content-type;host;x-amz-date" : "host;x-amz-date");
	if (keys->session)
		buf_text(out, ";x-amz-security-token");
}

static void append_canonical(struct buf *out, const struct sigv4_request *request,
			     const struct sigv4_keys *keys, const char *date)
{
	buf_printf(out, "%s\n", request->method);
	append_encoded_path(out, request->path);
	buf_printf(out, "\n%s\n", request->query);
	if (request->body)
		buf_text(out, "content-type:" SIGV4_TYPE "\n");
	buf_printf(out, "host:%s\nx-amz-date:%s\n", request->host, date);
	if (keys->session)
		buf_printf(out, "x-amz-security-token:%s\n", keys->session);
	buf_char(out, '\n');
	append_header_names(out, request, keys);
	buf_char(out, '\n');
	append_hash(out, request->body ? request->body : "", request->body_size);
}

/* HMAC by HMAC from the secret to the key of the day, the region and the service. */
static void derive_key(const struct sigv4_request *request, const char *secret, const char *date,
		       unsigned char key[SHA256_BYTES])
{
	struct buf first;

	buf_init(&first, SIZE_MAX);
	buf_printf(&first, "AWS4%s", secret);
	sha256_hmac(first.data, first.size, date, 8, key);
	explicit_bzero(first.data, first.size);
	buf_fini(&first);
	sha256_hmac(key, SHA256_BYTES, request->region, strlen(request->region), key);
	sha256_hmac(key, SHA256_BYTES, request->service, strlen(request->service), key);
	sha256_hmac(key, SHA256_BYTES, "aws4_request", strlen("aws4_request"), key);
}

void sigv4_sign(const struct sigv4_request *request, const struct sigv4_keys *keys,
		struct buf *authorization)
{
	unsigned char key[SHA256_BYTES];
	char date[SIGV4_DATE_BYTES], signature[SHA256_HEX_BYTES];
	struct buf canonical, text, scope;

	sigv4_date(request->when, date);
	buf_init(&canonical, SIZE_MAX);
	buf_init(&text, SIZE_MAX);
	buf_init(&scope, SIZE_MAX);
	append_canonical(&canonical, request, keys, date);
	buf_printf(&scope, "%.8s/%s/%s/aws4_request", date, request->region, request->service);
	buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%s\n", date, scope.data);
	append_hash(&text, canonical.data, canonical.size);
	derive_key(request, keys->secret, date, key);
	sha256_hmac(key, sizeof(key), text.data, text.size, key);
	sha256_hex(key, signature);
	explicit_bzero(key, sizeof(key));
	buf_printf(authorization, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=", keys->access,
		   scope.data);
	append_header_names(authorization, request, keys);
	buf_printf(authorization, ", Signature=%s", signature);
	buf_fini(&canonical);
	buf_fini(&text);
	buf_fini(&scope);
}
