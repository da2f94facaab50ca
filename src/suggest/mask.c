/* mask.c - find secrets in one pass.
 *
 * At each place the rules are tried in turn; the first that knows a secret
 * there says where it begins and ends.  A rule looks only forward and within
 * the line (private keys: to their end), so time is linear but for short looks. */
#include "suggest/mask.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define MIN_VALUE_BYTES 4u    /* of a named secret; shorter ones are "", "x", "no" */
#define MIN_RANDOM_BYTES 24u  /* of a word that looks drawn by lot */
#define MIN_HEX_BYTES 32u
#define RANDOM_BITS 3.8       /* entropy a letter; English words joined have less */
#define HEX_BITS 3.0
#define MAX_NAME_BYTES 80u

struct text {
	const char *at, *end;
};

/* A secret: [begin, end). */
struct secret {
	const char *begin, *end;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Letters of base64, base64url and the makers' own keys. */
static bool is_key_letter(char c)
{
	return is_word(c) || c == '-' || c == '+' || c == '/' || c == '=' || c == '.' || c == '~';
}

static size_t span(struct text text, bool (*is_part)(char))
{
	const char *at = text.at;

	while (at < text.end && is_part(*at))
		at++;
	return (size_t)(at - text.at);
}

static bool has_prefix(struct text text, const char *prefix)
{
	size_t size = strlen(prefix);

	return (size_t)(text.end - text.at) >= size && strncasecmp(text.at, prefix, size) == 0;
}

static bool is_masked(struct secret secret)
{
	size_t size = strlen(MASK_TEXT);

	return (size_t)(secret.end - secret.begin) == size &&
	       memcmp(secret.begin, MASK_TEXT, size) == 0;
}

/* --- the value of a name that speaks of a secret --- */

static bool name_is_secret(const char *name, size_t size)
{
	static const char *const parts[] = {
		"password", "passwd", "passphrase", "pwd", "secret", "apikey", "api_key", "api-key",
		"accesskey", "access_key", "privatekey", "private_key", "account_key", "accountkey",
		"sharedaccesskey", "signing_key", "encryption_key", "auth_token", "credential",
		"connection_string", "connectionstring", "conn_str", "dsn", "database_url", "token",
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = strlen(parts[i]);

		for (size_t start = 0; start + length <= size; start++) {
			if (strncasecmp(name + start, parts[i], length) == 0)
				return true;
		}
	}
	return false;
}

static const char *skip_spaces(struct text text)
{
	while (text.at < text.end && (*text.at == ' ' || *text.at == '\t'))
		text.at++;
	return text.at;
}

/* A literal in quotes, with its letters (r, b, f) before; its inside. */
static bool find_literal(struct text text, struct secret *secret)
{
	for (int letters = 0; letters < 2 && text.at < text.end && isalpha((unsigned char)*text.at);
	     letters++)
		text.at++;
	if (text.at >= text.end || (*text.at != '"' && *text.at != '\''))
		return false;
	char quote = *text.at++;
	bool is_long = text.end - text.at >= 2 && text.at[0] == quote && text.at[1] == quote;
	text.at += is_long ? 2 : 0;
	const char *at = text.at;
	while (at < text.end && *at != '\n' && *at != quote)
		at += *at == '\\' && at + 1 < text.end && at[1] != '\n' ? 2 : 1;
	*secret = (struct secret){text.at, at < text.end ? at : text.end};
	return true;
}

/* A type after a name: Optional[str], typing.Final, str | None. */
static const char *skip_type(struct text text)
{
	unsigned depth = 0;

	for (; text.at < text.end; text.at++) {
		char c = *text.at;

		if (c == '[')
			depth++;
		else if (depth && c == ']')
			depth--;
		else if (!is_word(c) && (c != ',' || !depth) && !strchr(".| \t", c))
			break;
	}
	return text.at;
}

static bool is_bare_value(char c)
{
	return !isspace((unsigned char)c) && !strchr(";,&\"'()[]{}<>", c);
}

/* After a secret's name: = or : or a comma between arguments, a type in between, and a
 * literal.  Inside of a literal ("Password=x;") the value stands bare. */
static bool find_named(struct text text, const char *line, struct secret *secret)
{
	size_t name = span(text, is_word);
	const char *begin = text.at;

	if (name < 3 || name > MAX_NAME_BYTES || (begin > line && is_word(begin[-1])) ||
	    !name_is_secret(begin, name))
		return false;
	text.at += name;
	while (text.at < text.end && strchr("\"')]", *text.at) && text.at - begin < 90)
		text.at++;
	text.at = skip_spaces(text);
	if (text.at < text.end && *text.at == ':') { /* a type, or a dictionary's value */
		struct text rest = {text.at + 1, text.end};

		rest.at = skip_spaces(rest);
		if (find_literal(rest, secret))
			return true;
		text.at = skip_type(rest);
	}
	if (text.at >= text.end || (*text.at != '=' && *text.at != ',' && *text.at != '!'))
		return false;
	bool is_comma = *text.at == ',';
	const char *sign = text.at;
	text.at += 1 + (text.at + 1 < text.end && text.at[1] == '=');
	bool is_close = text.at - sign == 1 && text.at < text.end && is_bare_value(*text.at);
	text.at = skip_spaces(text);
	struct text literal = text;
	if (literal.at < literal.end && *literal.at == '(') { /* in brackets, to go on below */
		literal.at++;
		literal.at = skip_spaces(literal);
	}
	if (find_literal(literal, secret))
		return true;
	/* Bare, as in a connection string: a quote must be open before it on the line. */
	size_t quotes = 0;
	for (const char *at = line; at < begin; at++)
		quotes += *at == '"' || *at == '\'';
	if (is_comma || !is_close || quotes % 2 == 0)
		return false;
	*secret = (struct secret){text.at, text.at + span(text, is_bare_value)};
	return true;
}

/* --- forms that say what they are --- */

static bool has_digit(const char *word, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (isdigit((unsigned char)word[i]))
			return true;
	}
	return false;
}

static bool find_known(struct text text, const char *line, struct secret *secret)
{
	static const struct {
		const char *prefix;
		size_t least; /* bytes, with the prefix */
	} forms[] = {
		{"sk-", 20}, {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16}, {"AKIA", 20},
		{"ASIA", 20}, {"ghp_", 20}, {"gho_", 20}, {"ghu_", 20}, {"ghs_", 20}, {"ghr_", 20},
		{"github_pat_", 20}, {"glpat-", 16}, {"xoxa-", 16}, {"xoxb-", 16}, {"xoxp-", 16},
		{"xoxs-", 16}, {"xoxr-", 16}, {"AIza", 30}, {"ya29.", 20}, {"eyJ", 30}, {"hf_", 20},
		{"npm_", 30}, {"pypi-", 30}, {"SG.", 30}, {"bedrock-api-key-", 24}, {"ABSK", 30},
	};
	size_t size;

	if (text.at > line && is_word(text.at[-1]))
		return false;
	size = span(text, is_key_letter);
	if (!has_digit(text.at, size)) /* a name that happens to begin so */
		return false;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t length = strlen(forms[i].prefix);

		if (size >= forms[i].least && memcmp(text.at, forms[i].prefix, length) == 0) {
			*secret = (struct secret){text.at, text.at + size};
			return true;
		}
	}
	return false;
}

static bool find_bearer(struct text text, struct secret *secret)
{
	size_t skip = has_prefix(text, "Bearer ") ? 7 : has_prefix(text, "Basic ") ? 6 : 0;
	struct text rest = {text.at + skip, text.end};
	size_t size = skip ? span(rest, is_key_letter) : 0;

	if (size < 12)
		return false;
	*secret = (struct secret){rest.at, rest.at + size};
	return true;
}

static bool is_user_letter(char c)
{
	return !isspace((unsigned char)c) && !strchr("@/\"'", c);
}

/* "://user:password@": the password. */
static bool find_address(struct text text, struct secret *secret)
{
	if (!has_prefix(text, "://"))
		return false;
	struct text rest = {text.at + 3, text.end};
	size_t size = span(rest, is_user_letter);
	const char *colon = memchr(rest.at, ':', size);

	if (rest.at + size >= text.end || rest.at[size] != '@' || !colon ||
	    colon + 1 == rest.at + size)
		return false;
	*secret = (struct secret){colon + 1, rest.at + size};
	return true;
}

/* --- words that look drawn by lot --- */

static double entropy_bits(const char *word, size_t size)
{
	unsigned counts[256] = {0};
	double bits = 0;

	for (size_t i = 0; i < size; i++)
		counts[(unsigned char)word[i]]++;
	for (size_t i = 0; i < 256; i++) {
		double share = (double)counts[i] / (double)size;

		bits -= counts[i] ? share * log2(share) : 0;
	}
	return bits;
}

static bool is_random_letter(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_';
}

static bool find_random(struct text text, const char *line, struct secret *secret)
{
	unsigned upper = 0, lower = 0, digits = 0, hex = 0;
	size_t size;

	if (text.at > line && is_random_letter(text.at[-1]))
		return false;
	size = span(text, is_random_letter);
	if (size < MIN_RANDOM_BYTES)
		return false;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text.at[i];

		upper += isupper(c) != 0;
		lower += islower(c) != 0;
		digits += isdigit(c) != 0;
		hex += isxdigit(c) != 0;
	}
	bool is_mixed = upper >= 3 && lower >= 3 && digits >= 3;
	bool is_hex = hex == size && size >= MIN_HEX_BYTES && digits >= 4 && upper + lower >= 4;
	bool is_small = size >= MIN_HEX_BYTES && digits >= 6 && (upper >= 6 || lower >= 6);
	double bits = entropy_bits(text.at, size);
	if (!(is_hex && bits >= HEX_BITS) && !((is_mixed || is_small) && bits >= RANDOM_BITS))
		return false;
	*secret = (struct secret){text.at, text.at + size};
	return true;
}

/* --- private keys --- */

static const char *find_text(const char *at, const char *end, const char *wanted)
{
	return memmem(at, (size_t)(end - at), wanted, strlen(wanted));
}

/* From "-----BEGIN … PRIVATE KEY-----": where its body begins and ends. */
static bool find_private_key(struct text text, struct secret *secret)
{
	static const char begin[] = "-----BEGIN ", mark[] = "PRIVATE KEY-----", end[] = "-----END ";

	if (!has_prefix(text, begin))
		return false;
	const char *head = find_text(text.at, text.end, mark);
	if (!head || head - text.at > 60)
		return false;
	head += sizeof(mark) - 1;
	const char *tail = find_text(head, text.end, end);
	*secret = (struct secret){head, tail ? tail : text.end};
	return true;
}

/* Each line of the body becomes a masked one; false when they were that already. */
static bool append_lines(struct buf *out, struct secret secret)
{
	size_t before = out->size, size = (size_t)(secret.end - secret.begin);
	bool is_begun = false;

	for (const char *at = secret.begin; at < secret.end; at++) {
		if (*at == '\n') {
			buf_char(out, '\n');
			is_begun = false;
		} else if (!is_begun && !isspace((unsigned char)*at)) {
			buf_text(out, MASK_TEXT);
			is_begun = true;
		}
	}
	return out->size - before != size || memcmp(out->data + before, secret.begin, size) != 0;
}

/* --- the pass --- */

static bool find_secret(struct text text, const char *line, struct secret *secret)
{
	bool is_found = find_bearer(text, secret) || find_address(text, secret) ||
			find_known(text, line, secret);

	if (!is_found && find_named(text, line, secret))
		is_found = (size_t)(secret->end - secret->begin) >= MIN_VALUE_BYTES;
	if (!is_found)
		is_found = find_random(text, line, secret);
	return is_found && !is_masked(*secret);
}

uint32_t mask_append(struct buf *out, const char *text, size_t size)
{
	struct text rest = {text, text + size};
	const char *line = text, *line_end = text;
	uint32_t count = 0;
	struct secret secret;

	while (rest.at < rest.end) {
		if (*rest.at == '-' && find_private_key(rest, &secret)) {
			buf_append(out, rest.at, (size_t)(secret.begin - rest.at));
			count += append_lines(out, secret);
			rest.at = line = line_end = secret.end;
			continue;
		}
		if (rest.at >= line_end) {
			line_end = memchr(rest.at, '\n', (size_t)(rest.end - rest.at));
			line_end = line_end ? line_end : rest.end;
		}
		struct text within = {rest.at, line_end};
		bool is_start = is_word(*rest.at) || *rest.at == ':';
		if (is_start && find_secret(within, line, &secret)) {
			buf_append(out, rest.at, (size_t)(secret.begin - rest.at));
			buf_text(out, MASK_TEXT);
			rest.at = secret.end;
			count++;
			continue;
		}
		if (*rest.at == '\n')
			line = rest.at + 1;
		buf_char(out, *rest.at++);
	}
	return count;
}
