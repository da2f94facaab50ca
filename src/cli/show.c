/* show.c - see show.h. */
#include "cli/show.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "report/pager.h"
#include "report/summary.h"

/* The report in *text, which the caller frees. */
static int make_report(show_print *print, const void *context, const struct style *style,
		       char **text, size_t *size, struct err *err)
{
	FILE *stream = open_memstream(text, size);

	if (!stream)
		return err_set(err, ERR_SYSTEM, "there is no memory for the report");
	print(stream, style, context);
	if (fclose(stream) == 0)
		return 0;
	free(*text);
	return err_set(err, ERR_SYSTEM, "there is no memory for the report");
}

/* It cannot move back: a pager would only ask for keys. */
static bool is_dumb_terminal(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || strcmp(term, "dumb") == 0;
}

int show_report(const char *color, bool has_pager, show_print *print, const void *context)
{
	enum style_color when = STYLE_COLOR_AUTO;
	char *here = getcwd(NULL, 0);
	struct style style;
	struct err err;
	char *text = NULL;
	size_t size = 0;
	int status;

	style_parse_color(color, &when);
	style_init(&style, STDOUT_FILENO, when);
	style.folder = here;
	status = make_report(print, context, &style, &text, &size, &err);
	if (!status) {
		const char *pager = has_pager && !is_dumb_terminal()
					    ? pager_choose(&style, text, size)
					    : NULL;

		status = pager_show(pager, text, size, &err);
		free(text);
	}
	free(here);
	if (status)
		command_error(&err);
	return status ? 1 : 0;
}

void show_summary(const struct profile *profile, const char *path, bool is_explained)
{
	char *here = getcwd(NULL, 0);
	struct style style;

	style_init(&style, STDERR_FILENO, STYLE_COLOR_AUTO);
	style.folder = here;
	summary_print(stderr, profile, path, is_explained, &style);
	free(here);
}
