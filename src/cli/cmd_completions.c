/* cmd_completions.c - shell completions, made from the option tables. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static bool is_path(const struct option *option)
{
	return option->kind == OPTION_FILE || option->kind == OPTION_FOLDER;
}

/* Calls print for each of "one|two|three". */
static void each_word(const char *words, void (*print)(const char *word, int size))
{
	while (words && *words) {
		size_t size = strcspn(words, "|");

		print(words, (int)size);
		words += size + (words[size] == '|');
	}
}

static void print_spaced(const char *word, int size)
{
	printf("%.*s ", size, word);
}

/* What completes an operand; help's are the commands themselves. */
static void print_operands(const struct command *command)
{
	if (command != &command_help) {
		each_word(command->operands, print_spaced);
		return;
	}
	for (int i = 0; commands[i]; i++)
		printf("%s ", commands[i]->name);
}

/* What begins with a dash and ends a word, for each way to write the option. */
static void bash_option_words(const struct option *option)
{
	if (option->letter)
		printf("-%c ", option->letter);
	if (option->name)
		printf("--%s ", option->name);
	if (option->alias)
		printf("--%s ", option->alias);
	if (option->kind == OPTION_SWITCH)
		printf("--no-%s ", option->name);
}

/* The case labels of an option that is followed by a value. */
static void bash_value_case(const struct command *command, const struct option *option)
{
	printf("\t%s/--%s", command->name, option->name);
	if (option->alias)
		printf("|%s/--%s", command->name, option->alias);
	if (option->letter)
		printf("|%s/-%c", command->name, option->letter);
	fputs(")\n\t\t", stdout);
	if (option->choices) {
		fputs("_heatline_reply -W \"", stdout);
		each_word(option->choices, print_spaced);
		fputs("\"\n", stdout);
	} else if (is_path(option)) {
		printf("_heatline_reply -%c\n", option->kind == OPTION_FILE ? 'f' : 'd');
	} else {
		fputs("COMPREPLY=()\n", stdout);
	}
	fputs("\t\treturn ;;\n", stdout);
}

static void bash_command_case(const struct command *command)
{
	printf("\t%s)\n\t\tif [[ $word == -* ]]; then\n\t\t\t_heatline_reply -W \"",
	       command->name);
	for (const struct option *row = command->options; row->kind; row++)
		bash_option_words(row);
	fputs("\"\n\t\telse\n\t\t\t_heatline_reply ", stdout);
	if (command->operands) {
		fputs("-W \"", stdout);
		print_operands(command);
		fputs("\"", stdout);
	} else {
		fputs(command->stops_at_operand ? "-c -f" : "-f", stdout);
	}
	fputs("\n\t\tfi ;;\n", stdout);
}

static void print_bash(void)
{
	fputs("# bash completion for heatline\n"
	      "_heatline_reply() { mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$word\"); }\n"
	      "_heatline() {\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal command=${COMP_WORDS[1]}\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\t_heatline_reply -f -W \"", stdout);
	for (int i = 0; commands[i]; i++)
		printf("%s ", commands[i]->name);
	fputs("--help --version\"\n"
	      "\t\treturn\n\tfi\n"
	      "\tcase $command/$before in\n", stdout);
	for (int i = 0; commands[i]; i++) {
		for (const struct option *row = commands[i]->options; row->kind; row++) {
			if (option_takes_value(row))
				bash_value_case(commands[i], row);
		}
	}
	fputs("\tesac\n\tcase $command in\n", stdout);
	for (int i = 0; commands[i]; i++)
		bash_command_case(commands[i]);
	fputs("\t*)\n\t\t_heatline_reply -f ;;\n\tesac\n}\n"
	      "complete -o filenames -F _heatline heatline\n", stdout);
}

/* The first sentence of the help, with the characters masked that the shell
 * (single quotes) and zsh's _arguments (brackets, colons) would read. */
static void print_meaning(const char *help, const char *masked)
{
	for (const char *c = help; *c && *c != '\n' && !(c[0] == '.' && (!c[1] || c[1] == ' '));
	     c++) {
		if (*c == '\'')
			fputs("'\\''", stdout);
		else if (strchr(masked, *c))
			printf("\\%c", *c);
		else
			putchar(*c);
	}
}

static void zsh_option(const char *dashes, const char *name, const struct option *option)
{
	printf(" \\\n\t\t\t'%s%s[", dashes, name);
	print_meaning(option->help, "[]:\\");
	fputs("]", stdout);
	if (option_takes_value(option)) {
		printf(":%s:", option->value ? option->value : "value");
		if (option->choices) {
			fputs("(", stdout);
			each_word(option->choices, print_spaced);
			fputs(")", stdout);
		} else if (is_path(option)) {
			fputs(option->kind == OPTION_FILE ? "_files" : "_files -/", stdout);
		}
	}
	fputs("'", stdout);
}

static void zsh_command(const struct command *command)
{
	printf("\t%s)\n\t\t_arguments", command->name);
	for (const struct option *row = command->options; row->kind; row++) {
		char letter[] = {row->letter, '\0'};
		char negated[64];

		if (row->letter)
			zsh_option("-", letter, row);
		if (row->name)
			zsh_option("--", row->name, row);
		if (row->alias)
			zsh_option("--", row->alias, row);
		snprintf(negated, sizeof(negated), "no-%s", row->name ? row->name : "");
		if (row->kind == OPTION_SWITCH)
			zsh_option("--", negated, row);
	}
	fputs(" \\\n\t\t\t", stdout);
	if (command->operands) {
		fputs("'*:word:(", stdout);
		print_operands(command);
		fputs(")'", stdout);
	} else {
		fputs(command->stops_at_operand ? "'*::program:_normal'" : "'*:file:_files'",
		      stdout);
	}
	fputs(" ;;\n", stdout);
}

static void print_zsh(void)
{
	fputs("#compdef heatline\n"
	      "_heatline() {\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\tlocal -a names=(\n", stdout);
	for (int i = 0; commands[i]; i++) {
		printf("\t\t\t'%s:", commands[i]->name);
		print_meaning(commands[i]->summary, ":\\");
		fputs("'\n", stdout);
	}
	fputs("\t\t)\n"
	      "\t\t_describe command names\n"
	      "\t\t_files -g '*.py'\n"
	      "\t\treturn\n\tfi\n"
	      "\tlocal command=$words[2]\n"
	      "\tshift words\n\t((CURRENT--))\n"
	      "\tcase $command in\n", stdout);
	for (int i = 0; commands[i]; i++)
		zsh_command(commands[i]);
	fputs("\t*)\n\t\t_files ;;\n\tesac\n}\n"
	      "_heatline \"$@\"\n", stdout);
}

static void fish_option(const struct command *command, const struct option *option,
			const char *prefix, const char *name)
{
	printf("complete -c heatline -n '__fish_seen_subcommand_from %s'", command->name);
	if (option->letter && !*prefix)
		printf(" -s %c", option->letter);
	if (name)
		printf(" -l %s%s", prefix, name);
	if (option->choices) {
		fputs(" -x -a '", stdout);
		each_word(option->choices, print_spaced);
		fputs("'", stdout);
	} else if (option_takes_value(option)) {
		fputs(is_path(option) ? " -r -F" : " -x", stdout);
	}
	fputs(" -d '", stdout);
	print_meaning(option->help, "\\");
	fputs("'\n", stdout);
}

static void print_fish(void)
{
	fputs("# fish completion for heatline\n", stdout);
	for (int i = 0; commands[i]; i++) {
		const struct command *command = commands[i];

		printf("complete -c heatline -n __fish_use_subcommand -a %s -d '", command->name);
		print_meaning(command->summary, "\\");
		fputs("'\n", stdout);
		for (const struct option *row = command->options; row->kind; row++) {
			fish_option(command, row, "", row->name);
			if (row->kind == OPTION_SWITCH)
				fish_option(command, row, "no-", row->name);
		}
		if (command->operands) {
			printf("complete -c heatline -n '__fish_seen_subcommand_from %s' -f -a '",
			       command->name);
			print_operands(command);
			fputs("'\n", stdout);
		}
	}
}

static int completions_run(int argc, char **argv)
{
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_completions, argc, argv, NULL, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	const char *shell = parsed.operand_count == 1 ? parsed.operands[0] : "";
	options_result_fini(&parsed);
	if (strcmp(shell, "bash") == 0)
		print_bash();
	else if (strcmp(shell, "zsh") == 0)
		print_zsh();
	else if (strcmp(shell, "fish") == 0)
		print_fish();
	else {
		err_set(&err, ERR_USAGE, "say for which shell: heatline completions bash|zsh|fish");
		return command_error(&err);
	}
	return 0;
}

static const struct option completions_options[] = {
	OPTIONS_HELP,
	{0},
};

const struct command command_completions = {
	.name = "completions",
	.usage = "bash|zsh|fish",
	.summary = "Print completions for a shell.",
	.examples = "source <(heatline completions bash)\tcomplete heatline in this shell\n",
	.operands = "bash|zsh|fish",
	.options = completions_options,
	.run = completions_run,
};
