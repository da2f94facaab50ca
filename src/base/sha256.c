/* sha256.c - the algorithm as the standard describes it. */
#include "base/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES 64u

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t value, unsigned bits)
{
	return value >> bits | value << (32 - bits);
}

static void expand(uint32_t words[64], const unsigned char *block)
{
	for (unsigned i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < 64; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];

		words[i] = words[i - 16] + words[i - 7] +
			   (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
			   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

static void mix(uint32_t state[8], const unsigned char *block)
{
	uint32_t words[64], v[8];

	expand(words, block);
	memcpy(v, state, sizeof(v));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t one = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
			       ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + words[i];
		uint32_t two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
			       ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += one;
		v[0] = one + two;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += v[i];
}

/* The hash of head followed by data; head is a whole block, or NULL. */
static void hash(const unsigned char *head, const unsigned char *data, size_t size,
		 unsigned char digest[SHA256_BYTES])
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	uint64_t bits = 8 * ((uint64_t)size + (head ? BLOCK_BYTES : 0));
	unsigned char last[2 * BLOCK_BYTES] = {0};

	if (head)
		mix(state, head);
	for (; size >= BLOCK_BYTES; data += BLOCK_BYTES, size -= BLOCK_BYTES)
		mix(state, data);
	if (size)
		memcpy(last, data, size);
	last[size] = 0x80;
	size_t blocks = size + 9 > BLOCK_BYTES ? 2 : 1;
	for (unsigned i = 0; i < 8; i++)
		last[blocks * BLOCK_BYTES - 1 - i] = (unsigned char)(bits >> 8 * i);
	for (size_t i = 0; i < blocks; i++)
		mix(state, last + i * BLOCK_BYTES);
	for (unsigned i = 0; i < SHA256_BYTES; i++)
		digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256(const void *data, size_t size, unsigned char digest[SHA256_BYTES])
{
	hash(NULL, data, size, digest);
}

void sha256_hmac(const void *key, size_t key_size, const void *data, size_t size,
		 unsigned char digest[SHA256_BYTES])
{
	unsigned char pad[BLOCK_BYTES] = {0}, inner[SHA256_BYTES];

	if (key_size > BLOCK_BYTES)
		sha256(key, key_size, pad);
	else if (key_size)
		memcpy(pad, key, key_size);
	for (unsigned i = 0; i < BLOCK_BYTES; i++)
		pad[i] ^= 0x36;
	hash(pad, data, size, inner);
	for (unsigned i = 0; i < BLOCK_BYTES; i++)
		pad[i] ^= 0x36 ^ 0x5c;
	hash(pad, inner, sizeof(inner), digest);
}

void sha256_hex(const unsigned char digest[SHA256_BYTES], char hex[SHA256_HEX_BYTES])
{
	for (unsigned i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}
