/* names.c - what the names of a Python source hold. */
#include "profile/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define KEY_BYTES (STATEMENT_PATH_BYTES + 16u)
#define KIND_BITS 8u
#define KIND_MASK ((1u << KIND_BITS) - 1)

/* ---- the table ---- */

static size_t make_key(char key[KEY_BYTES], uint32_t function_line, const char *path)
{
	return (size_t)snprintf(key, KEY_BYTES, "%u:%s", function_line, path);
}

static uint32_t *find_name(const struct names *names, uint32_t function_line, const char *path)
{
	char key[KEY_BYTES];
	size_t size = make_key(key, function_line, path);
	return map_bytes_get(&names->kinds, key, size);
}

/* entry: a kind and, for what is imported, its origin above. */
static void learn_kind(struct names *names, uint32_t function_line, const char *path,
		       uint32_t entry)
{
	char key[KEY_BYTES];
	size_t size = make_key(key, function_line, path);
	bool is_new;
	if (names->kinds.count >= NAMES_MAX)
		return;
	uint32_t *known = map_bytes_put(&names->kinds, key, size, &is_new);
	if (is_new || (*known & KIND_MASK) == VALUE_PARAMETER)
		*known = entry;
	else if ((*known & KIND_MASK) != (entry & KIND_MASK))
		*known = VALUE_ANY;
}

/* Attributes are those of the whole file, whoever assigns them. */
static void learn(struct names *names, const struct statement *statement, const char *path,
		  enum value_kind kind)
{
	char attribute[STATEMENT_PATH_BYTES + 8];
	if (strchr(path, '.')) {
		learn_kind(names, 0, path, kind);
	} else if (statement->is_class_body) {
		snprintf(attribute, sizeof(attribute), "self.%s", path);
		learn_kind(names, 0, attribute, kind);
	} else {
		learn_kind(names, statement->function_line, path, kind);
	}
}

static void learn_origin(struct names *names, const struct statement *statement, const char *name,
			 const char *origin)
{
	if (names->origin_count == NAMES_MAX_ORIGINS)
		return;
	if (names->origin_count == names->origin_room) {
		names->origin_room = names->origin_room ? 2 * names->origin_room : 16;
		names->origins = mem_resize(names->origins, names->origin_room,
					    sizeof(*names->origins));
	}
	names->origins[names->origin_count] = mem_copy_text(origin);
	learn_kind(names, statement->function_line, name,
		   VALUE_IMPORTED | (names->origin_count++ << KIND_BITS));
}

/* The entry that the name means where the statement stands, or NULL: its own
 * function's, of one around it, the module's. */
static const uint32_t *look_up(const struct names *names, const struct statement *statement,
			       const char *path)
{
	for (uint32_t i = statement->block_count; i-- > 0 && !strchr(path, '.');) {
		if (statement->blocks[i].kind != STATEMENT_BLOCK_FUNCTION)
			continue;
		const uint32_t *known = find_name(names, statement->blocks[i].line, path);
		if (known)
			return known;
	}
	return find_name(names, 0, path);
}

enum value_kind names_kind(const struct names *names, const struct statement *statement,
			   const char *path)
{
	const uint32_t *known = look_up(names, statement, path);
	enum value_kind kind = known ? (enum value_kind)(*known & KIND_MASK) : VALUE_ANY;
	return kind < VALUE_PARAMETER ? kind : VALUE_ANY;
}

void names_origin(const struct names *names, const struct statement *statement, const char *path,
		  char origin[STATEMENT_PATH_BYTES])
{
	char root[STATEMENT_PATH_BYTES];
	size_t size = strcspn(path, ".");
	memcpy(root, path, size);
	root[size] = '\0';
	origin[0] = '\0';
	const uint32_t *known = look_up(names, statement, root);
	if (!known || (*known & KIND_MASK) != VALUE_IMPORTED)
		return;
	int length = snprintf(origin, STATEMENT_PATH_BYTES, "%s%s",
			      names->origins[*known >> KIND_BITS], path + size);
	if (length < 0 || (size_t)length >= STATEMENT_PATH_BYTES)
		origin[0] = '\0';
}

/* ---- what an expression gives ---- */

struct maker {
	const char *path;
	enum value_kind kind;
};

/* By the whole path, aliases resolved; builtins are their own name. */
static const struct maker functions[] = {
	{"list", VALUE_LIST},          {"sorted", VALUE_LIST},
	{"str", VALUE_TEXT},           {"repr", VALUE_TEXT},
	{"bytes", VALUE_TEXT},         {"numpy.zeros", VALUE_ARRAY},
	{"numpy.ones", VALUE_ARRAY},   {"numpy.empty", VALUE_ARRAY},
	{"numpy.full", VALUE_ARRAY},   {"numpy.array", VALUE_ARRAY},
	{"numpy.asarray", VALUE_ARRAY}, {"numpy.arange", VALUE_ARRAY},
	{"numpy.linspace", VALUE_ARRAY}, {"numpy.append", VALUE_ARRAY},
	{"numpy.concatenate", VALUE_ARRAY}, {"numpy.vstack", VALUE_ARRAY},
	{"numpy.hstack", VALUE_ARRAY}, {"numpy.stack", VALUE_ARRAY},
	{"numpy.zeros_like", VALUE_ARRAY}, {"numpy.ones_like", VALUE_ARRAY},
	{"numpy.empty_like", VALUE_ARRAY}, {"numpy.full_like", VALUE_ARRAY},
	{"numpy.load", VALUE_ARRAY},   {"numpy.loadtxt", VALUE_ARRAY},
	{"numpy.fromfile", VALUE_ARRAY}, {"numpy.random.rand", VALUE_ARRAY},
	{"numpy.random.randn", VALUE_ARRAY}, {"numpy.random.random", VALUE_ARRAY},
	{"numpy.random.randint", VALUE_ARRAY}, {"numpy.random.normal", VALUE_ARRAY},
	{"numpy.random.uniform", VALUE_ARRAY}, {"pandas.DataFrame", VALUE_FRAME},
	{"pandas.Series", VALUE_FRAME}, {"pandas.concat", VALUE_FRAME},
	{"pandas.read_csv", VALUE_FRAME}, {"pandas.read_parquet", VALUE_FRAME},
	{"pandas.read_json", VALUE_FRAME}, {"pandas.read_excel", VALUE_FRAME},
	{"pandas.read_sql", VALUE_FRAME}, {NULL, VALUE_ANY},
};

/* By the last name, whatever it is a method of. */
static const struct maker methods[] = {
	{"split", VALUE_LIST},  {"splitlines", VALUE_LIST}, {"readlines", VALUE_LIST},
	{"tolist", VALUE_LIST}, {"join", VALUE_TEXT},       {"format", VALUE_TEXT},
	{"decode", VALUE_TEXT}, {"encode", VALUE_TEXT},     {"hexdigest", VALUE_TEXT},
	{"astype", VALUE_ARRAY}, {NULL, VALUE_ANY},
};

static enum value_kind find_maker(const struct maker *table, const char *path)
{
	for (; table->path; table++) {
		if (strcmp(table->path, path) == 0)
			return table->kind;
	}
	return VALUE_ANY;
}

static enum value_kind called_kind(const struct names *names, const struct statement *statement,
				   const char *path)
{
	char origin[STATEMENT_PATH_BYTES];
	names_origin(names, statement, path, origin);
	enum value_kind kind = find_maker(functions, origin[0] ? origin : path);
	const char *dot = strrchr(path, '.');
	return kind == VALUE_ANY && dot ? find_maker(methods, dot + 1) : kind;
}

/* The first operand's kind, and in *at the token after it. */
static enum value_kind operand_kind(const struct names *names, const struct statement *statement,
				    uint32_t *at, uint32_t end)
{
	const struct token *token = &statement->tokens[*at];
	char path[STATEMENT_PATH_BYTES];
	enum value_kind kind = VALUE_ANY;
	uint32_t after = statement_path(statement, *at, path);
	if (token->kind == TOKEN_STRING) {
		kind = VALUE_TEXT;
		++*at;
	} else if (token_is(token, "[")) {
		kind = VALUE_LIST;
		*at = statement_close(statement, *at) + 1;
	} else if (after > *at && statement_has(statement, after, "(")) {
		kind = called_kind(names, statement, path);
		*at = statement_close(statement, after) + 1;
	} else {
		*at = end;
	}
	/* What is called or taken of it is another value. */
	while (*at + 2 < end && statement_has(statement, *at, ".") &&
	       statement_has(statement, *at + 2, "(")) {
		const struct token *name = &statement->tokens[*at + 1];
		char method[STATEMENT_PATH_BYTES];
		snprintf(method, sizeof(method), "%.*s", (int)(name->size < 90 ? name->size : 90),
			 name->text);
		kind = find_maker(methods, method);
		*at = statement_close(statement, *at + 2) + 1;
	}
	return statement_has(statement, *at, "[") || statement_has(statement, *at, ".") ? VALUE_ANY
										      : kind;
}

/* The kind of the expression of the statement that begins at index and ends before end. */
static enum value_kind kind_of_expression(const struct names *names,
					  const struct statement *statement, uint32_t index, uint32_t end)
{
	static const char *const changers[] = {"if", "and", "or", "in", "not", "is", "<", ">",
					       "=",  "!",   ",",  "for", ":", NULL};
	if (index >= end)
		return VALUE_ANY;
	uint32_t depth = statement->tokens[index].depth;
	for (uint32_t i = index; i < end; i++) {
		if (statement->tokens[i].depth != depth)
			continue;
		for (uint32_t k = 0; changers[k]; k++) {
			if (token_is(&statement->tokens[i], changers[k]))
				return VALUE_ANY;
		}
	}
	uint32_t at = index;
	return operand_kind(names, statement, &at, end);
}

/* ---- one pass over the source ---- */

static uint32_t end_of_simple(const struct statement *statement, uint32_t from)
{
	for (uint32_t i = from; i < statement->count; i++) {
		if (statement->tokens[i].depth == 0 && token_is(&statement->tokens[i], ";"))
			return i;
	}
	return statement->count;
}

static bool is_at(const struct statement *statement, uint32_t index, const char *text)
{
	return statement_has(statement, index, text) && statement->tokens[index].depth == 0;
}

/* "import numpy as np", "import time", "from time import sleep as pause". */
static void learn_import(struct names *names, const struct statement *statement)
{
	bool is_from = statement_has(statement, 0, "from");
	char module[STATEMENT_PATH_BYTES] = "", path[STATEMENT_PATH_BYTES];
	char origin[2 * STATEMENT_PATH_BYTES], name[STATEMENT_PATH_BYTES];
	uint32_t at = 1;
	if (is_from)
		at = statement_path(statement, 1, module);
	for (; at < statement->count; at++) {
		if (!statement_has(statement, at - 1, ",") && !statement_has(statement, at - 1, "(") &&
		    !statement_has(statement, at - 1, "import"))
			continue;
		uint32_t after = statement_path(statement, at, path);
		if (after == at)
			continue;
		snprintf(origin, sizeof(origin), "%s%s%s", module, is_from ? "." : "", path);
		if (statement_has(statement, after, "as")) {
			statement_path(statement, after + 1, name);
			learn_origin(names, statement, name, origin);
		} else {
			/* "import a.b" binds a. */
			size_t size = is_from ? strlen(path) : strcspn(path, ".");
			path[size] = '\0';
			learn_origin(names, statement, path, is_from ? origin : path);
		}
	}
}

static enum value_kind annotation_kind(const struct statement *statement, uint32_t at)
{
	static const struct maker annotations[] = {
		{"list", VALUE_LIST},  {"List", VALUE_LIST},  {"typing.List", VALUE_LIST},
		{"str", VALUE_TEXT},   {"bytes", VALUE_TEXT}, {"np.ndarray", VALUE_ARRAY},
		{"pd.DataFrame", VALUE_FRAME}, {NULL, VALUE_ANY},
	};
	char path[STATEMENT_PATH_BYTES];
	uint32_t after = statement_path(statement, at, path);
	if (after == at || statement_has(statement, after, "|"))
		return VALUE_PARAMETER;
	enum value_kind kind = find_maker(annotations, path);
	return kind == VALUE_ANY ? VALUE_PARAMETER : kind;
}

/* The parameters of a def are names of the function that it begins. */
static void learn_parameters(struct names *names, const struct statement *statement)
{
	char path[STATEMENT_PATH_BYTES];
	for (uint32_t i = 1; i < statement->count; i++) {
		const struct token *before = &statement->tokens[i - 1];
		if (statement->tokens[i].depth != 1 ||
		    !(token_is(before, "(") || token_is(before, ",") || token_is(before, "*")))
			continue;
		uint32_t after = statement_path(statement, i, path);
		if (after == i)
			continue;
		learn_kind(names, statement->line, path,
			   statement_has(statement, after, ":") ? annotation_kind(statement, after + 1)
								: VALUE_PARAMETER);
	}
}

/* "for a, b in", "with … as f", "except … as e": they hold anything. */
static void learn_targets(struct names *names, const struct statement *statement)
{
	bool is_target = false;
	char path[STATEMENT_PATH_BYTES];
	for (uint32_t i = 0; i < statement->count; i++) {
		if (statement_has(statement, i, "for"))
			is_target = true;
		else if (statement_has(statement, i, "in"))
			is_target = false;
		else if ((is_target || statement_has(statement, i - 1, "as")) &&
			 statement_path(statement, i, path) > i)
			learn(names, statement, path, VALUE_ANY);
	}
}

/* a.append(…) makes a parameter a list. */
static void learn_use(struct names *names, const struct statement *statement, uint32_t start)
{
	char path[STATEMENT_PATH_BYTES];
	uint32_t after = statement_path(statement, start, path);
	char *dot = after > start ? strrchr(path, '.') : NULL;
	if (!dot || !statement_has(statement, after, "(") ||
	    (strcmp(dot, ".append") != 0 && strcmp(dot, ".extend") != 0))
		return;
	*dot = '\0';
	uint32_t *known = find_name(names, statement->function_line, path);
	if (known && (*known & KIND_MASK) == VALUE_PARAMETER)
		*known = VALUE_LIST;
}

/* "a = …" and "a: list = …"; "a = a + …" keeps the kind, and None is filled later. */
static void learn_one(struct names *names, const struct statement *statement, const char *path,
		      uint32_t equals, uint32_t end)
{
	char own[STATEMENT_PATH_BYTES];
	uint32_t after = statement_path(statement, equals + 1, own);
	if (after > equals + 1 && statement_has(statement, after, "+") && strcmp(own, path) == 0)
		return;
	if (equals + 2 == end && statement_has(statement, equals + 1, "None"))
		return;
	learn(names, statement, path, kind_of_expression(names, statement, equals + 1, end));
}

/* "a, b = …": each holds anything. */
static void learn_several(struct names *names, const struct statement *statement, uint32_t start,
			  uint32_t equals)
{
	char path[STATEMENT_PATH_BYTES];
	for (uint32_t i = start; i < equals; i++) {
		bool is_item = i == start || is_at(statement, i - 1, ",");
		uint32_t after = statement_path(statement, i, path);
		if (is_item && after > i && !statement_has(statement, after, "["))
			learn(names, statement, path, VALUE_ANY);
	}
}

static void learn_assignment(struct names *names, const struct statement *statement,
			     uint32_t start, uint32_t end)
{
	char path[STATEMENT_PATH_BYTES];
	uint32_t equals = start;
	while (equals < end && !is_at(statement, equals, "="))
		equals++;
	uint32_t after = statement_path(statement, start, path);
	bool is_one = after > start && (after == equals || statement_has(statement, after, ":"));
	/* An operator before the "=" keeps the kind: a += b. */
	bool is_changed = after + 1 == equals && statement->tokens[after].kind == TOKEN_OPERATOR &&
			  !is_one;
	if (equals == end)
		learn_use(names, statement, start);
	else if (is_one)
		learn_one(names, statement, path, equals, end);
	else if (!is_changed)
		learn_several(names, statement, start, equals);
}

static void learn_statement(struct names *names, const struct statement *statement)
{
	if (statement->count == 0)
		return;
	if (statement_has(statement, 0, "import") || statement_has(statement, 0, "from")) {
		learn_import(names, statement);
		return;
	}
	if (statement_has(statement, 0, "def") || statement_has(statement, 1, "def")) {
		learn_parameters(names, statement);
		return;
	}
	learn_targets(names, statement);
	for (uint32_t start = 0; start < statement->count;) {
		uint32_t end = end_of_simple(statement, start);
		learn_assignment(names, statement, start, end);
		start = end + 1;
	}
}

void names_init(struct names *names, const char *text, size_t size)
{
	struct statement_reader reader;
	struct statement statement;
	*names = (struct names){.origin_count = 0};
	map_bytes_init(&names->kinds);
	statement_reader_init(&reader, text, size);
	while (statement_next(&reader, &statement))
		learn_statement(names, &statement);
	statement_reader_fini(&reader);
}

void names_fini(struct names *names)
{
	for (uint32_t i = 0; i < names->origin_count; i++)
		free(names->origins[i]);
	free(names->origins);
	map_bytes_fini(&names->kinds);
}
