"""The page's server: who gets an answer, which one, and what wrong requests get.

Requests are raw bytes on a socket, because clients that are polite cannot send them.
"""

import base64
import concurrent.futures
import hashlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from urllib.parse import quote

import pytest

from support.running import wait_until
from support.runs import run
from support.served import Served, read_all

HOSTILE = "</script><img src=x onerror=alert(1)><!--"
SECRET = "sk-fake-1234567890-never-to-be-seen"
# What stands in for a browser visits the address twice.
BROWSER = """
import sys, urllib.error, urllib.request
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
with direct.open(sys.argv[1]) as answer:
    print(answer.status, answer.url)
try:
    direct.open(sys.argv[1])
except urllib.error.HTTPError as error:
    print(error.code)
"""
SOURCE = f"x = 1\nprint('{HOSTILE}')  # é\n"


def figures(number, text, python=0.0):
    return {
        "lineno": number, "line": text, "n_cpu_percent_python": python, "n_cpu_percent_c": 0.0,
        "n_sys_percent": 0.0,
    }


def write_profile(path, files, elapsed=2.0, start=0.0):
    """A profile as Heatline reads it; files: {path: source}."""
    entries = {
        str(name): {
            "percent_cpu_time": 50.0,
            "lines": [figures(i, line + "\n", 10.0) for i, line in enumerate(text.splitlines(), 1)],
            "functions": [figures(1, HOSTILE, 10.0)],
            "leaks": {},
            "imports": [],
        }
        for name, text in files.items()
    }
    value = {
        "program": str(next(iter(files))),
        "elapsed_time_sec": elapsed,
        "start_time_absolute": start,
        "files": entries,
        "heatline": {"version": "0.1.0", "schema": 1, "time": {"total_s": elapsed}},
    }
    partial = path.with_suffix(".new")
    partial.write_text(json.dumps(value), encoding="utf-8")
    partial.replace(path)
    return path


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


@pytest.fixture
def profile(tmp_path, source):
    gone = tmp_path / f"{HOSTILE.replace('/', '')}.py"
    return write_profile(tmp_path / "profile.json", {source: SOURCE, gone: "y = 1", "<string>": "z"})


@pytest.fixture
def serve(heatline, tmp_path):
    """serve(words…, env…): a Served that is ended with the test."""
    started = []

    def start(*words, **env):
        served = Served(heatline, ["view", "--port", "0", *words], env=env, cwd=tmp_path)
        started.append(served)
        return served

    yield start
    for served in started:
        served.end()


@pytest.fixture
def page(serve, profile):
    return serve(profile)


class TestAnswers:
    def test_the_page_and_its_parts(self, page):
        index = page.get()
        assert index.status == 200
        assert index.headers["content-type"] == "text/html; charset=utf-8"
        assert "app.js" in index.text()
        assert page.get("app.js").headers["content-type"].startswith("text/javascript")
        assert page.get("app.css").headers["content-type"].startswith("text/css")

    def test_no_inline_script_and_no_foreign_address_on_the_page(self, page):
        text = page.get().text()
        assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>", text)
        assert not re.search(r"\son\w+=|<style|https?://", text)

    @pytest.mark.parametrize("rest", ["", "app.js", "api/info", "api/profile/0", "nothing"])
    def test_every_answer_is_strict(self, page, rest):
        headers = page.get(rest).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert not [name for name in headers if name.startswith("access-control")]
        assert "server" not in headers

    def test_info(self, page):
        info = page.get("api/info").json()
        assert info["profiles"] == 1
        assert info["is_live"] is False
        assert info["can_open_editor"] is False
        assert re.fullmatch(r"\d+\.\d+\.\d+.*", info["version"])

    def test_the_profile_is_the_file(self, page, profile):
        assert page.get("api/profile/0").body == profile.read_bytes()

    def test_a_second_profile_to_compare_with(self, serve, profile, source, tmp_path):
        other = write_profile(tmp_path / "other.json", {source: SOURCE}, 3.0)
        both = serve(profile, other)
        assert both.get("api/info").json()["profiles"] == 2
        assert both.get("api/profile/1").json()["elapsed_time_sec"] == 3.0

    def test_profiles_of_scalene_become_ours(self, serve, tmp_path, source):
        path = write_profile(tmp_path / "scalene.json", {tmp_path / "a.py": "", source: SOURCE})
        value = json.loads(path.read_text())
        del value["heatline"]
        path.write_text(json.dumps(value))
        served = serve(path)
        got = served.get("api/profile/0").json()
        assert got["heatline"]["from_scalene"] is True
        number = list(got["files"]).index(str(source))
        assert served.get(f"api/source/0/{number}").text() == SOURCE

    @pytest.mark.parametrize("rest", ["", "app.js", "app.css", "api/profile/0"])
    def test_gzip_when_asked_for(self, page, rest):
        plain, packed = page.get(rest), page.get(rest, Accept_Encoding="br, gzip")
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.text() == plain.text()
        assert int(packed.headers["content-length"]) == len(packed.body)
        assert "content-encoding" not in page.get(rest, Accept_Encoding="gzip;q=0").headers

    def test_head_is_get_without_the_body(self, page):
        for rest in ("", "app.js", "api/profile/0", "api/source/0/0", "api/profile/7"):
            head, get = page.ask(page.path(rest), "HEAD"), page.get(rest)
            assert head.body == b""
            assert head.status == get.status
            assert head.headers["content-length"] == str(len(get.body))

    def test_source_by_number(self, page):
        got = page.get("api/source/0/0")
        assert got.headers["content-type"] == "text/plain; charset=utf-8"
        assert got.text() == SOURCE

    def test_source_that_was_changed_since_is_not_shown(self, serve, tmp_path, source):
        start = source.stat().st_mtime + 1
        served = serve(write_profile(tmp_path / "run.json", {source: SOURCE}, start=start))
        assert served.get("api/source/0/0").text() == SOURCE
        os.utime(source, (start + 1, start + 1))
        assert served.get("api/source/0/0").status == 404

    def test_source_by_path_is_one_of_the_profiles(self, page, source):
        assert page.get(f"api/source/0/1?path={quote(str(source), safe='')}").text() == SOURCE
        for path in ("/etc/passwd", str(source.parent), f"{source}/../{source.name}", "%", "", "<string>"):
            assert page.get(f"api/source/0/0?path={quote(path, safe='%')}").status == 404, path

    @pytest.mark.parametrize("rest", ["0/1", "0/2", "0/3", "0/999999999", "1/0", "2/0", "999/0"])
    def test_source_that_is_not_there(self, page, rest):
        assert page.get(f"api/source/{rest}").status == 404

    def test_source_is_never_a_pipe_or_a_device(self, serve, tmp_path):
        fifo = tmp_path / "pipe.py"
        os.mkfifo(fifo)
        served = serve(write_profile(tmp_path / "p.json", {fifo: "x", "/dev/zero": "x", "/etc": "x"}))
        for number in range(3):
            assert served.get(f"api/source/0/{number}").status == 404

    def test_profiles_out_of_range(self, page):
        for rest in ("1", "2", "999999999"):
            assert page.get(f"api/profile/{rest}").status == 404

    def test_no_live_stream_of_a_file(self, page):
        assert page.get("api/live").status == 404

    def test_a_profile_replaced_while_it_is_served(self, page, profile, source):
        assert page.get("api/profile/0").json()["elapsed_time_sec"] == 2.0
        write_profile(profile, {source: SOURCE}, 5.0)
        assert page.get("api/profile/0").json()["elapsed_time_sec"] == 5.0
        assert page.get("api/source/0/1").status == 404
        profile.write_text("{ this is cut off")
        assert page.get("api/profile/0").json()["elapsed_time_sec"] == 5.0
        profile.unlink()
        assert page.get("api/profile/0", Accept_Encoding="gzip").json()["elapsed_time_sec"] == 5.0
        write_profile(profile, {source: SOURCE}, 6.0)
        assert page.get("api/profile/0").json()["elapsed_time_sec"] == 6.0

    def test_exports_are_downloads(self, page, heatline, profile):
        for name in ("speedscope", "pprof", "collapsed", "svg", "gecko", "chrome", "pstats", "csv", "markdown"):
            got = page.get(f"api/export/0/{name}")
            assert got.status == 200, name
            assert got.headers["content-disposition"].startswith("attachment; filename=\"heatline-profile.")
            done = run([heatline, "export", profile, "-f", name, "-o", "-"], text=False)
            assert done.returncode == 0
            if name not in ("pprof", "gecko"):  # these say when they were made, or by whom
                assert got.body == done.stdout, name
        assert page.get("api/export/0/collapsed?metric=cpu").status == 200

    def test_exports_that_are_not_there(self, page):
        for rest in ("0/nothing", "1/csv", "0/collapsed?metric=nothing"):
            assert page.get(f"api/export/{rest}").status == 404
        got = page.get("api/export/0/collapsed?metric=peak")
        assert got.status == 409
        assert "memory" in got.text()

    def test_several_requests_on_one_connection(self, page):
        request = f"GET {page.path('api/info')} HTTP/1.1\r\nHost: localhost\r\n"
        with page.connect() as connection:
            connection.sendall((request + "\r\n").encode() * 3)
            connection.sendall((request + "Connection: close\r\n\r\n").encode())
            assert read_all(connection).count(b'"version"') == 4

    def test_the_address_without_its_last_slash(self, page):
        got = page.ask(f"/{page.token}")
        assert got.status == 303
        assert got.headers["location"] == page.path()


class TestRefusals:
    @pytest.mark.parametrize(
        "path",
        ["/", "/app.js", "/api/profile/0", "/{bad}/", "/{bad}/api/profile/0", "/{short}/",
         "/{token}x/", "//{token}/", "/{upper}/api/info", "/{token}/../{token}/", "/%2f{token}/"],
    )
    def test_without_the_token_there_is_nothing(self, page, path):
        bad = page.token[:-1] + ("0" if page.token[-1] != "0" else "1")
        upper = page.token.upper() if page.token.upper() != page.token else "A" * 32
        words = {"token": page.token, "bad": bad, "short": page.token[:-1], "upper": upper}
        got = page.ask(path.format(**words))
        assert got.status == 404
        assert page.token not in got.text()

    def test_every_server_has_its_own_token(self, serve, profile):
        tokens = {serve(profile).token for _ in range(3)}
        assert len(tokens) == 3
        assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)

    @pytest.mark.parametrize(
        "host",
        ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "0.0.0.0:{port}",
         "localhost.evil.example:{port}", "", "localhost:99999999"],
    )
    def test_dns_rebinding(self, page, host):
        got = page.ask(page.path("api/profile/0"), headers={"Host": host.format(port=page.port)})
        assert got.status == 421
        assert b"files" not in got.body

    def test_no_host_at_all(self, page):
        assert page.ask(page.path(), headers={"Host": None}).status in (400, 421)
        assert page.raw(f"GET {page.path()} HTTP/1.0\r\n\r\n".encode()).status == 421

    def test_names_of_this_machine(self, page):
        for host in ("localhost", f"localhost:{page.port}", f"[::1]:{page.port}", "127.0.0.1:8080"):
            assert page.ask(page.path(), headers={"Host": host}).status == 200

    @pytest.mark.parametrize(
        "origin", ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1:{port}"]
    )
    def test_another_origin(self, page, origin):
        origin = origin.format(port=page.port)
        assert page.get("api/profile/0", Origin=origin).status == 403
        assert page.get("app.js", Origin=origin).status == 403
        assert page.ask(page.path("api/profile/0"), "OPTIONS", {"Origin": origin}).status == 403

    def test_what_browsers_say_of_other_pages(self, page):
        for site in ("cross-site", "same-site"):
            assert page.get("api/profile/0", Sec_Fetch_Site=site).status == 403
            assert page.get("app.js", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors").status == 403
            assert page.get("", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 200
        assert page.get("api/profile/0", Sec_Fetch_Site="same-origin").status == 200

    @pytest.mark.parametrize(
        "rest",
        ["..", "../", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd",
         "api/source/0/../../../etc/passwd", "api/source/0//etc/passwd", "api/source/0/%2Fetc",
         "api/profile/..", "app.js%00.css", "./app.js", "api/source/0/-1", "api/source/-1/0",
         "api/source/0/00", "api/source/0/4294967296", "api/source/0/18446744073709551616",
         "standalone.html", "api/export/0/..", "\\..\\app.js"],
    )
    def test_there_is_no_path_to_traverse(self, page, rest):
        assert page.get(rest).status in (400, 404)

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "HUGO"])
    def test_methods(self, page, method):
        got = page.ask(page.path("api/profile/0"), method)
        assert got.status == 405
        assert got.headers["allow"] == "GET, HEAD"

    def test_reading_what_is_for_posting(self, page):
        got = page.get("api/open")
        assert got.status == 405
        assert got.headers["allow"] == "POST"

    def test_a_head_that_is_too_large(self, page):
        for extra in (f"X: {'x' * 100_000}\r\n", "".join(f"X{i}: y\r\n" for i in range(20_000))):
            request = f"GET {page.path()} HTTP/1.1\r\nHost: localhost\r\n{extra}\r\n"
            assert page.raw(request.encode()).status in (0, 413, 431)
        assert page.ask(page.path("x" * 100_000)).status in (0, 414, 431)
        assert page.get().status == 200

    def test_a_body_that_is_too_large(self, page):
        assert page.post("api/open", b"x" * 20_000).status == 413
        assert page.post("api/open", b"", Content_Length="99999999999999").status in (400, 413)
        assert page.ask(page.path(), body=b"x" * 10).status == 413
        chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
        head = (
            f"POST {page.path('api/open')} HTTP/1.1\r\nHost: localhost\r\n"
            "Origin: http://localhost\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"
        )
        assert page.raw(head.encode() + chunk * 8).status in (0, 413)
        assert page.get().status == 200

    @pytest.mark.parametrize(
        "request_bytes",
        [b"\r\n\r\n", b"GET\r\n\r\n", b"\0" * 100, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" * 20,
         b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
         b"\xff\xfe GET / HTTP/1.1\r\n\r\n", b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    )
    def test_what_is_no_request(self, page, request_bytes):
        with page.connect() as connection:
            connection.sendall(request_bytes)
            connection.settimeout(1)
            assert b"200 OK" not in read_all(connection)
        assert page.get().status == 200


class TestMany:
    def test_200_at_once(self, page):
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            rests = ["", "app.js", "api/profile/0", "api/source/0/0"] * 50
            answers = list(pool.map(page.get, rests))
        assert [answer.status for answer in answers] == [200] * 200

    def test_200_connections_that_say_nothing(self, page):
        idle = [page.connect() for _ in range(200)]
        try:
            # They are ended soon, some at a time, and then it is our turn.
            assert page.get("api/info").status == 200
        finally:
            for connection in idle:
                connection.close()

    def test_a_request_that_never_ends(self, page):
        """One letter at a time would hold a connection for ever; it has ten seconds."""
        with page.connect() as slow:
            start = time.monotonic()
            slow.sendall(f"GET {page.path()} HTTP/1.1\r\nX: ".encode())
            closed = False
            while not closed and time.monotonic() < start + 40:
                assert page.get("api/info").status == 200  # others are served meanwhile
                try:
                    slow.sendall(b"x")
                    slow.settimeout(0.5)
                    closed = slow.recv(100) == b""
                except socket.timeout:
                    pass
                except OSError:
                    closed = True
            assert closed

    def test_a_client_that_leaves_early(self, page, profile, source):
        write_profile(profile, {source: "x = 1\n" * 100_000})
        for _ in range(20):
            with page.connect() as connection:
                connection.sendall(f"GET {page.path('api/profile/0')} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                connection.recv(10)
        assert page.get("api/info").status == 200


class TestEditor:
    @pytest.fixture
    def editor(self, tmp_path):
        """An editor that notes how it was called."""
        script = tmp_path / "bin" / "code"
        script.parent.mkdir()
        script.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$0.new"; mv "$0.new" "$0.args"\n')
        script.chmod(0o755)
        return script

    def opened(self, editor):
        path = editor.with_name("code.args")
        words = wait_until(lambda: path.exists() and path.read_text().splitlines())
        path.unlink()
        return words

    def test_a_line_is_opened(self, serve, profile, source, editor):
        served = serve(profile, HEATLINE_EDITOR=str(editor))
        assert served.get("api/info").json()["can_open_editor"] is True
        assert served.post("api/open", {"profile": 0, "file": 0, "line": 2}).json() == {}
        assert self.opened(editor) == ["-g", f"{source}:2"]
        by_path = {"profile": 0, "file": 1, "line": 1, "path": str(source)}
        assert served.post("api/open", by_path).status == 200
        assert self.opened(editor) == ["-g", f"{source}:1"]

    def test_a_command_of_the_users_own(self, serve, profile, source, editor):
        served = serve(profile, HEATLINE_EDITOR=f"{editor} --at {{line}} -- {{file}}")
        assert served.post("api/open", {"profile": 0, "file": 0, "line": 7}).status == 200
        assert self.opened(editor) == ["--at", "7", "--", str(source)]

    def test_only_editors_with_a_window_unless_asked_for(self, serve, profile):
        assert serve(profile, EDITOR="vim").get("api/info").json()["can_open_editor"] is False
        assert serve(profile, EDITOR="code -w").get("api/info").json()["can_open_editor"] is True
        without = serve(profile)
        assert without.post("api/open", {"profile": 0, "file": 0, "line": 1}).status == 404

    def test_only_files_of_the_profile(self, serve, profile, editor):
        served = serve(profile, HEATLINE_EDITOR=str(editor))
        for wrong in (
            {"profile": 0, "file": 1, "line": 1},  # is gone
            {"profile": 0, "file": 2, "line": 1},  # <string>
            {"profile": 0, "file": 99, "line": 1},
            {"profile": 1, "file": 0, "line": 1},
            {"profile": 0, "file": 0, "line": 1, "path": "/etc/passwd"},
            {"profile": 0, "file": 0, "line": 1, "path": "<string>"},
        ):
            assert served.post("api/open", wrong).status == 404, wrong
        for broken in (
            b"", b"[]", b"{}", b"{", b'"x"', b'{"profile": 0}', b"\0", b"[" * 5000,
            {"profile": 0, "file": -1, "line": 1}, {"profile": 0, "file": 0, "line": 0},
            {"profile": 0, "file": 0, "line": "1"}, {"profile": 0, "file": 0, "line": 1e99},
        ):
            assert served.post("api/open", broken).status == 400, broken
        assert not editor.with_name("code.args").exists()

    def test_only_the_page_itself_may(self, serve, profile, editor):
        served = serve(profile, HEATLINE_EDITOR=str(editor))
        line = {"profile": 0, "file": 0, "line": 1}
        assert served.post("api/open", line, Origin=None).status == 403
        assert served.post("api/open", line, Origin="http://evil.example").status == 403
        assert served.post("api/open", line, Origin="null").status == 403
        assert served.post("api/open", line, Content_Type="text/plain").status == 403
        assert served.post("api/open", line, Content_Type=None).status == 403
        assert served.post("api/open", line, Sec_Fetch_Site="cross-site").status == 403
        assert served.post("api/open", line, Host="evil.example").status == 421
        assert not editor.with_name("code.args").exists()

    def test_an_editor_that_is_not_there(self, serve, profile):
        served = serve(profile, HEATLINE_EDITOR="no-such-editor")
        got = served.post("api/open", {"profile": 0, "file": 0, "line": 1})
        assert got.status == 500
        assert "no-such-editor" in got.text()


class TestCommand:
    def test_ctrl_c_ends_it_well(self, page):
        page.end(signal.SIGINT)
        assert page.status == 0
        assert page.stderr.endswith("heatline: the page is no longer served\n")
        with pytest.raises(ConnectionRefusedError):
            page.connect()

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_so_do_other_signals(self, page, number):
        page.end(number)
        assert page.status == 0

    def test_ctrl_c_with_open_connections(self, page):
        with page.connect() as one, page.connect() as two:
            one.sendall(b"GET ")
            two.sendall(f"GET {page.path()} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            two.recv(10)
            page.end()
        assert page.status == 0

    def test_only_the_address_is_on_stdout(self, page):
        page.end()
        assert page.process.stdout.closed or page.process.stdout.read() == b""
        assert f"ssh -L {page.port}:127.0.0.1:{page.port} " in page.stderr
        assert page.token not in page.stderr

    def test_it_listens_on_the_loopback_address_only(self, page):
        rows = [line.split() for line in open("/proc/net/tcp").readlines()[1:]]
        mine = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{page.port:04X}")]
        assert mine == [f"0100007F:{page.port:04X}"]

    def test_a_port_in_use(self, heatline, profile, page):
        done = run([heatline, "view", "--port", page.port, profile])
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert str(page.port) in done.stderr and "in use" in done.stderr

    def test_the_usual_port_or_the_next(self, heatline, profile):
        with Served(heatline, ["view", profile]) as one, Served(heatline, ["view", profile]) as two:
            assert 11235 <= one.port
            assert 11235 <= two.port != one.port

    @pytest.mark.parametrize("port", ["x", "-1", "65536", "1.5"])
    def test_wrong_ports(self, heatline, profile, port):
        assert run([heatline, "view", f"--port={port}", profile]).returncode == 2

    def test_bad_profiles_are_refused_before_anything_is_served(self, heatline, profile, tmp_path):
        broken = tmp_path / "broken.json"
        broken.write_text("{")
        for words in ([broken], [profile, broken], [tmp_path / "missing.json"], [tmp_path]):
            done = run([heatline, "view", *words])
            assert (done.returncode, done.stdout) == (2, "")
            assert len(done.stderr.splitlines()) == 1

    def on_terminal(self, heatline, profile, tmp_path, *options, **env):
        """(what was printed, what the browser got) of a view on a terminal of its own."""
        browser = tmp_path / "browser"
        called = tmp_path / "browser.args"
        browser.write_text(
            '#!/bin/sh\nprintf "%s\\n" "$@" > "$0.new"; for url; do :; done\n'
            f'"{sys.executable}" - "$url" >> "$0.new" <<end\n{BROWSER}end\nmv "$0.new" "$0.args"\n'
        )
        browser.chmod(0o755)
        leader, follower = os.openpty()
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        environment.update({"BROWSER": "", **{k: v.format(browser=browser) for k, v in env.items()}})
        process = subprocess.Popen(
            [heatline, "view", "--port=0", *options, profile], stdin=follower, stdout=follower,
            stderr=follower, env=environment, start_new_session=True,
        )
        os.close(follower)
        text = b""
        while b"Ctrl-C" not in text:
            text += os.read(leader, 4096)
        if b"open in your browser" in text:
            wait_until(called.exists)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        os.close(leader)
        words = called.read_text().splitlines() if called.exists() else None
        return text.decode().replace("\r\n", "\n"), words

    def test_a_browser_is_opened_where_there_is_a_terminal(self, heatline, profile, tmp_path):
        text, words = self.on_terminal(heatline, profile, tmp_path, BROWSER="{browser} --new")
        address = text.splitlines()[0]
        assert "open in your browser" in text
        assert words[0] == "--new"
        # The address that anybody can read in the list of processes is good for one visit only.
        assert words[1] != address
        assert words[2:] == [f"200 {address}", "404"]

    def test_no_browser_when_not_wanted(self, heatline, profile, tmp_path):
        options = {"BROWSER": "{browser}", "DISPLAY": ":77"}
        text, called = self.on_terminal(heatline, profile, tmp_path, "--no-open", **options)
        assert called is None
        assert "open this address" in text

    def test_no_browser_without_a_display(self, heatline, profile, tmp_path):
        assert self.on_terminal(heatline, profile, tmp_path)[1] is None

    def test_no_browser_without_a_terminal(self, serve, profile, tmp_path):
        browser = tmp_path / "browser"
        browser.write_text('#!/bin/sh\ntouch "$0.called"\n')
        browser.chmod(0o755)
        served = serve(profile, BROWSER=str(browser), DISPLAY=":77")
        served.end()
        assert "open this address" in served.stderr
        assert not browser.with_name("browser.called").exists()


class TestFile:
    @pytest.fixture
    def write(self, heatline, profile, tmp_path):
        def write_page(*words):
            env = {"OPENAI_API_KEY": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "HOSTNAME": SECRET}
            return run([heatline, "view", *words], cwd=tmp_path, env=env)

        return write_page

    def test_the_file_is_named_after_the_profile(self, write, profile, tmp_path):
        done = write("--html", profile)
        assert (done.returncode, done.stdout) == (0, "")
        assert "profile.html" in done.stderr
        first = (tmp_path / "profile.html").read_text(encoding="utf-8")
        assert write("--standalone", "-o", "other.html", profile).returncode == 0
        assert (tmp_path / "other.html").read_text(encoding="utf-8") == first

    def test_nothing_but_the_page_and_the_profile(self, write, profile, tmp_path):
        assert write("--standalone", profile).returncode == 0
        text = (tmp_path / "profile.html").read_text(encoding="utf-8")
        assert SECRET not in text
        head = text.split("heatline-profile-0")[0]
        assert not re.search(r"<(?:link|img|script|iframe)[^>]*(?:src|href)=\"(?!data:)", head)
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', head)[1]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy and "connect-src" not in policy

    def test_the_policy_permits_its_own_script_and_style(self, write, profile, tmp_path):
        write("--html", profile)
        text = (tmp_path / "profile.html").read_text(encoding="utf-8")
        for tag in ("script", "style"):
            (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in text

    def test_hostile_text_stays_text(self, write, profile, tmp_path):
        write("--html", profile, profile)
        text = (tmp_path / "profile.html").read_text(encoding="utf-8")
        assert "<img" not in text
        found = re.findall(
            r'<script type="application/json" id="heatline-profile-(\d)">(.*?)</script>', text, re.DOTALL
        )
        assert [number for number, _ in found] == ["0", "1"]
        for _, data in found:
            assert "<" not in data
            assert json.loads(data) == json.loads(profile.read_text(encoding="utf-8"))
            assert HOSTILE in json.dumps(json.loads(data), ensure_ascii=False)

    def test_a_reduced_file(self, write, heatline, any_python, program, tmp_path):
        done = any_python.heatline_run(program("""
            secret = "this line takes no time"
            for i in range(40):
                sum(j * j for j in range(20000))
        """))
        assert write("--html", "-r", "-o", "small.html", done.profile_path).returncode == 0
        assert write("--html", "-o", "large.html", done.profile_path).returncode == 0
        small, large = ((tmp_path / name).read_text() for name in ("small.html", "large.html"))
        assert "this line takes no time" in large
        assert "this line takes no time" not in small
        assert "range(20000)" in small

    def test_what_does_not_go_together(self, write, profile):
        for option in ("--cli", "--seconds", "--color=never", "--no-pager", "--live"):
            assert write("--html", option, profile).returncode == 2

    def test_a_file_that_cannot_be_written(self, write, profile, tmp_path):
        for outfile in (tmp_path / "missing" / "x.html", tmp_path, "/dev/full"):
            done = write("--html", "-o", outfile, profile)
            assert done.returncode == 2
            assert len(done.stderr.splitlines()) == 1
        assert write("-o", "x.html", profile).returncode == 2

    def test_an_old_page_survives_a_bad_profile(self, write, tmp_path):
        page, bad = tmp_path / "page.html", tmp_path / "bad.json"
        page.write_text("old")
        bad.write_text("{")
        assert write("--html", "-o", page, bad).returncode == 2
        assert page.read_text() == "old"

    def test_the_file_is_as_private_as_the_user_wants(self, write, profile, tmp_path):
        old = os.umask(0o077)
        try:
            write("--html", profile)
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "profile.html").stat().st_mode) == 0o600
