"""The page of a program that runs: ``run --live`` and ``view --live``."""

import json
import os
import re
import signal
import subprocess

import pytest

from support.running import wait_until
from support.runs import clean_environment, run
from support.served import STARTED_S, Answer, Served

PROGRAM = """
import pathlib, sys, time
print("begun", flush=True)
end = pathlib.Path(__file__).with_name("end")
while not end.exists():
    sum(i * i for i in range(20000))
    time.sleep(0.01)
print("ended", flush=True)
sys.exit(5)
"""


class Running:
    """A program under ``heatline run``, until its file says that it may end."""

    def __init__(self, heatline, python, script, *options):
        self.script = script
        self.outfile = script.with_name("profile.json")
        self.stderr_path = script.with_name("stderr")
        quiet = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
        with open(self.stderr_path, "wb") as stderr:
            self.process = subprocess.Popen(
                [heatline, "run", "--python", python.executable, "-o", self.outfile, *options, script],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
                env=clean_environment(quiet), start_new_session=True,
            )
        assert self.process.stdout.readline() == b"begun\n", self.stderr

    @property
    def stderr(self):
        return self.stderr_path.read_text()

    def end(self):
        self.script.with_name("end").touch()
        out, _ = self.process.communicate(timeout=STARTED_S)
        return out


class Page(Served):
    """The page that a run has announced."""

    def __init__(self, address):
        self.address = address
        self.port = int(address.split(":")[2].split("/")[0])
        self.token = address.rstrip("/").rsplit("/", 1)[1]
        self.status = 0


class Events:
    """Server-sent events, one after the other."""

    def __init__(self, served):
        self.connection = served.connect()
        request = f"GET {served.path('api/live')} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        self.connection.sendall(request.encode())
        self.stream = self.connection.makefile("rb")
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.stream.readline()
            assert line, head
            head += line
        self.answer = Answer(head)
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stream.close()
        self.connection.close()

    def _read_chunk(self):
        size = int(self.stream.readline() or b"0", 16)
        self.text += self.stream.read(size)
        self.stream.readline()
        return size > 0

    def next(self):
        """(event, data), or None at the end of the stream."""
        while b"\n\n" not in self.text:
            if not self._read_chunk():
                return None
        event, _, self.text = self.text.partition(b"\n\n")
        lines = event.decode().split("\n")
        if lines[0].startswith(":"):
            return self.next()
        name = lines[0].removeprefix("event: ")
        return name, json.loads("\n".join(line.removeprefix("data: ") for line in lines[1:]))

    def profile(self):
        """The next profile that has something in it; there is one each second."""
        for _ in range(30):
            name, data = self.next()
            assert name == "profile"
            if data["heatline"]["quality"]["samples"]:
                return data
        raise AssertionError("nothing is measured")


@pytest.fixture
def start(heatline, any_python, program):
    """start(options…): a Running that is ended with the test."""
    started = []

    def begin(*options):
        running = Running(heatline, any_python, program(PROGRAM), *options)
        started.append(running)
        return running

    yield begin
    for running in started:
        running.end()


def announced(running):
    """The page in what a run has printed."""
    return Page(wait_until(lambda: re.search(r"^http://\S+/$", running.stderr, re.MULTILINE))[0])


class TestRunLive:
    def test_the_page_follows_the_program(self, start):
        running = start("--live")
        page = announced(running)
        info = page.get("api/info").json()
        assert (info["is_live"], info["profiles"]) == (True, 1)
        assert page.get("api/profile/0").status == 200
        with Events(page) as events:
            assert events.answer.headers["content-type"] == "text/event-stream"
            first, second = events.profile(), events.profile()
            assert first["heatline"]["is_partial"] is True
            assert second["elapsed_time_sec"] > first["elapsed_time_sec"]
            samples = [p["heatline"]["quality"]["samples"] for p in (first, second)]
            assert samples[1] > samples[0]
            number = list(second["files"]).index(str(running.script))
            assert page.get(f"api/source/0/{number}").text() == PROGRAM
            assert not running.outfile.exists()  # watching writes no profile
            assert running.end() == b"ended\n"
            assert running.process.returncode == 5
            event, last = events.next()
            while last["heatline"]["is_partial"]:
                event, last = events.next()
            assert last == json.loads(running.outfile.read_text())
            assert events.next() == ("end", {})
            assert events.next() is None
        wait_until(lambda: not is_listening(page))

    def test_it_prints_nothing_into_the_programs_output(self, start):
        running = start("--live", "-q")
        page = announced(running)
        assert running.end() == b"ended\n"
        assert f"ssh -L {page.port}:127.0.0.1:{page.port} " in running.stderr
        wait_until(lambda: not is_listening(page))

    def test_ctrl_c_is_the_programs(self, start):
        running = start("--live")
        page = announced(running)
        os.killpg(running.process.pid, signal.SIGINT)
        assert running.process.wait(timeout=STARTED_S) == -signal.SIGINT
        assert "KeyboardInterrupt" in running.stderr
        wait_until(lambda: not is_listening(page))

    def test_a_run_that_ends_at_once(self, any_python, program):
        done = any_python.heatline_run(program("print('short')"), options=["--live"])
        assert (done.returncode, done.stdout) == (0, "short\n")


class TestViewLive:
    @pytest.fixture
    def watch(self, heatline):
        watching = []

        def view(*words):
            watching.append(Served(heatline, ["view", "--port=0", "--live", *words]))
            return watching[-1]

        yield view
        for served in watching:
            served.end()

    def program_pid(self, running, heatline):
        runs = json.loads(run([heatline, "status", "--json"], check=True).stdout)
        (mine,) = [r for r in runs if r["outfile"] == str(running.outfile)]
        return mine["pid"]

    def test_before_and_after_the_end(self, start, watch, heatline):
        running = start()
        page = watch(self.program_pid(running, heatline))
        with Events(page) as events:
            assert str(running.script) in events.profile()["files"]
            running.end()
            while events.next() != ("end", {}):
                pass
        info = page.get("api/info").json()
        assert info["is_live"] is False
        assert page.get("api/live").status == 204
        assert page.get("api/profile/0").json() == json.loads(running.outfile.read_text())
        page.end()
        assert page.status == 0
        assert "has ended" in page.stderr

    def test_the_program_goes_on_without_the_page(self, start, watch):
        running = start()
        page = watch(running.process.pid)  # heatline's own number will do
        with Events(page) as events:
            events.profile()
            page.end()
        assert page.status == 0
        assert running.process.poll() is None
        assert running.end() == b"ended\n"

    def test_many_watchers(self, start, watch):
        running = start()
        page = watch(running.process.pid)
        watchers = [Events(page) for _ in range(9)]
        try:
            assert [w.answer.status for w in watchers] == [200] * 8 + [503]
            for watcher in watchers[:8]:
                watcher.profile()
        finally:
            for watcher in watchers:
                watcher.__exit__()
        # Those that have left make room.
        def joins():
            with Events(page) as events:
                return events.answer.status == 200
        wait_until(joins)

    def test_a_program_that_heatline_has_not_started(self, any_python, program, watch):
        script = program(PROGRAM)
        command = [any_python.executable, script]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout.readline() == "begun\n"
                page = watch(process.pid)
                with Events(page) as events:
                    first = events.profile()
                    assert str(script) in first["files"]
                    assert events.profile()["elapsed_time_sec"] > first["elapsed_time_sec"]
                    script.with_name("end").touch()
                    while events.next() != ("end", {}):
                        pass
            finally:
                script.with_name("end").touch()
        assert process.returncode == 5
        assert page.get("api/profile/0").json()["heatline"]["is_partial"] is False
        assert page.get("api/info").json()["is_live"] is False

    @pytest.mark.parametrize("words", [["x"], ["-1"], ["0"], ["1"], ["99999999"], ["1", "2"]])
    def test_wrong_numbers(self, heatline, words):
        done = run([heatline, "view", "--live", "--", *words])
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1

    def test_what_does_not_go_together(self, heatline):
        for option in ("--cli", "--html", "-r", "-ox.html"):
            assert run([heatline, "view", "--live", option, "1"]).returncode == 2


def is_listening(page):
    try:
        page.connect().close()
        return True
    except ConnectionRefusedError:
        return False
