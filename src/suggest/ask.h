/* ask.h - ask a provider: its models, or a question whose answer streams in.
 *
 * A provider that is busy (429, 5xx) is asked again, twice, after the time that it
 * asks for if that is short.  What goes wrong is told in one sentence, in which no
 * key of the settings stands. */
#ifndef HEATLINE_SUGGEST_ASK_H
#define HEATLINE_SUGGEST_ASK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "suggest/provider.h"
#include "suggest/settings.h"

#define ASK_MAX_ANSWER_BYTES ((size_t)4 << 20) /* as it arrives */
#define ASK_MAX_TEXT_BYTES ((size_t)512 << 10) /* of its text */

struct ask {
	const struct settings *settings;
	const struct provider *provider;
	struct provider_question question;
	/* Gets the text as it arrives; whole characters. */
	void (*on_text)(void *closure, const char *text, size_t size);
	/* Asked about once a second; true ends the transfer.  NULL: never. */
	bool (*is_cancelled)(void *closure);
	void *closure;
};

struct ask_answer {
	struct buf text;
	const char *note; /* why it is not the whole answer; static; NULL: it is */
};

/* 0 and the answer, or negative with the sentence in err (also when it was cancelled).
 * ask_answer_fini in any case. */
int ask_send(const struct ask *ask, struct ask_answer *answer, struct err *err);
void ask_answer_fini(struct ask_answer *answer);

/* The names of the provider's models, in its order. */
struct ask_models {
	VEC(char *) names; /* owned */
};
int ask_list_models(const struct settings *settings, const struct provider *provider,
		    bool (*is_cancelled)(void *closure), void *closure, struct ask_models *models,
		    struct err *err);
void ask_models_fini(struct ask_models *models);

#endif
