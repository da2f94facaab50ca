/* config.c - read options from YAML with libyaml.
 *
 * The file is loaded as a document (aliases stay references, so a small file
 * cannot unfold into a big one) and each pair of its mapping is handed to
 * option_set, exactly as a word of the command line would be. */
#include "cli/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "base/file.h"

#define CONFIG_MAX_BYTES (1u << 20)

struct config {
	const char *path;
	yaml_document_t *document;
	const struct command *command;
	void *settings;
	struct options_result *result;
	struct err *err;
};

static size_t line_of(const yaml_node_t *node)
{
	return node->start_mark.line + 1;
}

static const char *scalar_of(const yaml_node_t *node)
{
	if (!node || node->type != YAML_SCALAR_NODE)
		return NULL;
	return (const char *)node->data.scalar.value;
}

/* "key:", "key: ~", "key: null". */
static bool is_null(const yaml_node_t *node)
{
	const char *text = scalar_of(node);

	return text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       (!*text || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0);
}

static int unknown_key(const struct config *config, const yaml_node_t *key, const char *name)
{
	const char *nearest = options_nearest(config->command->options, name, OPTION_NO_CONFIG);

	if (nearest)
		return err_set(config->err, ERR_USAGE,
			       "%s:%zu: unknown key '%s'; did you mean '%s'?", config->path,
			       line_of(key), name, nearest);
	return err_set(config->err, ERR_USAGE,
		       "%s:%zu: unknown key '%s'; the keys are the long options of 'heatline %s'",
		       config->path, line_of(key), name, config->command->name);
}

/* One value; zero bytes would cut it short unseen. */
static int set_scalar(const struct config *config, const struct option *option, bool is_negated,
		      const char *where, const yaml_node_t *value)
{
	const char *text = scalar_of(value);

	if (!text || strlen(text) != value->data.scalar.length)
		return err_set(config->err, ERR_USAGE, "%s takes one value, not a %s", where,
			       value->type == YAML_MAPPING_NODE    ? "mapping"
			       : value->type == YAML_SEQUENCE_NODE ? "list"
								   : "text with zero bytes");
	int status = option_set(option, text, false, where, config->settings, config->result,
				config->err);
	if (!status && is_negated) {
		bool *field = (bool *)((char *)config->settings + option->offset);

		*field = !*field;
	}
	return status;
}

static int set_sequence(const struct config *config, const struct option *option,
			const char *where, const yaml_node_t *value)
{
	for (yaml_node_item_t *item = value->data.sequence.items.start;
	     item < value->data.sequence.items.top; item++) {
		yaml_node_t *node = yaml_document_get_node(config->document, *item);
		int status = set_scalar(config, option, false, where, node);

		if (status)
			return status;
	}
	return 0;
}

static int set_pair(const struct config *config, const yaml_node_t *key, const yaml_node_t *value)
{
	const char *name = scalar_of(key);
	bool is_negated;
	char where[512];

	if (!name)
		return err_set(config->err, ERR_USAGE, "%s:%zu: a key must be an option's name",
			       config->path, line_of(key));
	const struct option *option =
		options_find(config->command->options, name, &is_negated);
	if (!option || (option->flags & OPTION_NO_CONFIG))
		return unknown_key(config, key, name);
	snprintf(where, sizeof(where), "%s:%zu: %s", config->path, line_of(key), name);
	uint64_t bit = (uint64_t)1 << (option - config->command->options);
	if ((config->result->given & bit) || is_null(value))
		return 0;
	if (option->kind == OPTION_LIST && value->type == YAML_SEQUENCE_NODE)
		return set_sequence(config, option, where, value);
	return set_scalar(config, option, is_negated, where, value);
}

static int set_all(const struct config *config)
{
	yaml_node_t *root = yaml_document_get_root_node(config->document);

	if (!root || is_null(root))
		return 0;
	if (root->type != YAML_MAPPING_NODE)
		return err_set(config->err, ERR_FORMAT,
			       "%s is no list of options: write lines like 'outfile: profile.json'",
			       config->path);
	for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     pair < root->data.mapping.pairs.top; pair++) {
		int status = set_pair(config, yaml_document_get_node(config->document, pair->key),
				      yaml_document_get_node(config->document, pair->value));

		if (status)
			return status;
	}
	return 0;
}

int config_read(const char *path, const struct command *command, void *settings,
		struct options_result *result, struct err *err)
{
	yaml_parser_t parser;
	yaml_document_t document;
	char *data;
	size_t size;

	/* In Python's own command line -c is followed by code. */
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND,
			       "there is no config file '%s'; to profile a piece of code: "
			       "heatline run python3 -c CODE",
			       path);
	int status = file_read_within(path, CONFIG_MAX_BYTES, FILE_PATIENCE_MS, &data, &size, err);

	if (status)
		return status;
	if (!yaml_parser_initialize(&parser)) {
		free(data);
		return err_set(err, ERR_SYSTEM, "no memory to read %s", path);
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
	if (yaml_parser_load(&parser, &document)) {
		struct config config = {path, &document, command, settings, result, err};

		status = set_all(&config);
		yaml_document_delete(&document);
	} else {
		status = err_set(err, ERR_FORMAT, "%s:%zu: this is not YAML: %s", path,
				 parser.problem_mark.line + 1,
				 parser.problem ? parser.problem : "it cannot be read");
	}
	yaml_parser_delete(&parser);
	free(data);
	return status;
}
