/* cmd_mcp.c - `heatline mcp`: answers for coding agents, over standard input and output. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/commands.h"
#include "mcp/server.h"

struct mcp_settings {
	const char *folder;
};

static const struct option mcp_command_options[] = {
	{.name = "folder", .kind = OPTION_FOLDER, .value = "FOLDER",
	 .help = "Where programs may be run and exports written, subfolders included. Default: the "
		 "current folder.",
	 .offset = offsetof(struct mcp_settings, folder)},
	OPTIONS_HELP,
	{0},
};

static int serve(const struct mcp_settings *settings, struct err *err)
{
	char *folder = realpath(settings->folder, NULL);
	char *heatline = NULL;
	int status;

	if (!folder || chdir(folder))
		status = err_set_errno(err, errno, "the folder '%s' cannot be entered", settings->folder);
	else if (!(heatline = realpath("/proc/self/exe", NULL)))
		status = err_set_errno(err, errno, "heatline cannot find its own executable");
	else
		status = mcp_serve(&(struct mcp_options){.input = STDIN_FILENO, .output = STDOUT_FILENO,
							 .heatline = heatline, .folder = folder},
				   err);
	free(folder);
	free(heatline);
	return status;
}

static int mcp_run(int argc, char **argv)
{
	struct mcp_settings settings = {.folder = "."};
	struct options_result parsed;
	struct err err;
	int status = command_read_options(&command_mcp, argc, argv, &settings, &parsed);

	if (status != COMMAND_GO_ON)
		return status;
	if (parsed.operand_count)
		status = err_set(&err, ERR_USAGE, "mcp takes no '%s'; it is started by a coding agent and "
						  "reads requests from its standard input",
				 parsed.operands[0]);
	else
		status = serve(&settings, &err);
	options_result_fini(&parsed);
	return status ? command_error(&err) : 0;
}

const struct command command_mcp = {
	.name = "mcp",
	.usage = "[options]",
	.summary = "Serve coding agents: profile, ask and compare over MCP (stdio).",
	.details =
		"The Model Context Protocol: one JSON-RPC message a line on standard input and output, of "
		"clients up to 2025-11-25 and of 2026-07-28. Agents start it themselves; the command to give "
		"them is 'heatline mcp'. Its tools run a program (in this folder and below, without a shell), "
		"attach to a process, and give the answers of 'heatline query'.",
	.examples = "heatline mcp --folder src\tprograms are run in src and below only\n",
	.options = mcp_command_options,
	.run = mcp_run,
};
