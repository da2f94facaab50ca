/* mask.h - secrets in text that is about to leave the machine.
 *
 * What looks like a secret is replaced by MASK_TEXT:
 *   - the value of anything whose name speaks of a password, token, key or
 *     connection string, when it is a literal ("api_key = 'x'", "Password=x;")
 *   - keys that their makers gave a form of their own (sk-…, AKIA…, ghp_…, JWT …)
 *   - the password of an address (postgres://user:password@host)
 *   - what follows "Bearer" and "Basic"
 *   - the body of a private key
 *   - long words of letters and digits that look drawn by lot
 * Lines stay lines, so their numbers hold.  It errs on the side of masking.
 * Masking a text twice changes nothing. */
#ifndef HEATLINE_SUGGEST_MASK_H
#define HEATLINE_SUGGEST_MASK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define MASK_TEXT "<masked>"

/* Appends the text to out with its secrets masked; returns how many there were. */
uint32_t mask_append(struct buf *out, const char *text, size_t size);

#endif
