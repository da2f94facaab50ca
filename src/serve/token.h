/* token.h - the secret in the page's address.
 *
 * The server listens on the loopback address only, but every program and every
 * user of the machine can reach that.  Whoever has the address has the token;
 * nobody else can guess 128 random bits. */
#ifndef HEATLINE_SERVE_TOKEN_H
#define HEATLINE_SERVE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define TOKEN_LETTERS 32u /* 128 bits in hexadecimal */

struct token {
	char text[TOKEN_LETTERS + 1]; /* 0-9a-f, terminated */
};

/* Fills the token from the kernel's random numbers. */
int token_make(struct token *token, struct err *err);

/* Whether these letters are the token.  Takes the same time wherever the first
 * difference is, so that a guess cannot be improved letter by letter. */
bool token_equal(const struct token *token, const char *letters, size_t size);

#endif
