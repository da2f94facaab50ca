/* options.h - one option table per command, and the parser made from it.
 *
 * A command lists its options once.  From that list come the parser (here),
 * --help and --help-advanced (help.h), the man page (man.h), the shell
 * completions (cmd_completions.c) and the keys of the YAML config file (config.h).
 *
 * Values go into a struct of the command's own, at the offset that the option
 * names; the kind says which type the field has:
 *
 *	struct view_settings { bool is_cli; double width; };
 *	static const struct option view_options[] = {
 *		{.name = "cli", .kind = OPTION_FLAG, .help = "Show it in the terminal.",
 *		 .offset = offsetof(struct view_settings, is_cli)},
 *		OPTIONS_COMMON,
 *		{0},
 *	};
 *
 * Options are given as --name VALUE, --name=VALUE, -o VALUE or -oVALUE; flags
 * of one letter may be joined (-qr).  "--" ends the options. */
#ifndef HEATLINE_CLI_OPTIONS_H
#define HEATLINE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum option_kind {
	OPTION_END,      /* ends a table */
	OPTION_FLAG,     /* bool; set by --name */
	OPTION_SWITCH,   /* bool; --name or --no-name */
	OPTION_TEXT,     /* const char * */
	OPTION_LIST,     /* const char *; comma list; given again it grows; a sequence in YAML */
	OPTION_FILE,     /* const char *; completed as a file */
	OPTION_FOLDER,   /* const char *; completed as a folder */
	OPTION_NUMBER,   /* double within [low, high] */
	OPTION_INTEGER,  /* long within [low, high] */
	OPTION_CHOICE,   /* const char *; one of choices */
	OPTION_HELP,     /* stores nothing: --help was asked for */
	OPTION_HELP_ADVANCED,
	OPTION_PROGRAM,  /* stores nothing: it and all that follows are operands (run's -m) */
};

enum option_flag {
	OPTION_ADVANCED = 1 << 0,  /* shown by --help-advanced only */
	OPTION_NO_CONFIG = 1 << 1, /* no key of the config file */
	OPTION_IS_CONFIG = 1 << 2, /* an OPTION_FILE that names the config file itself */
};

/* One row.  All pointers are static. */
struct option {
	const char *name;    /* without dashes; NULL: only a letter */
	char letter;         /* 0: none */
	const char *alias;   /* second long name; NULL: none */
	enum option_kind kind;
	unsigned flags;      /* enum option_flag */
	const char *value;   /* what help calls the value: "FILE" */
	const char *help;    /* sentences; the default is part of them */
	const char *choices; /* OPTION_CHOICE: "auto|always|never" */
	double low, high;    /* numbers; both 0: any */
	size_t offset;       /* in the command's settings */
};

/* Every table ends with OPTIONS_COMMON (OPTIONS_HELP when no row is
 * OPTION_ADVANCED) and {0}. */
#define OPTIONS_HELP                                                                    \
	{.name = "help", .letter = 'h', .kind = OPTION_HELP, .flags = OPTION_NO_CONFIG, \
	 .help = "Show the options that people need."}
#define OPTIONS_COMMON                                                                  \
	OPTIONS_HELP,                                                                   \
	{.name = "help-advanced", .kind = OPTION_HELP_ADVANCED,                         \
	 .flags = OPTION_NO_CONFIG, .help = "Show the other options."}

#define OPTIONS_MAX 64 /* rows of a table; one bit each in options_result.given */

struct command {
	const char *name;
	const char *usage;    /* after "heatline NAME" */
	const char *summary;  /* one line, for the list of commands */
	const char *details;  /* paragraphs for help and man page; NULL: none */
	const char *examples; /* lines "command\tmeaning\n"; NULL: none */
	const char *operands; /* what completes an operand: "one|two|three"; NULL: files
			       * (help: the commands) */
	const struct option *options;
	bool stops_at_operand; /* all after the first operand belongs to it: run's program */
	int (*run)(int argc, char **argv); /* the words after the name; the exit status */
};

/* What the parser found besides the values. */
struct options_result {
	char **operands; /* borrowed: the head of argv, or its tail with stops_at_operand */
	int operand_count;
	uint64_t given;           /* bit i: row i was on the command line */
	enum option_kind help;    /* OPTION_HELP or OPTION_HELP_ADVANCED was asked for; else 0 */
	struct option_text *texts; /* owned: values that are no word of argv */
	const char *unknown; /* the word that looks like an option and is none; NULL: there is none */
};

/* Parses the words after the command's name.  settings holds the defaults and
 * receives the values.  argv is reordered so that the operands are in one piece,
 * and stays terminated by NULL.  When help is asked for, parsing ends there.
 * Returns 0, or negative with the sentence in err. */
int options_parse(const struct command *command, int argc, char **argv, void *settings,
		  struct options_result *result, struct err *err);

/* Frees the texts, which settings may point to.  Accepts a zeroed result. */
void options_result_fini(struct options_result *result);

/* The rest is for config.h, help.h and the like. */

/* The row with this long name (or alias), '_' counting as '-'; NULL when there is
 * none.  *is_negated: it was the "no-" form of a switch. */
const struct option *options_find(const struct option *table, const char *name, bool *is_negated);

/* Whether the option is followed by a value. */
bool option_takes_value(const struct option *option);

/* Stores a value given as text; where says in messages who gave it: "--outfile",
 * "settings.yaml:3: outfile".  is_lasting: text outlives result. */
int option_set(const struct option *option, const char *text, bool is_lasting, const char *where,
	       void *settings, struct options_result *result, struct err *err);

/* The long name nearest to a mistyped one, or NULL; rows with one of the flags in
 * `without` do not count. */
const char *options_nearest(const struct option *table, const char *name, unsigned without);

#endif
