/* man.c - print the man page. */
#include "cli/man.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/help.h"

/* Text as troff: a dash is a minus sign that can be copied, and a line may not
 * begin with a control character. */
static void print_text(FILE *stream, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bool is_line_start = i == 0 || text[i - 1] == '\n';

		if (is_line_start && (text[i] == '.' || text[i] == '\''))
			fputs("\\&", stream);
		if (text[i] == '\\')
			fputs("\\e", stream);
		else if (text[i] == '-')
			fputs("\\-", stream);
		else if (text[i] == '\n' && text[i + 1] == '\n')
			fputs("\n.PP", stream);
		else
			fputc(text[i], stream);
	}
}

static void print_line(FILE *stream, const char *text)
{
	print_text(stream, text, strlen(text));
	fputc('\n', stream);
}

static void print_option(FILE *stream, const struct option *option)
{
	char title[OPTION_TITLE_BYTES];

	help_option_title(option, title);
	fputs(".TP\n.B ", stream);
	print_line(stream, title);
	print_line(stream, option->help);
}

static void print_examples(FILE *stream, const char *examples)
{
	while (*examples) {
		size_t command_size = strcspn(examples, "\t");
		const char *meaning = examples + command_size + 1;
		size_t meaning_size = strcspn(meaning, "\n");

		fputs(".TP\n.B ", stream);
		print_text(stream, examples, command_size);
		fputc('\n', stream);
		print_text(stream, meaning, meaning_size);
		fputc('\n', stream);
		examples = meaning + meaning_size + 1;
	}
}

static void print_command(FILE *stream, const struct command *command)
{
	fprintf(stream, ".SS \"heatline %s ", command->name);
	print_text(stream, command->usage, strlen(command->usage));
	fputs("\"\n", stream);
	print_line(stream, command->summary);
	if (command->details) {
		fputs(".PP\n", stream);
		print_line(stream, command->details);
	}
	for (const struct option *row = command->options; row->kind; row++)
		print_option(stream, row);
}

void man_print(FILE *stream)
{
	fputs(".TH HEATLINE 1 \"\" \"heatline " HEATLINE_VERSION "\" \"User Commands\"\n", stream);
	fputs(".SH NAME\nheatline \\- profile Python programs, line by line\n"
	      ".SH SYNOPSIS\n", stream);
	for (int i = 0; commands[i]; i++) {
		fprintf(stream, "%s.B heatline %s\n", i ? ".br\n" : "", commands[i]->name);
		print_line(stream, commands[i]->usage);
	}
	fputs(".br\n.B heatline\nprog.py args...\n"
	      ".SH DESCRIPTION\n"
	      "Heatline says for every line of a Python program where the time went: into Python,\n"
	      "into native code, into the system, or into waiting.\n"
	      "The program needs no change and no package installed beside it.\n"
	      ".SH COMMANDS\n", stream);
	for (int i = 0; commands[i]; i++)
		print_command(stream, commands[i]);
	fputs(".SH CONFIGURATION\n"
	      "The file given with\n.B \\-\\-config\n"
	      "is YAML; its keys are the long options of\n.BR \"heatline run\" ,\n"
	      "with dashes or underscores.\n"
	      "An option on the command line wins over the file.\n"
	      ".SH EXIT STATUS\n"
	      ".B heatline run\n"
	      "ends as the program ended: with its exit status, or by its signal.\n"
	      "Otherwise 0 is success, 1 a failure, and 2 wrong usage or input.\n"
	      ".SH ENVIRONMENT\n"
	      ".TP\n.B HEATLINE_LIBDIR\nThe folder of libheatline\\-agent.so.\n"
	      ".TP\n.B VIRTUAL_ENV\nThe active virtual environment, whose interpreter runs the "
	      "program.\n.TP\n.B NO_COLOR\nWhen set, nothing is coloured.\n"
	      ".TP\n.B PAGER\nWhat shows a report that is longer than the terminal.\n"
	      ".SH EXAMPLES\n", stream);
	for (int i = 0; commands[i]; i++) {
		if (commands[i]->examples)
			print_examples(stream, commands[i]->examples);
	}
}
