/* test_mask.c - what is masked in a prompt, and what is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "suggest/mask.h"

static void expect(const char *text, const char *expected)
{
	struct buf once, twice;

	buf_init(&once, 65536);
	buf_init(&twice, 65536);
	uint32_t count = mask_append(&once, text, strlen(text));
	assert_string_equal(once.data, expected);
	assert_int_equal(count > 0, strcmp(text, expected) != 0);
	assert_int_equal(mask_append(&twice, once.data, once.size), 0);
	assert_string_equal(twice.data, expected);
	buf_fini(&once);
	buf_fini(&twice);
}

static void test_named(void **state)
{
	expect("password = 'hunter22'", "password = '<masked>'");
	expect("    api_key: str = \"abcd1234\"\n", "    api_key: str = \"<masked>\"\n");
	expect("connect(user='bob', passwd=\"s3cr\\\"et\", port=1)",
	       "connect(user='bob', passwd=\"<masked>\", port=1)");
	expect("{'db_password': 'x y z', 'host': 'h.example'}",
	       "{'db_password': '<masked>', 'host': 'h.example'}");
	expect("os.environ['AUTH_TOKEN'] = 'abcdef'", "os.environ['AUTH_TOKEN'] = '<masked>'");
	expect("os.environ.setdefault('CLIENT_SECRET', b'abcdef')",
	       "os.environ.setdefault('CLIENT_SECRET', b'<masked>')");
	expect("if password == 'letmein':", "if password == '<masked>':");
	expect("c = 'Server=db;User=sa;Password=p@ss!word;'", "c = 'Server=db;User=sa;Password=<masked>;'");
	expect("DSN = 'host=db user=bob'", "DSN = '<masked>'");
	expect("TOKEN: Optional[str] = 'abcd1234'", "TOKEN: Optional[str] = '<masked>'");
	expect("TOKEN: Final[Dict[str, int]] = 'abcd1234'", "TOKEN: Final[Dict[str, int]] = '<masked>'");
	expect("def f(pwd: str | None = 'abcd1234', name='bob'):",
	       "def f(pwd: str | None = '<masked>', name='bob'):");
	expect("def f(pwd: typing.AnyStr, name='bob'):", "def f(pwd: typing.AnyStr, name='bob'):");
	expect("PASSWORD = ('abcd'\n'efgh')", "PASSWORD = ('<masked>'\n'efgh')");
	expect("PASSWORD=( b'abcd1234')", "PASSWORD=( b'<masked>')");
}

static void test_names_without_values(void **state)
{
	expect("password = getpass()", "password = getpass()");
	expect("token = tokens[i]", "token = tokens[i]");
	expect("token: Token = (make('plain'))", "token: Token = (make('plain'))");
	expect("def check(password, salt):", "def check(password, salt):");
	expect("password = ''", "password = ''");
	expect("count += number in wanted", "count += number in wanted");
}

static void test_known_forms(void **state)
{
	expect("client = C('sk-proj-abcdefghijklmnop1234567890')", "client = C('<masked>')");
	expect("AKIAIOSFODNN7EXAMPLE", "<masked>");
	expect("x = 'ghp_abcdefghijklmnopqrst0123456789'", "x = '<masked>'");
	expect("h = {'Authorization': 'Bearer abcdef.ghijkl-12345'}",
	       "h = {'Authorization': 'Bearer <masked>'}");
	expect("engine('postgres://bob:hunter2@db/x')", "engine('postgres://bob:<masked>@db/x')");
	expect("url = 'https://example.com/a:b@c'", "url = 'https://example.com/a:b@c'");
	expect("hf_hub_model_download_helper()", "hf_hub_model_download_helper()");
}

static void test_random_words(void **state)
{
	expect("x = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'",
	       "x = '<masked>'");
	expect("# aGVsbG8gd29ybGQ5IHRoaXMgaXMgMTIzNDU2", "# <masked>");
	expect("a_very_long_function_name_of_many_words(1)", "a_very_long_function_name_of_many_words(1)");
	expect("AbstractSingletonProxyFactoryBean()", "AbstractSingletonProxyFactoryBean()");
	expect("x = 1000000000000000000000000000000000000", "x = 1000000000000000000000000000000000000");
}

static void test_private_keys(void **state)
{
	expect("K = '''-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----'''\nx = 1\n",
	       "K = '''-----BEGIN RSA PRIVATE KEY-----\n<masked>\n<masked>\n"
	       "-----END RSA PRIVATE KEY-----'''\nx = 1\n");
	expect("-----BEGIN PRIVATE KEY-----\nabc\n", "-----BEGIN PRIVATE KEY-----\n<masked>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named),         cmocka_unit_test(test_names_without_values),
		cmocka_unit_test(test_known_forms),   cmocka_unit_test(test_random_words),
		cmocka_unit_test(test_private_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
