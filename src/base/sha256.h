/* sha256.h - SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), for signing requests.
 *
 * Whole messages only: what is signed is small and in memory. */
#ifndef HEATLINE_BASE_SHA256_H
#define HEATLINE_BASE_SHA256_H

#include <stddef.h>

#define SHA256_BYTES 32u
#define SHA256_HEX_BYTES (2 * SHA256_BYTES + 1) /* with the terminator */

void sha256(const void *data, size_t size, unsigned char digest[SHA256_BYTES]);

/* digest may be key. */
void sha256_hmac(const void *key, size_t key_size, const void *data, size_t size,
		 unsigned char digest[SHA256_BYTES]);

/* In small letters. */
void sha256_hex(const unsigned char digest[SHA256_BYTES], char hex[SHA256_HEX_BYTES]);

#endif
