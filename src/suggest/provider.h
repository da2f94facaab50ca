/* provider.h - who can be asked, and how a request to each of them looks.
 *
 * The table has seven rows.  A row says which settings it takes, how requests are
 * addressed and authorised, and which shape its answers have (stream.h).  No model is
 * named here: the provider lists those that it has.  Keys travel in headers, never in
 * an address. */
#ifndef HEATLINE_SUGGEST_PROVIDER_H
#define HEATLINE_SUGGEST_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "suggest/settings.h"
#include "suggest/stream.h"

/* A request, ready to be sent. */
struct provider_call {
	struct buf url;
	VEC(char *) headers; /* owned */
	struct buf body;     /* empty: GET */
	enum stream_shape shape;
};

struct provider_question {
	const char *model, *system, *prompt;
};

struct provider {
	const char *id;
	const char *name;
	const char *needs; /* the settings without which it cannot be asked, for people */
	bool (*is_ready)(const struct settings *settings);
	/* Fill a call; negative with the sentence in err when a setting is wrong. */
	int (*ask)(struct provider_call *call, const struct settings *settings,
		   const struct provider_question *question, struct err *err);
	/* The which-th request that lists models; false when there is none. */
	bool (*list)(struct provider_call *call, const struct settings *settings, unsigned which);
	const char *models_key; /* the array in the list's answers, and what names a model: "data/id" */
};

#define PROVIDER_COUNT 7u
extern const struct provider providers[PROVIDER_COUNT];

/* The provider of this id; negative with the sentence in err, which names them. */
int provider_find(const char *id, const struct provider **provider, struct err *err);

/* The first that is ready; NULL: none. */
const struct provider *provider_choose(const struct settings *settings);

void provider_call_init(struct provider_call *call);
void provider_call_fini(struct provider_call *call);

#endif
