/* help.c - print help from the option tables. */
#include "cli/help.h"

#include <string.h>

#include "cli/commands.h"
#include "report/style.h"

#define HELP_MAX_COLUMNS 100
#define HELP_PIPE_COLUMNS 80
#define HELP_INDENT 28 /* where the explanations begin */

/* How to write; every field is an escape sequence, or empty without colour. */
struct help_style {
	FILE *stream;
	int columns;
	const char *heading, *program, *option, *value, *end;
};

static struct help_style style_for(FILE *stream)
{
	struct help_style style = {stream, HELP_PIPE_COLUMNS, "", "", "", "", ""};
	struct style terminal;

	style_init(&terminal, fileno(stream), STYLE_COLOR_AUTO);
	if (terminal.is_cut && terminal.columns > HELP_INDENT + 12)
		style.columns = terminal.columns < HELP_MAX_COLUMNS ? (int)terminal.columns
								    : HELP_MAX_COLUMNS;
	if (terminal.has_color) {
		style.heading = "\033[1;34m";
		style.program = "\033[1;35m";
		style.option = "\033[1;36m";
		style.value = "\033[1;33m";
		style.end = "\033[0m";
	}
	return style;
}

void help_print_wrapped(FILE *stream, int columns, const char *text, int column, int indent)
{
	bool is_line_start = true;

	while (*text) {
		if (*text == '\n') {
			bool is_empty_line = !text[1] || text[1] == '\n';

			fprintf(stream, "\n%*s", is_empty_line ? 0 : indent, "");
			column = indent;
			is_line_start = true;
			text++;
			continue;
		}
		int size = (int)strcspn(text, " \n");
		if (!is_line_start && column + 1 + size > columns) {
			fprintf(stream, "\n%*s", indent, "");
			column = indent;
			is_line_start = true;
		}
		fprintf(stream, "%s%.*s", is_line_start ? "" : " ", size, text);
		column += size + !is_line_start;
		is_line_start = false;
		text += size;
		text += strspn(text, " ");
	}
	fputc('\n', stream);
}

static void print_wrapped(const struct help_style *style, const char *text, int column, int indent)
{
	help_print_wrapped(style->stream, style->columns, text, column, indent);
}

static void print_heading(const struct help_style *style, const char *text)
{
	fprintf(style->stream, "\n%s%s:%s\n", style->heading, text, style->end);
}

/* A name of visible width `width` was printed: go to where its meaning begins. */
static void go_to_meaning(const struct help_style *style, int width)
{
	if (width < HELP_INDENT - 1)
		fprintf(style->stream, "%*s", HELP_INDENT - width, "");
	else
		fprintf(style->stream, "\n%*s", HELP_INDENT, "");
}

static void append(char *text, const char *part)
{
	size_t used = strlen(text);

	snprintf(text + used, OPTION_TITLE_BYTES - used, "%s", part);
}

void help_option_title(const struct option *option, char *text)
{
	char letter[] = {'-', option->letter, '\0'};

	*text = '\0';
	if (option->letter)
		append(text, letter);
	if (option->name) {
		append(text, option->letter ? ", --" : "--");
		append(text, option->name);
	}
	if (option->kind == OPTION_SWITCH) {
		append(text, ", --no-");
		append(text, option->name);
	}
	if (option->value || option_takes_value(option)) {
		append(text, " ");
		append(text, option->value ? option->value : option->choices);
	}
}

static void print_option(const struct help_style *style, const struct option *option)
{
	char title[OPTION_TITLE_BYTES];

	help_option_title(option, title);
	char *value = strrchr(title, ' ');
	bool has_value = option->value || option_takes_value(option);
	int name_size = has_value ? (int)(value - title) : (int)strlen(title);

	fprintf(style->stream, "  %s%.*s%s", style->option, name_size, title, style->end);
	if (has_value)
		fprintf(style->stream, " %s%s%s", style->value, value + 1, style->end);
	go_to_meaning(style, 2 + (int)strlen(title));
	print_wrapped(style, option->help, HELP_INDENT, HELP_INDENT);
}

static void print_options(const struct help_style *style, const struct command *command,
			  bool is_advanced)
{
	print_heading(style, is_advanced ? "advanced options" : "options");
	for (const struct option *row = command->options; row->kind; row++) {
		bool is_of_these = ((row->flags & OPTION_ADVANCED) != 0) == is_advanced;

		if (is_of_these)
			print_option(style, row);
	}
}

/* Lines "command\tmeaning\n". */
static void print_examples(const struct help_style *style, const char *examples)
{
	print_heading(style, "examples");
	while (*examples) {
		int command_size = (int)strcspn(examples, "\t");
		const char *meaning = examples + command_size + 1;
		int meaning_size = (int)strcspn(meaning, "\n");

		fprintf(style->stream, "  %s%.*s%s\n      %.*s\n", style->program, command_size,
			examples, style->end, meaning_size, meaning);
		examples = meaning + meaning_size + 1;
	}
}

static bool has_advanced(const struct command *command)
{
	for (const struct option *row = command->options; row->kind; row++) {
		if (row->flags & OPTION_ADVANCED)
			return true;
	}
	return false;
}

void help_print_command(FILE *stream, const struct command *command, bool is_advanced)
{
	struct help_style style = style_for(stream);

	fprintf(stream, "%susage:%s %sheatline %s%s %s\n", style.heading, style.end, style.program,
		command->name, style.end, command->usage);
	if (is_advanced && has_advanced(command)) {
		print_options(&style, command, true);
		return;
	}
	fputc('\n', stream);
	print_wrapped(&style, command->summary, 0, 0);
	if (command->details) {
		fputc('\n', stream);
		print_wrapped(&style, command->details, 0, 0);
	}
	print_options(&style, command, false);
	if (command->examples)
		print_examples(&style, command->examples);
	if (has_advanced(command))
		fprintf(stream, "\nMore options: %sheatline %s --help-advanced%s\n", style.program,
			command->name, style.end);
}

void help_print_overview(FILE *stream)
{
	struct help_style style = style_for(stream);

	fprintf(stream, "%susage:%s %sheatline%s COMMAND ...   or   ", style.heading, style.end,
		style.program, style.end);
	fprintf(stream, "%sheatline%s prog.py args...\n\n", style.program, style.end);
	print_wrapped(&style,
		      "A profiler for Python programs: for every line, where the time went. "
		      "The program needs no change.",
		      0, 0);
	print_heading(&style, "commands");
	for (int i = 0; commands[i]; i++) {
		fprintf(stream, "  %s%s%s", style.option, commands[i]->name, style.end);
		go_to_meaning(&style, 2 + (int)strlen(commands[i]->name));
		print_wrapped(&style, commands[i]->summary, HELP_INDENT, HELP_INDENT);
	}
	print_heading(&style, "options");
	fprintf(stream, "  %s-h, --help%s%*sShow this.\n", style.option, style.end,
		HELP_INDENT - 12, "");
	fprintf(stream, "  %s--version%s%*sShow the version.\n", style.option, style.end,
		HELP_INDENT - 11, "");
	print_examples(&style,
		       "heatline run prog.py\tprofile prog.py into heatline-profile.json\n"
		       "heatline view --cli\tshow that profile in the terminal\n");
	fprintf(stream, "\nOptions of a command: %sheatline COMMAND --help%s\n", style.program,
		style.end);
}
