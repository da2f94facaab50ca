/* token.c - make and compare the token. */
#include "serve/token.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

int token_make(struct token *token, struct err *err)
{
	unsigned char bytes[TOKEN_LETTERS / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set_errno(err, errno, "the system gives no random numbers");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token->text + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

bool token_equal(const struct token *token, const char *letters, size_t size)
{
	unsigned char difference = size != TOKEN_LETTERS;

	for (size_t i = 0; i < TOKEN_LETTERS; i++) {
		char letter = i < size ? letters[i] : '\0';

		difference |= (unsigned char)(token->text[i] ^ letter);
	}
	return difference == 0;
}
