/* page.c - serve a profile's page, or write it to a file. */
#include "cli/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/outfile.h"
#include "profile/read.h"
#include "profile/write.h"
#include "serve/assets.h"
#include "serve/editor.h"
#include "serve/spawn.h"
#include "serve/standalone.h"

/* Adds the profile without its lines that have no figures. */
static int add_reduced(struct store *store, const char *path, struct err *err)
{
	const struct write_options how = {.is_reduced = true, .has_stacks = true};
	struct profile *profile = profile_read(path, err);
	size_t size;

	if (!profile)
		return -1;
	char *text = profile_write_text(profile, &how, &size);
	profile_free(profile);
	store_add_published(store);
	store_publish(store, store_count(store) - 1, text, size);
	return 0;
}

/* The profiles that the options name, or NULL and the reason in err. */
static struct store *open_store(const struct page_options *options, struct err *err)
{
	int (*add)(struct store *, const char *, struct err *) =
		options->is_reduced ? add_reduced : store_add_file;
	struct store *store = store_new();

	if (assets_check(err) == 0 && add(store, options->profile, err) == 0 &&
	    (!options->baseline || add(store, options->baseline, err) == 0))
		return store;
	store_free(store);
	return NULL;
}

struct server *page_start(const struct page_options *options, struct store *store, bool is_live,
			  struct err *err)
{
	struct server_options how = {
		.port = options->port > 0 ? (uint16_t)options->port : 0,
		.is_any_port = options->port == 0,
		.is_live = is_live,
		.editor = editor_choose(getenv("HEATLINE_EDITOR"), getenv("VISUAL"),
					getenv("EDITOR")),
	};
	return server_start(store, &how, err);
}

bool page_browser(bool is_terminal, const char *address, char *command, unsigned command_bytes,
		  char *words[BROWSER_MAX_WORDS + 1])
{
	struct browser_place place = {
		.is_terminal = is_terminal,
		.display = getenv("DISPLAY"),
		.wayland = getenv("WAYLAND_DISPLAY"),
		.browser = getenv("BROWSER"),
	};

	return browser_words(&place, address, command, command_bytes, words);
}

/* Whether a browser was started. */
static bool open_browser(const char *address)
{
	char command[PATH_MAX];
	char *words[BROWSER_MAX_WORDS + 1];

	return page_browser(isatty(STDOUT_FILENO), address, command, sizeof(command), words) &&
	       spawn_detached(words, true, NULL) == 0;
}

void page_announce(const struct server *server, bool may_open, const char *duration, FILE *stream)
{
	unsigned port = server_port(server);
	char host[HOST_NAME_MAX + 1] = "HOST";
	bool is_open = false;

	fprintf(stream, "%s\n", server_address(server));
	fflush(stream);
	if (may_open)
		is_open = open_browser(server_ticket_address(server));
	gethostname(host, sizeof(host) - 1);
	fprintf(stderr, "heatline: %s; it is served %s\n",
		is_open ? "the page is open in your browser" : "open this address in a browser",
		duration);
	if (!is_open || getenv("SSH_CONNECTION"))
		fprintf(stderr, "heatline: to see it from another machine, type there first: "
				"ssh -L %u:127.0.0.1:%u %s\n", port, port, host);
}

void page_block_signals(sigset_t *signals, sigset_t *before)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	sigemptyset(signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(signals, numbers[i]);
	sigprocmask(SIG_BLOCK, signals, before);
}

void page_wait(struct server *server, const sigset_t *signals)
{
	const struct timespec second = {.tv_sec = 1};

	while (sigtimedwait(signals, NULL, &second) < 0)
		server_tick(server);
}

void page_say_end(void)
{
	fprintf(stderr, "\nheatline: the page is no longer served\n");
}

int page_serve(const struct page_options *options)
{
	sigset_t signals, before;
	struct err err;
	struct store *store = open_store(options, &err);

	if (!store)
		return command_error(&err);
	page_block_signals(&signals, &before);
	struct server *server = page_start(options, store, false, &err);
	if (server) {
		page_announce(server, options->may_open, "until Ctrl-C", stdout);
		page_wait(server, &signals);
		page_say_end();
	}
	server_stop(server);
	store_free(store);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return server ? 0 : command_error(&err);
}

/* "runs/before.json" -> "before.html". */
static void name_after(const char *profile, struct buf *name)
{
	const char *base = path_basename(profile);
	size_t size = strlen(base);

	if (text_ends_with(base, ".json"))
		size -= strlen(".json");
	buf_append(name, base, size);
	buf_text(name, ".html");
}

int page_write(const struct page_options *options, const char *outfile)
{
	struct err err;
	struct buf name;
	struct store *store = open_store(options, &err);

	if (!store)
		return command_error(&err);
	buf_init(&name, PATH_MAX);
	if (outfile)
		buf_text(&name, outfile);
	else
		name_after(options->profile, &name);
	int status = outfile_check(name.data, OUTFILE_PAGE, options->profile, &err);
	if (!status)
		status = standalone_write_file(name.data, store, &err);
	store_free(store);
	if (status)
		command_error(&err);
	else
		fprintf(stderr, "heatline: the page is in %s\n", name.data);
	buf_fini(&name);
	return status ? 2 : 0;
}
