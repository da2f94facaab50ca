/* test_sha256.c - the vectors of FIPS 180-4 and RFC 4231. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/sha256.h"

static void expect_hash(const char *text, size_t size, const char *expected)
{
	unsigned char digest[SHA256_BYTES];
	char hex[SHA256_HEX_BYTES];

	sha256(text, size, digest);
	sha256_hex(digest, hex);
	assert_string_equal(hex, expected);
}

static void test_hash(void **state)
{
	char *million = mem_alloc(1000000);

	expect_hash("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	expect_hash("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	expect_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', 1000000);
	expect_hash(million, 1000000,
		    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(million);
}

static void expect_hmac(const char *key, size_t key_size, const char *text, const char *expected)
{
	unsigned char digest[SHA256_BYTES];
	char hex[SHA256_HEX_BYTES];

	sha256_hmac(key, key_size, text, strlen(text), digest);
	sha256_hex(digest, hex);
	assert_string_equal(hex, expected);
}

static void test_hmac(void **state)
{
	char key[131];

	memset(key, 0x0b, 20);
	expect_hmac(key, 20, "Hi There",
		    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	expect_hmac("Jefe", 4, "what do ya want for nothing?",
		    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key)); /* longer than a block */
	expect_hmac(key, sizeof(key), "Test Using Larger Than Block-Size Key - Hash Key First",
		    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void test_hmac_in_place(void **state)
{
	unsigned char key[SHA256_BYTES], other[SHA256_BYTES];

	memset(key, 7, sizeof(key));
	sha256_hmac(key, sizeof(key), "text", 4, other);
	sha256_hmac(key, sizeof(key), "text", 4, key);
	assert_memory_equal(key, other, sizeof(key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_hmac),
		cmocka_unit_test(test_hmac_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
