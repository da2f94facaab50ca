/* cmd_help.c - "heatline help [COMMAND]", and the man page. */
#include <stddef.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/man.h"

struct help_settings {
	bool is_man;
};

static int help_run(int argc, char **argv)
{
	struct help_settings settings = {.is_man = false};
	struct options_result parsed;
	int status = command_read_options(&command_help, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	options_result_fini(&parsed);
	if (settings.is_man) {
		man_print(stdout);
		return 0;
	}
	if (parsed.operand_count == 0) {
		help_print_overview(stdout);
		return 0;
	}
	const struct command *command = command_find(parsed.operands[0]);
	if (!command)
		return command_unknown(parsed.operands[0]);
	help_print_command(stdout, command, false);
	return 0;
}

static const struct option help_options[] = {
	{.name = "man", .kind = OPTION_FLAG, .flags = OPTION_ADVANCED,
	 .help = "Print the man page, for 'man -l -'.",
	 .offset = offsetof(struct help_settings, is_man)},
	OPTIONS_COMMON,
	{0},
};

const struct command command_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "Show what heatline or one of its commands can do.",
	.operands = "COMMAND",
	.options = help_options,
	.run = help_run,
};
