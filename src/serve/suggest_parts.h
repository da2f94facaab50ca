/* suggest_parts.h - what the answers about suggestions share; inner part of suggest_api.c. */
#ifndef HEATLINE_SERVE_SUGGEST_PARTS_H
#define HEATLINE_SERVE_SUGGEST_PARTS_H

#include <jansson.h>
#include <microhttpd.h>
#include <stdio.h>

#include "serve/feed.h"
#include "serve/route.h"
#include "serve/store.h"
#include "suggest/prompt.h"

/* 400 with a sentence. */
enum MHD_Result suggest_refuse(struct MHD_Connection *connection, const char *sentence);

/* Text that is made through a stream: begin, write, end; then it is the caller's. */
struct suggest_text {
	FILE *stream;
	char *text;
	size_t size;
};
void suggest_text_begin(struct suggest_text *text);
void suggest_text_end(struct suggest_text *text);

/* Ends it and answers with it, as JSON. */
enum MHD_Result suggest_text_answer(struct suggest_text *text, struct MHD_Connection *connection);

/* A place of a profile, as requests name it. */
struct suggest_place {
	uint32_t profile;
	struct prompt_place place;
	const char *path; /* borrowed from the request; NULL: by number */
};
bool suggest_read_place(const json_t *root, struct suggest_place *place);

/* The index of its file in the profile; UINT32_MAX: none. */
uint32_t suggest_find_file(const struct suggest_place *place, const struct profile *profile);

/* For those who work for a feed, which is the closure. */
bool suggest_is_cancelled(void *closure);
void suggest_send_error(struct feed *feed, const struct err *err);

/* Answers verify and apply (suggest_change.c). */
enum MHD_Result suggest_answer_change(struct store *store, struct feeds *feeds,
				      struct MHD_Connection *connection, const struct route *route,
				      const json_t *root);

#endif
