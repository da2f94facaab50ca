/* live_attach.c - follow a process from outside, and publish what is seen. */
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/live.h"
#include "collect/attach.h"
#include "profile/model.h"
#include "profile/write.h"

#define STEP_S 0.2 /* of looking, between two looks whether somebody wants us to end */

static void publish(struct attach *attach, struct server *server, bool is_partial)
{
	const struct write_options options = WRITE_OPTIONS_DEFAULT;
	struct profile *profile = attach_profile(attach, is_partial);
	size_t size;

	if (!profile)
		return;
	char *text = profile_write_text(profile, &options, &size);
	profile_free(profile);
	server_publish(server, text, size);
}

bool live_follow_process(struct attach *attach, struct server *server, const sigset_t *signals)
{
	const struct timespec no_time = {0};
	uint64_t next_ns = 0;

	while (attach_step(attach, STEP_S)) {
		uint64_t now_ns = clock_monotonic_ns();

		if (sigtimedwait(signals, NULL, &no_time) > 0)
			return false;
		if (now_ns < next_ns)
			continue;
		next_ns = now_ns + SECOND_NS;
		server_tick(server);
		if (server_is_watched(server))
			publish(attach, server, true);
	}
	publish(attach, server, false);
	server_end_live(server);
	return true;
}
