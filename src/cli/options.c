/* options.c - parse a command's words by its option table.
 *
 * Rows are found by name and set through option_set, which the config file
 * uses as well, so both accept exactly the same values.  A word that looks
 * like an option but is none is an error, never an operand: a mistyped option
 * must not end up as the name of a program. */
#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* A value that is kept for the settings' sake. */
struct option_text {
	struct option_text *next; /* owned */
	char text[];
};

#define NAME_BYTES 128 /* longer words are no option's name */

static const char *keep_text(struct options_result *result, const char *head, const char *tail)
{
	size_t head_size = strlen(head), tail_size = strlen(tail);
	struct option_text *kept = mem_alloc(sizeof(*kept) + head_size + tail_size + 1);

	memcpy(kept->text, head, head_size);
	memcpy(kept->text + head_size, tail, tail_size + 1);
	kept->next = result->texts;
	result->texts = kept;
	return kept->text;
}

void options_result_fini(struct options_result *result)
{
	while (result->texts) {
		struct option_text *next = result->texts->next;

		free(result->texts);
		result->texts = next;
	}
}

/* Copies a name with dashes for underscores; false when it is too long. */
static bool plain_name(char plain[NAME_BYTES], const char *name, size_t size)
{
	if (size >= NAME_BYTES)
		return false;
	for (size_t i = 0; i < size; i++)
		plain[i] = name[i] == '_' ? '-' : name[i];
	plain[size] = '\0';
	return true;
}

const struct option *options_find(const struct option *table, const char *name, bool *is_negated)
{
	char plain[NAME_BYTES];

	*is_negated = false;
	if (!plain_name(plain, name, strlen(name)))
		return NULL;
	for (const struct option *row = table; row->kind; row++) {
		if (text_equal(row->name, plain) || text_equal(row->alias, plain))
			return row;
		if (row->kind == OPTION_SWITCH && text_starts_with(plain, "no-") &&
		    text_equal(row->name, plain + 3)) {
			*is_negated = true;
			return row;
		}
	}
	return NULL;
}

static const struct option *find_letter(const struct option *table, char letter)
{
	for (const struct option *row = table; row->kind; row++) {
		if (row->letter && row->letter == letter)
			return row;
	}
	return NULL;
}

const char *options_nearest(const struct option *table, const char *name, unsigned without)
{
	const char *names[2 * OPTIONS_MAX + 1];
	size_t count = 0;
	char plain[NAME_BYTES];

	if (!plain_name(plain, name, strlen(name)))
		return NULL;
	for (const struct option *row = table; row->kind; row++) {
		if (row->flags & without)
			continue;
		if (row->name)
			names[count++] = row->name;
		if (row->alias)
			names[count++] = row->alias;
	}
	names[count] = NULL;
	const char *nearest = text_nearest(plain, names);
	if (nearest || strlen(plain) < 3)
		return nearest;
	/* "--out" is far from "--outfile" by letters, and yet means it. */
	for (size_t i = 0; i < count; i++) {
		if (text_starts_with(names[i], plain))
			return names[i];
	}
	return NULL;
}

bool option_takes_value(const struct option *option)
{
	switch (option->kind) {
	case OPTION_TEXT:
	case OPTION_LIST:
	case OPTION_FILE:
	case OPTION_FOLDER:
	case OPTION_NUMBER:
	case OPTION_INTEGER:
	case OPTION_CHOICE:
		return true;
	default:
		return false;
	}
}

static int parse_truth(const char *text, bool *value)
{
	static const char *const truths[] = {"true", "yes", "on", "1", NULL};
	static const char *const untruths[] = {"false", "no", "off", "0", NULL};

	for (int i = 0; truths[i]; i++) {
		if (strcasecmp(text, truths[i]) == 0 || strcasecmp(text, untruths[i]) == 0) {
			*value = strcasecmp(text, truths[i]) == 0;
			return 0;
		}
	}
	return -1;
}

/* Whether a number keeps to the row's bounds; NaN keeps to none. */
static bool is_in_bounds(const struct option *option, double number)
{
	if (option->low == 0 && option->high == 0)
		return !isnan(number);
	return number >= option->low && number <= option->high;
}

static int out_of_bounds(const struct option *option, const char *text, const char *where,
			 struct err *err)
{
	const char *what = option->kind == OPTION_INTEGER ? "a whole number" : "a number";

	if (option->low == 0 && option->high == 0)
		return err_set(err, ERR_USAGE, "%s takes %s, not '%s'", where, what, text);
	if (isinf(option->high))
		return err_set(err, ERR_USAGE, "%s takes %s of at least %.15g, not '%s'", where, what,
			       option->low, text);
	return err_set(err, ERR_USAGE, "%s takes %s from %.15g to %.15g, not '%s'", where, what,
		       option->low, option->high, text);
}

static int set_number(const struct option *option, const char *text, const char *where, void *field,
		      struct err *err)
{
	char *end;

	errno = 0;
	if (option->kind == OPTION_INTEGER) {
		long number = strtol(text, &end, 10);

		if (end == text || *end || errno || !is_in_bounds(option, (double)number))
			return out_of_bounds(option, text, where, err);
		*(long *)field = number;
		return 0;
	}
	double number = strtod(text, &end);
	if (end == text || *end || !is_in_bounds(option, number))
		return out_of_bounds(option, text, where, err);
	*(double *)field = number;
	return 0;
}

static int set_choice(const struct option *option, const char *text, const char *where,
		      struct options_result *result, const char **field, struct err *err)
{
	size_t size = strlen(text);

	for (const char *choice = option->choices; choice; choice = strchr(choice, '|')) {
		choice += *choice == '|';
		if (size && strcspn(choice, "|") == size && strncmp(choice, text, size) == 0) {
			*field = keep_text(result, text, "");
			return 0;
		}
	}
	return err_set(err, ERR_USAGE, "%s takes one of %s, not '%s'", where, option->choices,
		       text);
}

static int set_text(const struct option *option, const char *text, bool is_lasting,
		    const char *where, struct options_result *result, const char **field,
		    struct err *err)
{
	bool is_path = option->kind == OPTION_FILE || option->kind == OPTION_FOLDER;

	if (is_path && !*text)
		return err_set(err, ERR_USAGE, "%s needs the name of a %s, and got an empty one",
			       where, option->kind == OPTION_FILE ? "file" : "folder");
	if (option->kind == OPTION_LIST && *field && **field)
		*field = keep_text(result, keep_text(result, *field, ","), text);
	else
		*field = is_lasting ? text : keep_text(result, text, "");
	return 0;
}

int option_set(const struct option *option, const char *text, bool is_lasting, const char *where,
	       void *settings, struct options_result *result, struct err *err)
{
	void *field = (char *)settings + option->offset;
	bool truth;

	switch (option->kind) {
	case OPTION_FLAG:
	case OPTION_SWITCH:
		if (parse_truth(text, &truth))
			return err_set(err, ERR_USAGE, "%s is true or false, not '%s'", where,
				       text);
		*(bool *)field = truth;
		return 0;
	case OPTION_NUMBER:
	case OPTION_INTEGER:
		return set_number(option, text, where, field, err);
	case OPTION_CHOICE:
		return set_choice(option, text, where, result, field, err);
	default:
		return set_text(option, text, is_lasting, where, result, field, err);
	}
}

/* The words still to parse, and what is made of them. */
struct parser {
	const struct command *command;
	char **argv;
	int argc;
	int next;           /* index of the word after the current one */
	void *settings;
	struct options_result *result;
	struct err *err;
};

static int unknown_option(struct parser *parser, const char *word)
{
	char name[NAME_BYTES];
	const char *start = word + strspn(word, "-");
	const char *nearest = NULL;
	size_t size = strcspn(start, "=");

	parser->result->unknown = word;
	if (size >= 2 && plain_name(name, start, size))
		nearest = options_nearest(parser->command->options, name, 0);
	if (nearest)
		return err_set(parser->err, ERR_USAGE,
			       "unknown option '%.*s'; did you mean '--%s'?",
			       (int)strcspn(word, "="), word, nearest);
	return err_set(parser->err, ERR_USAGE,
		       "unknown option '%.*s'; 'heatline %s --help' shows those that there are",
		       (int)strcspn(word, "="), word, parser->command->name);
}

/* The value of an option: what is attached to its word, else the next word.
 * A word that is an option itself is no value: the value was forgotten. */
static int take_value(struct parser *parser, const struct option *option, const char *label,
		      const char *attached, const char **value)
{
	bool is_negated;

	if (attached) {
		*value = attached;
		return 0;
	}
	const char *word = parser->next < parser->argc ? parser->argv[parser->next] : NULL;
	const char *what = option->value ? option->value : "value";
	if (!word)
		return err_set(parser->err, ERR_USAGE, "%s needs a %s after it", label, what);
	if (text_starts_with(word, "--") &&
	    options_find(parser->command->options, word + 2, &is_negated))
		return err_set(parser->err, ERR_USAGE, "%s needs a %s, not the option %s", label,
			       what, word);
	parser->next++;
	*value = word;
	return 0;
}

static int apply(struct parser *parser, const struct option *option, bool is_negated,
		 const char *label, const char *attached)
{
	const char *value = is_negated ? "false" : "true";
	int status;

	if (option->kind == OPTION_HELP || option->kind == OPTION_HELP_ADVANCED) {
		parser->result->help = option->kind;
		return 0;
	}
	if (option_takes_value(option)) {
		status = take_value(parser, option, label, attached, &value);
		if (status)
			return status;
	} else if (attached) {
		return err_set(parser->err, ERR_USAGE, "%s takes no value", label);
	}
	parser->result->given |= (uint64_t)1 << (option - parser->command->options);
	return option_set(option, value, true, label, parser->settings, parser->result,
			  parser->err);
}

static int parse_long(struct parser *parser, const char *word)
{
	const char *equals = strchr(word, '=');
	char label[NAME_BYTES];
	bool is_negated;
	size_t size = equals ? (size_t)(equals - word) : strlen(word);

	if (!plain_name(label, word, size))
		return unknown_option(parser, word);
	const struct option *option =
		options_find(parser->command->options, label + 2, &is_negated);
	if (!option)
		return unknown_option(parser, word);
	return apply(parser, option, is_negated, label, equals ? equals + 1 : NULL);
}

/* One dash: one letter with its value, or several flags. */
static int parse_letters(struct parser *parser, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct option *option = find_letter(parser->command->options, *letter);
		char label[] = {'-', *letter, '\0'};

		if (!option || option->kind == OPTION_PROGRAM)
			return unknown_option(parser, word);
		bool has_value = option_takes_value(option);
		const char *attached = has_value && letter[1] ? letter + 1 : NULL;
		int status = apply(parser, option, false, label, attached);
		if (status || has_value || parser->result->help)
			return status;
	}
	return 0;
}

/* Whether this word begins the part that is not ours: -m of run. */
static bool begins_program(const struct parser *parser, const char *word)
{
	if (word[0] != '-' || !word[1] || word[2])
		return false;
	const struct option *option = find_letter(parser->command->options, word[1]);
	return option && option->kind == OPTION_PROGRAM;
}

int options_parse(const struct command *command, int argc, char **argv, void *settings,
		  struct options_result *result, struct err *err)
{
	struct parser parser = {.command = command, .argv = argv, .argc = argc,
				.settings = settings, .result = result, .err = err};
	bool is_ended = false;

	*result = (struct options_result){.operands = argv};
	while (parser.next < argc && !result->help) {
		char *word = argv[parser.next++];
		bool is_operand = is_ended || word[0] != '-' || !word[1];
		int status = 0;

		if (!is_ended && (strcmp(word, "--") == 0 ||
				  (command->stops_at_operand && strcmp(word, "---") == 0))) {
			is_ended = true;
			continue;
		}
		if (command->stops_at_operand && (is_operand || begins_program(&parser, word))) {
			result->operands = argv + parser.next - 1;
			result->operand_count = argc - parser.next + 1;
			return 0;
		}
		if (is_operand)
			argv[result->operand_count++] = word;
		else if (word[1] == '-')
			status = parse_long(&parser, word);
		else
			status = parse_letters(&parser, word);
		if (status)
			return status;
	}
	if (result->operand_count < argc)
		argv[result->operand_count] = NULL;
	return 0;
}
