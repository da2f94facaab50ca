/* suggest_parts.c - see suggest_parts.h. */
#include "serve/suggest_parts.h"

#include <string.h>

#include "base/mem.h"
#include "serve/answer.h"

enum MHD_Result suggest_refuse(struct MHD_Connection *connection, const char *sentence)
{
	return answer_sentence(connection, MHD_HTTP_BAD_REQUEST, sentence);
}

void suggest_text_begin(struct suggest_text *text)
{
	*text = (struct suggest_text){0};
	text->stream = open_memstream(&text->text, &text->size);
	if (!text->stream)
		mem_exhausted(0);
}

void suggest_text_end(struct suggest_text *text)
{
	if (fclose(text->stream) != 0)
		mem_exhausted(text->size);
}

enum MHD_Result suggest_text_answer(struct suggest_text *text, struct MHD_Connection *connection)
{
	suggest_text_end(text);
	struct blob *blob = blob_new(text->text, text->size);
	enum MHD_Result result = answer_blob(connection, blob, "application/json", NULL, NULL);
	blob_drop(blob);
	return result;
}

bool suggest_read_place(const json_t *root, struct suggest_place *request)
{
	json_int_t profile, file, line;
	const char *scope = "line";

	*request = (struct suggest_place){0};
	if (json_unpack((json_t *)root, "{s:I, s:I, s:I, s?s, s?s}", "profile", &profile, "file",
			&file, "line", &line, "scope", &scope, "path", &request->path) != 0)
		return false;
	if (profile < 0 || profile > UINT32_MAX || file < 0 || file > UINT32_MAX || line < 1 ||
	    line > INT32_MAX)
		return false;
	request->profile = (uint32_t)profile;
	request->place.file = (uint32_t)file;
	request->place.line1 = (uint32_t)line;
	for (int i = 0; i < PROMPT_SCOPES; i++) {
		if (strcmp(scope, prompt_scope_names[i]) == 0) {
			request->place.scope = (enum prompt_scope)i;
			return true;
		}
	}
	return false;
}

uint32_t suggest_find_file(const struct suggest_place *place, const struct profile *profile)
{
	if (!place->path)
		return place->place.file;
	const struct profile_file *file = profile_find_file(profile, place->path);
	return file ? (uint32_t)(file - profile->files) : UINT32_MAX;
}

bool suggest_is_cancelled(void *closure)
{
	return feed_is_cancelled(closure);
}

void suggest_send_error(struct feed *feed, const struct err *err)
{
	feed_event_text(feed, "error", err->message, strlen(err->message));
}
