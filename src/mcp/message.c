/* message.c - parse and make JSON-RPC messages. */
#include "mcp/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void refuse(struct message *message, int code, const char *reason)
{
	message->kind = MESSAGE_BAD;
	message->code = code;
	message->reason = reason;
}

static void read_request(struct message *message)
{
	json_t *params = json_object_get(message->root, "params");
	const char *method = message_text(message->root, "method");
	json_t *id = json_object_get(message->root, "id");
	if (id && (json_is_string(id) || json_is_integer(id)))
		message->id = id;
	message->kind = id ? MESSAGE_REQUEST : MESSAGE_NOTIFICATION;
	message->method = method;
	message->params = json_is_object(params) ? params : NULL;
	if (id && !message->id)
		refuse(message, MESSAGE_INVALID_REQUEST, "the id is neither a text nor a whole number");
	else if (params && !message->params)
		refuse(message, MESSAGE_INVALID_PARAMS, "params is not an object");
}

void message_parse(struct message *message, const char *line, size_t size)
{
	json_error_t error;
	*message = (struct message){.kind = MESSAGE_BAD};
	message->root = size <= MESSAGE_MAX_BYTES ? json_loadb(line, size, 0, &error) : NULL;
	const char *version = message_text(message->root, "jsonrpc");
	if (!message->root)
		refuse(message, MESSAGE_PARSE_ERROR, "the line is not JSON");
	else if (!json_is_object(message->root))
		refuse(message, MESSAGE_INVALID_REQUEST, "a message is an object; batches are not taken");
	else if (!version || strcmp(version, "2.0") != 0)
		refuse(message, MESSAGE_INVALID_REQUEST, "the message is not of JSON-RPC 2.0");
	else if (message_text(message->root, "method"))
		read_request(message);
	else if (json_object_get(message->root, "result") || json_object_get(message->root, "error"))
		message->kind = MESSAGE_RESPONSE;
	else
		refuse(message, MESSAGE_INVALID_REQUEST, "the message has no method");
}

void message_fini(struct message *message)
{
	json_decref(message->root);
	*message = (struct message){.kind = MESSAGE_BAD};
}

const char *message_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

json_t *message_object(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	return json_is_object(value) ? value : NULL;
}

static json_t *begin(json_t *id)
{
	json_t *message = json_object();
	json_object_set_new(message, "jsonrpc", json_string("2.0"));
	if (id)
		json_object_set(message, "id", id);
	else
		json_object_set_new(message, "id", json_null());
	return message;
}

json_t *message_result(json_t *id, json_t *result)
{
	json_t *message = begin(id);
	json_object_set_new(message, "result", result);
	return message;
}

json_t *message_error(json_t *id, int code, const char *text, json_t *data)
{
	json_t *message = begin(id), *error = json_object();
	json_object_set_new(error, "code", json_integer(code));
	json_object_set_new(error, "message", json_string(text));
	if (data)
		json_object_set_new(error, "data", data);
	json_object_set_new(message, "error", error);
	return message;
}

json_t *message_notification(const char *method, json_t *params)
{
	json_t *message = begin(NULL);
	json_object_del(message, "id");
	json_object_set_new(message, "method", json_string(method));
	json_object_set_new(message, "params", params);
	return message;
}

/* ---- lines ---- */

void message_lines_init(struct message_lines *lines)
{
	*lines = (struct message_lines){.data = NULL};
}

void message_lines_fini(struct message_lines *lines)
{
	free(lines->data);
	message_lines_init(lines);
}

void message_lines_feed(struct message_lines *lines, const char *bytes, size_t size)
{
	if (lines->start) {
		memmove(lines->data, lines->data + lines->start, lines->size - lines->start);
		lines->size -= lines->start;
		lines->start = 0;
	}
	if (lines->size + size > lines->room) {
		lines->room = 2 * (lines->size + size);
		lines->data = mem_resize(lines->data, lines->room, 1);
	}
	if (size)
		memcpy(lines->data + lines->size, bytes, size);
	lines->size += size;
}

bool message_lines_next(struct message_lines *lines, const char **line, size_t *size,
			bool *is_too_long)
{
	for (;;) {
		char *start = lines->data + lines->start;
		size_t left = lines->size - lines->start;
		char *end = left ? memchr(start, '\n', left) : NULL;
		if (!end && left <= MESSAGE_MAX_BYTES)
			return false;
		size_t taken = end ? (size_t)(end - start) : left;
		bool was_passing = lines->is_passing;
		lines->is_passing = !end;
		lines->start += taken + (end ? 1 : 0);
		if (was_passing)
			continue; /* the rest of what was refused already */
		*is_too_long = taken > MESSAGE_MAX_BYTES;
		*line = start;
		*size = taken && start[taken - 1] == '\r' ? taken - 1 : taken;
		return true;
	}
}
