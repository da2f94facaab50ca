/* main.c - find the command, and run it.
 *
 * "heatline prog.py" is short for "heatline run prog.py": a first word that is
 * no command but a file (- is stdin), ends in .py, or is an option of run goes to run.
 * Called as py-spy, it takes that tool's words (pyspy.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cmd_recover.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/pyspy.h"
#include "collect/descriptors.h"

static bool is_option_of_run(const char *word)
{
	char name[64];
	bool is_negated;

	if (word[0] != '-' || !word[1])
		return false;
	if (word[1] == '-') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		return options_find(command_run.options, name, &is_negated) ||
		       strcmp(word, "---") == 0;
	}
	for (const struct option *row = command_run.options; row->kind; row++) {
		if (row->letter == word[1])
			return true;
	}
	return false;
}

static bool is_short_for_run(const char *word)
{
	return is_option_of_run(word) || strcmp(word, "-") == 0 || text_ends_with(word, ".py") ||
	       access(word, F_OK) == 0;
}

/* An option of heatline itself that it does not have; one of run may be meant. */
static int unknown_option(const char *word)
{
	static const char *const own[] = {"version", "help", NULL};
	const char *name = word + strspn(word, "-");
	const char *nearest = text_nearest(name, own);
	struct err err;

	if (!nearest)
		nearest = options_nearest(command_run.options, name, 0);
	if (nearest)
		err_set(&err, ERR_USAGE, "unknown option '%s'; did you mean '--%s'?", word, nearest);
	else
		err_set(&err, ERR_USAGE,
			"unknown option '%s'; 'heatline --help' shows those that there are", word);
	return command_error(&err);
}

static int dispatch(int argc, char **argv)
{
	const char *word = argv[0];
	const struct command *command = command_find(word);

	if (command) {
		/* run says it when it is not asked to be quiet; status shows it anyway. */
		if (command == &command_view || command == &command_on || command == &command_off ||
		    command == &command_write)
			recover_remind();
		return command->run(argc - 1, argv + 1);
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		printf("heatline %s\n", HEATLINE_VERSION);
		return 0;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		help_print_overview(stdout);
		return 0;
	}
	if (is_short_for_run(word))
		return command_run.run(argc, argv);
	if (word[0] != '-')
		return command_unknown(word);
	return unknown_option(word);
}

int main(int argc, char **argv)
{
	bool is_pyspy = argc > 0 && strcmp(path_basename(argv[0]), "py-spy") == 0;

	descriptors_take_standard();
	if (argc < 2 && !is_pyspy) {
		help_print_overview(stderr);
		return 2;
	}
	int status = is_pyspy ? pyspy_run(argc - 1, argv + 1) : dispatch(argc - 1, argv + 1);
	/* Help or a report that did not reach its file is a failure; a reader that
	 * has seen enough (EPIPE) is not. */
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE && !status) {
		fprintf(stderr, "heatline: cannot write the output: %s\n", strerror(errno));
		return 1;
	}
	return status;
}
