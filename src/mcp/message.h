/* message.h - JSON-RPC 2.0 messages, one a line, as MCP's stdio transport has them.
 *
 * What comes in is untrusted: a line is bounded, every type is checked, and
 * whatever is wrong with it becomes an error to answer with. */
#ifndef HEATLINE_MCP_MESSAGE_H
#define HEATLINE_MCP_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define MESSAGE_MAX_BYTES ((size_t)1 << 20) /* of a line; longer ones are refused */

enum message_kind {
	MESSAGE_REQUEST,
	MESSAGE_NOTIFICATION,
	MESSAGE_RESPONSE, /* to something that we never asked: passed over */
	MESSAGE_BAD,      /* answered with code and reason */
};

/* Codes of JSON-RPC, and of MCP. */
enum {
	MESSAGE_PARSE_ERROR = -32700,
	MESSAGE_INVALID_REQUEST = -32600,
	MESSAGE_NO_METHOD = -32601,
	MESSAGE_INVALID_PARAMS = -32602,
	MESSAGE_UNSUPPORTED_VERSION = -32022,
};

struct message {
	enum message_kind kind;
	json_t *root;       /* owned */
	const char *method; /* of requests and notifications; borrowed, as all below */
	json_t *id;         /* a text or whole number; NULL: none */
	json_t *params;     /* an object; NULL: none */
	int code;           /* of MESSAGE_BAD */
	const char *reason; /* static */
};

void message_parse(struct message *message, const char *line, size_t size);
void message_fini(struct message *message);

/* Members of an object, which may be NULL; NULL where there is none of that type. */
const char *message_text(const json_t *object, const char *key);
json_t *message_object(const json_t *object, const char *key);

/* A message to send, which the caller owns.  id may be NULL (null); result, params and data
 * are taken over; data may be NULL. */
json_t *message_result(json_t *id, json_t *result);
json_t *message_error(json_t *id, int code, const char *text, json_t *data);
json_t *message_notification(const char *method, json_t *params);

/* Lines from a stream that comes in pieces.  A line beyond the maximum is given out
 * once, cut and marked, and passed over to its end. */
struct message_lines {
	char *data; /* owned */
	size_t size, room;
	size_t start;      /* of what has not been given out */
	bool is_passing;   /* the rest of a line that was too long */
};

void message_lines_init(struct message_lines *lines);
void message_lines_fini(struct message_lines *lines);
void message_lines_feed(struct message_lines *lines, const char *bytes, size_t size);

/* The next whole line without its end, valid until the next feed; false: none yet. */
bool message_lines_next(struct message_lines *lines, const char **line, size_t *size,
			bool *is_too_long);

#endif
