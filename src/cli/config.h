/* config.h - the options of a command from a YAML file.
 *
 * The file is one mapping; its keys are the long names of the options, with
 * dashes or underscores.  Lists may be written as sequences.  A key without a
 * value counts as not given. */
#ifndef HEATLINE_CLI_CONFIG_H
#define HEATLINE_CLI_CONFIG_H

#include "cli/options.h"

/* Reads path into settings, leaving alone the options that result->given says
 * were on the command line.  result keeps the texts.  Returns 0, or negative
 * with a sentence that names file and line. */
int config_read(const char *path, const struct command *command, void *settings,
		struct options_result *result, struct err *err);

#endif
