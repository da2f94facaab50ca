/* commands.c - the list of commands, and what they share. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/config.h"
#include "cli/help.h"
#include "report/glyph.h"

const struct command *const commands[] = {
	&command_run,
	&command_view,
	&command_export,
	&command_suggest,
	&command_diff,
	&command_check,
	&command_merge,
	&command_query,
	&command_mcp,
	&command_on,
	&command_off,
	&command_status,
	&command_write,
	&command_attach,
	&command_dump,
	&command_top,
	&command_recover,
	&command_doctor,
	&command_completions,
	&command_help,
	NULL,
};

const struct command *command_find(const char *name)
{
	for (int i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return strcmp(command_session.name, name) == 0 ? &command_session : NULL;
}

/* Characters beyond ASCII go into a file as they are, whatever the locale can show. */
static bool is_for_file(const struct style *style, const char *text, const struct glyph *glyph)
{
	bool is_control = text[0] == '\xc2' && (unsigned char)text[1] < 0xa0;

	return glyph->input_size > 1 && !is_control && !style->has_utf8 && !style->is_terminal;
}

void command_put(FILE *out, const char *text, size_t size)
{
	struct style style;
	struct glyph glyph;

	style_init(&style, fileno(out), STYLE_COLOR_NEVER);
	for (size_t i = 0; i < size; i += glyph.input_size) {
		glyph_read(text + i, size - i, 0, style.has_utf8, &glyph);
		bool is_kept = text[i] == '\n' || text[i] == '\t' ||
			       is_for_file(&style, text + i, &glyph);
		fwrite(is_kept ? text + i : glyph.text, 1,
		       is_kept ? glyph.input_size : glyph.text_size, out);
	}
}

int command_error(const struct err *err)
{
	struct style style;

	style_init(&style, STDERR_FILENO, STYLE_COLOR_NEVER);
	fputs("heatline: ", stderr);
	glyph_put(stderr, &style, err->message, strlen(err->message), GLYPH_ANY_WIDTH);
	fputc('\n', stderr);
	return 2;
}

int command_unknown(const char *word)
{
	const char *names[sizeof(commands) / sizeof(commands[0])] = {NULL};
	struct err err;

	for (int i = 0; commands[i]; i++)
		names[i] = commands[i]->name;
	const char *nearest = text_nearest(word, names);
	if (nearest)
		err_set(&err, ERR_USAGE, "there is no command '%s'; did you mean 'heatline %s'?",
			word, nearest);
	else
		err_set(&err, ERR_USAGE,
			"'%s' is neither a command nor a file; to profile a program: "
			"heatline run %s",
			word, word);
	return command_error(&err);
}

/* The value of the option that names the config file, or NULL. */
static const char *config_path(const struct command *command, const void *settings)
{
	for (const struct option *row = command->options; row->kind; row++) {
		if (row->flags & OPTION_IS_CONFIG)
			return *(const char *const *)((const char *)settings + row->offset);
	}
	return NULL;
}

/* A long option may be another command's: then that is told, not one of this command that looks
 * like it. */
static void tell_owner(const char *word, struct err *err)
{
	char name[64];
	bool is_negated;

	if (!text_starts_with(word, "--") ||
	    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2) >=
		    (int)sizeof(name))
		return;
	for (int i = 0; commands[i]; i++) {
		if (!options_find(commands[i]->options, name, &is_negated))
			continue;
		err_set(err, ERR_USAGE, "unknown option '--%s'; it is one of 'heatline %s'", name,
			commands[i]->name);
		return;
	}
}

int command_read_options(const struct command *command, int argc, char **argv, void *settings,
			 struct options_result *result)
{
	struct err err;
	int status = options_parse(command, argc, argv, settings, result, &err);

	if (!status && result->help) {
		help_print_command(stdout, command, result->help == OPTION_HELP_ADVANCED);
		options_result_fini(result);
		return 0;
	}
	const char *config = status ? NULL : config_path(command, settings);
	if (config)
		status = config_read(config, command, settings, result, &err);
	if (!status)
		return COMMAND_GO_ON;
	if (result->unknown)
		tell_owner(result->unknown, &err);
	options_result_fini(result);
	return command_error(&err);
}
