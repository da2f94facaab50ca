/* test_serve.c - the server's parts that need no connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "serve/browser.h"
#include "serve/editor.h"
#include "serve/gzip.h"
#include "serve/request.h"
#include "serve/route.h"
#include "serve/token.h"

static const struct token token = {"0123456789abcdef0123456789abcdef"};
#define T "/0123456789abcdef0123456789abcdef"

static void test_tokens(void **state)
{
	struct token one, two;

	assert_int_equal(token_make(&one, NULL), 0);
	assert_int_equal(token_make(&two, NULL), 0);
	assert_int_equal(strlen(one.text), TOKEN_LETTERS);
	assert_int_equal(strspn(one.text, "0123456789abcdef"), TOKEN_LETTERS);
	assert_string_not_equal(one.text, two.text);
	assert_true(token_equal(&one, one.text, TOKEN_LETTERS));
	assert_false(token_equal(&one, two.text, TOKEN_LETTERS));
	assert_false(token_equal(&one, one.text, TOKEN_LETTERS - 1));
	assert_false(token_equal(&one, "", 0));
	for (size_t i = 0; i < TOKEN_LETTERS; i++) {
		two = one;
		two.text[i] ^= 1;
		assert_false(token_equal(&one, two.text, TOKEN_LETTERS));
	}
}

static enum route_kind kind_of(const char *path)
{
	return route_parse(path, &token).kind;
}

static void test_paths(void **state)
{
	struct route route = route_parse(T "/api/source/1/204", &token);

	assert_int_equal(route.kind, ROUTE_SOURCE);
	assert_int_equal(route.profile, 1);
	assert_int_equal(route.file, 204);
	route = route_parse(T "/api/export/0/speedscope", &token);
	assert_int_equal(route.kind, ROUTE_EXPORT);
	assert_string_equal(route.format, "speedscope");
	route = route_parse(T "/app.js", &token);
	assert_int_equal(route.kind, ROUTE_ASSET);
	assert_string_equal(route.asset, "app.js");
	assert_string_equal(route_parse(T "/", &token).asset, "index.html");
	assert_int_equal(kind_of(T), ROUTE_TO_PAGE);
	assert_int_equal(kind_of(T "/api/info"), ROUTE_INFO);
	assert_int_equal(kind_of(T "/api/live"), ROUTE_LIVE);
	assert_int_equal(kind_of(T "/api/open"), ROUTE_OPEN);
	assert_int_equal(route_parse(T "/api/profile/999999999", &token).profile, 999999999);
}

static void test_paths_that_are_none(void **state)
{
	static const char *const paths[] = {
		"", "/", "//", "app.js", "/app.js", "*", "/api/info",
		"/0123456789abcdef0123456789abcdee/", "/0123456789abcdef0123456789abcdef0/",
		"/0123456789ABCDEF0123456789ABCDEF/", "/" T "/", "x" T "/",
		T "//", T "/.", T "/..", T "/../", T "/../app.js", T "/%2e%2e/", T "/./app.js",
		T "/app.js/", T "/APP.JS", T "/app.jsx", T "/standalone.html", T "/api",
		T "/api/", T "/api/infos", T "/api/info/", T "/api/profile", T "/api/profile/",
		T "/api/profile/-1", T "/api/profile/00", T "/api/profile/01", T "/api/profile/1x",
		T "/api/profile/1000000000", T "/api/profile/99999999999999999999",
		T "/api/profile/0/", T "/api/source/0", T "/api/source/0/", T "/api/source/0/x",
		T "/api/source/0/../1", T "/api/source/0//etc/passwd", T "/api/source/0/%30",
		T "/api/export/0/", T "/api/export/0/../x", T "/api/export/0/a.b",
		T "/api/export/0/abcdefghijklmnop",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (kind_of(paths[i]) != ROUTE_NONE)
			fail_msg("'%s' should be nothing", paths[i]);
	}
}

static bool is_for_loopback(const char *host)
{
	return request_is_for_loopback(&(struct request_headers){.host = host});
}

static void test_hosts(void **state)
{
	static const char *const good[] = {"127.0.0.1:11235", "localhost:11235", "[::1]:1",
					   "LocalHost:65535", "localhost", "127.0.0.1"};
	static const char *const bad[] = {"evil.example:11235", "127.0.0.1.evil.example",
					  "localhost.evil.example:11235", "localhost:", "localhost:x",
					  "localhost:123456", "127.0.0.2:11235", "[::1", "0.0.0.0",
					  "", "localhost:80@evil.example", "localhost :80"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(is_for_loopback(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(is_for_loopback(bad[i]));
	assert_false(is_for_loopback(NULL));
}

static void test_origins(void **state)
{
	struct request_headers headers = {.host = "localhost:11235"};

	assert_true(request_is_same_origin(&headers, false));
	headers.origin = "http://localhost:11235";
	assert_true(request_is_same_origin(&headers, false));
	static const char *const bad[] = {"null", "", "http://localhost:11236", "http://localhost",
					  "https://localhost:11235", "http://127.0.0.1:11235",
					  "http://localhost:11235/", "http://evil.example"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		headers.origin = bad[i];
		assert_false(request_is_same_origin(&headers, true));
	}
	headers.origin = NULL;
	headers.fetch_site = "cross-site";
	headers.fetch_mode = "cors";
	assert_false(request_is_same_origin(&headers, true));
	headers.fetch_mode = "navigate";
	assert_true(request_is_same_origin(&headers, true));
	assert_false(request_is_same_origin(&headers, false));
	headers.fetch_site = "same-site"; /* another port of localhost */
	assert_false(request_is_same_origin(&headers, false));
}

static void test_who_may_act(void **state)
{
	struct request_headers headers = {.host = "localhost:1", .origin = "http://localhost:1",
					  .content_type = "application/json"};

	assert_true(request_may_act(&headers));
	headers.content_type = "Application/JSON; charset=utf-8";
	assert_true(request_may_act(&headers));
	static const char *const bad[] = {"text/plain", "application/jsonx", "", NULL};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		headers.content_type = bad[i];
		assert_false(request_may_act(&headers));
	}
	headers.content_type = "application/json";
	headers.origin = NULL;
	assert_false(request_may_act(&headers));
}

static bool accepts_gzip(const char *value)
{
	return request_accepts_gzip(&(struct request_headers){.accept_encoding = value});
}

static void test_gzip_is_asked_for(void **state)
{
	assert_true(accepts_gzip("gzip"));
	assert_true(accepts_gzip("deflate, GZIP;q=0.5, br"));
	assert_true(accepts_gzip("br;q=0,gzip"));
	assert_false(accepts_gzip("gzip;q=0"));
	assert_false(accepts_gzip("gzip; q=0.000, br"));
	assert_false(accepts_gzip("br, deflate"));
	assert_false(accepts_gzip("xgzip"));
	assert_false(accepts_gzip("gzipx"));
	assert_false(accepts_gzip(""));
	assert_false(accepts_gzip(NULL));
}

static void expect_decoded(const char *value, const char *expected)
{
	char *decoded = request_decode(value);

	if (expected)
		assert_string_equal(decoded, expected);
	else
		assert_null(decoded);
	free(decoded);
}

static void test_values_are_decoded(void **state)
{
	expect_decoded("/a/b.py", "/a/b.py");
	expect_decoded("%2Fa%2fb%20c.py", "/a/b c.py");
	expect_decoded("%C3%A9+%25", "\xc3\xa9+%");
	expect_decoded("", "");
	expect_decoded("%", NULL);
	expect_decoded("%2", NULL);
	expect_decoded("%zz", NULL);
	expect_decoded("a%00b", NULL);
}

static void test_gzip_there_and_back(void **state)
{
	struct buf buf;
	size_t packed_size, size;

	buf_init(&buf, 1 << 20);
	for (int i = 0; i < 20000; i++)
		buf_printf(&buf, "%d,", i);
	char *packed = gzip_compress(buf.data, buf.size, &packed_size);
	assert_non_null(packed);
	assert_true(packed_size < buf.size / 2);
	char *back = gzip_expand(packed, packed_size, 1 << 20, &size);
	assert_non_null(back);
	assert_int_equal(size, buf.size);
	assert_string_equal(back, buf.data);
	assert_null(gzip_expand(packed, packed_size / 2, 1 << 20, &size));
	assert_null(gzip_expand(packed, packed_size, buf.size - 1, &size));
	assert_null(gzip_expand(packed, 0, 1 << 20, &size));
	packed[0] ^= 1;
	assert_null(gzip_expand(packed, packed_size, 1 << 20, &size));
	free(packed);
	free(back);
	buf_fini(&buf);
}

static void expect_words(const char *command, const char *path, const char *expected)
{
	char **words = editor_words(command, path, 12);
	struct buf buf;

	buf_init(&buf, 1000);
	for (char **word = words; word && *word; word++)
		buf_printf(&buf, "[%s]", *word);
	assert_string_equal(buf.data, expected);
	buf_fini(&buf);
	editor_free_words(words);
}

static void test_editor_commands(void **state)
{
	expect_words("code", "/a b/c.py", "[code][-g][/a b/c.py:12]");
	expect_words("code --wait", "/c.py", "[code][--wait][-g][/c.py:12]");
	expect_words("/usr/bin/vim", "/c.py", "[/usr/bin/vim][+12][/c.py]");
	expect_words("  gvim  -f ", "/c.py", "[gvim][-f][+12][/c.py]");
	expect_words("subl", "/$(touch x).py", "[subl][/$(touch x).py:12]");
	expect_words("pycharm", "/c.py", "[pycharm][--line][12][/c.py]");
	expect_words("my-editor", "/c.py", "[my-editor][/c.py]");
	expect_words("xterm -e vi +{line} {file}", "/{line}.py",
		     "[xterm][-e][vi][+12][/{line}.py]");
	expect_words("x --at={file}:{line}", "/c.py", "[x][--at=/c.py:12]");
	expect_words("", "/c.py", "");
	expect_words("   ", "/c.py", "");
}

static void test_which_editor(void **state)
{
	assert_string_equal(editor_choose("vim", "code", "nano"), "vim");
	assert_string_equal(editor_choose("", "code -w", "nano"), "code -w");
	assert_string_equal(editor_choose(NULL, "vim", "/opt/bin/subl"), "/opt/bin/subl");
	assert_null(editor_choose(NULL, "vim", "nano"));
	assert_null(editor_choose(NULL, NULL, NULL));
	assert_null(editor_choose(" ", "", "unknown"));
}

static void expect_browser(struct browser_place place, const char *expected)
{
	char command[100];
	char *words[BROWSER_MAX_WORDS + 1];
	struct buf buf;

	buf_init(&buf, 1000);
	if (browser_words(&place, "http://x/", command, sizeof(command), words)) {
		for (char **word = words; *word; word++)
			buf_printf(&buf, "[%s]", *word);
	}
	assert_string_equal(buf.data, expected);
	buf_fini(&buf);
}

static void test_browsers(void **state)
{
	expect_browser((struct browser_place){true, ":0", NULL, NULL}, "[xdg-open][http://x/]");
	expect_browser((struct browser_place){true, NULL, "w-0", ""}, "[xdg-open][http://x/]");
	expect_browser((struct browser_place){true, ":0", NULL, "firefox -P a:lynx"},
		       "[firefox][-P][a][http://x/]");
	expect_browser((struct browser_place){true, NULL, NULL, "helper %s --wait"},
		       "[helper][http://x/][--wait]");
	expect_browser((struct browser_place){true, NULL, NULL, NULL}, "");
	expect_browser((struct browser_place){true, "", "", ""}, "");
	expect_browser((struct browser_place){false, ":0", "w-0", "firefox"}, "");
	expect_browser((struct browser_place){true, ":0", NULL, "a b c d e f g h i"}, "");
	expect_browser((struct browser_place){true, ":0", NULL, " "}, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_paths_that_are_none),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_who_may_act),
		cmocka_unit_test(test_gzip_is_asked_for),
		cmocka_unit_test(test_values_are_decoded),
		cmocka_unit_test(test_gzip_there_and_back),
		cmocka_unit_test(test_editor_commands),
		cmocka_unit_test(test_which_editor),
		cmocka_unit_test(test_browsers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
