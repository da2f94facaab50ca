/* doctor_page.c - what shows a profile, and who can be asked about it. */
#include "cli/doctor.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/page.h"
#include "cli/places.h"
#include "serve/assets.h"
#include "serve/listen.h"
#include "serve/mhd.h"
#include "suggest/http.h"
#include "suggest/provider.h"

/* ---- the page ---- */

/* The port that it would be served at, or negative with the reason. */
static int find_port(uint16_t *port, struct err *err)
{
	int fd = listen_near(0, SERVER_PORT, port, err);

	if (fd < 0)
		return -(int)err->code;
	close(fd);
	return 0;
}

void doctor_check_page(struct doctor *doctor)
{
	struct doctor_check *check = doctor_add(doctor, "page");
	uint16_t port = 0;
	struct err err;

	if (assets_check(&err)) {
		doctor_blame(check, DOCTOR_NO, &err);
		return;
	}
	if (mhd_open(&err)) {
		doctor_say(check, DOCTOR_LIMITED, "'heatline view' can only write it to a file (--html): there is no "
						  "libmicrohttpd to serve it");
		doctor_fix_package(check, "libmicrohttpd12", "libmicrohttpd.so.12");
		return;
	}
	if (find_port(&port, &err)) {
		doctor_blame(check, DOCTOR_NO, &err);
		return;
	}
	doctor_fact_number(check, "port", port);
	doctor_fact_truth(check, "is_usual_port", port == SERVER_PORT);
	if (port == SERVER_PORT)
		doctor_say(check, DOCTOR_OK, "'heatline view' can serve it, at port %u", port);
	else
		doctor_say(check, DOCTOR_OK, "'heatline view' can serve it, at port %u, since %u is in use", port,
			   SERVER_PORT);
}

void doctor_check_browser(struct doctor *doctor)
{
	struct doctor_check *check = doctor_add(doctor, "browser");
	char command[PATH_MAX];
	char *words[BROWSER_MAX_WORDS + 1];

	if (!page_browser(true, "http://127.0.0.1/", command, sizeof(command), words)) {
		doctor_say(check, DOCTOR_NOTE, "no display here: 'heatline view' prints the address, and the line "
					       "that brings it to another machine");
		return;
	}
	char *path = places_find_command(words[0]);
	doctor_fact_text(check, "command", words[0]);
	if (path) {
		doctor_say(check, DOCTOR_OK, "'heatline view' opens it with %s", words[0]);
	} else {
		doctor_say(check, DOCTOR_LIMITED, "there is no %s to open it with; 'heatline view' prints the address",
			   words[0]);
		if (getenv("BROWSER") && *getenv("BROWSER"))
			doctor_fix(check, "export BROWSER=firefox, or another command that is there");
		else
			doctor_fix_package(check, "xdg-utils", "xdg-open");
	}
	free(path);
}

/* ---- suggestions ---- */

/* "Anthropic, Ollama on this machine": who could be asked now. */
static unsigned name_ready(const struct settings *settings, struct buf *names)
{
	unsigned count = 0;

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		if (providers[i].is_ready(settings))
			buf_printf(names, "%s%s", count++ ? ", " : "", providers[i].name);
	}
	return count;
}

static void say_providers(struct doctor_check *check, const struct settings *settings)
{
	struct buf names;

	buf_init(&names, DOCTOR_TEXT_BYTES / 2);
	unsigned count = name_ready(settings, &names);
	doctor_fact_text(check, "providers", count ? names.data : "");
	if (count) {
		doctor_say(check, DOCTOR_OK, "'heatline suggest' can ask: %s", names.data);
	} else {
		doctor_say(check, DOCTOR_NOTE, "no model to ask is set up; 'heatline suggest' needs a key or an Ollama");
		doctor_fix(check, "heatline help suggest");
	}
	buf_fini(&names);
}

void doctor_check_suggest(struct doctor *doctor)
{
	struct doctor_check *check = doctor_add(doctor, "suggest");
	struct settings settings;
	struct err err;

	if (http_open(&err)) {
		doctor_say(check, DOCTOR_LIMITED, "'heatline suggest' can only show its prompt (--prompt-only): there is "
						  "no libcurl");
		doctor_fix_package(check, "libcurl4", "libcurl.so.4");
		return;
	}
	if (settings_load(&settings, &err))
		doctor_blame(check, DOCTOR_LIMITED, &err);
	else
		say_providers(check, &settings);
	settings_fini(&settings);
}
