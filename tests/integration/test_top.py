"""heatline top: the live table, through a pseudo-terminal, and once for scripts."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from support import runs
from support.paths import heatline_executable
from support.targets import Target, heatline

pytestmark = pytest.mark.measures

HOT = """
    import threading, time

    def busy():
        total = 0
        for i in range(2000):
            total += i  # hot
        return total

    def idle():
        time.sleep(1000)

    threading.Thread(target=idle, name="idler", daemon=True).start()
    print("ready")
    while True:
        busy()
"""


@pytest.fixture
def target(python, program):
    it = Target(python, program(HOT))
    yield it
    it.end()


class Terminal:
    """heatline in a terminal of 100 by 30; keeps everything that it wrote."""

    def __init__(self, *argv):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen(
            [str(heatline_executable()), *map(str, argv)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=runs.clean_environment({"TERM": "xterm", "LC_ALL": "C.UTF-8"}),
        )
        os.close(slave)
        self.text = ""

    def wait_for(self, pattern, seconds=30):
        """Reads until the pattern is in what was written since the last time."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, f"{pattern} never came up in {self.text[-3000:]!r}"
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    data = b""
                assert data, f"heatline ended: {self.text[-2000:]!r}"
                self.text += data.decode("utf-8", "replace")
        found, self.text = self.text, ""
        return found

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal():
    made = []

    def make(*argv):
        made.append(Terminal(*argv))
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_once_json(target):
    done = heatline("top", "--once", "--json", target.pid)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pid"] == target.pid and found["looks"] > 50 and found["lost"] <= 0.05 * found["looks"]
    assert found["cpu_percent"] > 0 and found["gil_percent"] > 5 and found["resident_bytes"] > 1 << 20
    functions = {row["name"]: row for row in found["functions"]}
    assert functions["busy"]["own_percent"] > 80
    assert functions["<module>"]["total_percent"] > 80 > functions["<module>"]["own_percent"]
    assert {row["name"] for row in found["threads"]} == {"MainThread", "idler"}
    assert all(row["source"] for row in found["lines"])


def test_once_text(target):
    done = heatline("top", "--once", "-d", "0.5", target.pid)
    assert done.returncode == 0, done.stderr
    assert "# hot" in done.stdout and "GIL" in done.stdout and f"process {target.pid}" in done.stdout


def test_keys(any_python, program, terminal):
    it = Target(any_python, program(HOT))
    try:
        top = terminal("top", it.pid)
        top.wait_for(r"program\.py:\d+.*# hot")
        top.press("f")
        top.wait_for(r"busy")
        top.press("t")
        top.wait_for(r"idler")
        top.press("s")
        top.wait_for(r"total")
        top.press("l/nosuch\n")
        top.wait_for(r"nosuch")  # curses writes only what has changed
        top.press("/\x1b")
        top.wait_for(r"# hot")
        top.press(" ")
        top.wait_for(r"go on")
        top.press("\n")
        top.wait_for(r"range\(2000")
        top.press("\n r")
        top.wait_for(r"pause")
        top.press("q")
        assert top.process.wait(20) == 0
        assert it.process.poll() is None
    finally:
        it.end()


def test_a_program_is_started_and_ended(any_python, program, terminal):
    top = terminal("top", "--python", any_python.executable, program(HOT))
    top.wait_for(r"# hot")
    children = subprocess.run(["pgrep", "-P", str(top.process.pid)], stdout=subprocess.PIPE, encoding="utf-8")
    pid = int(children.stdout.split()[0])
    top.process.send_signal(signal.SIGINT)
    assert top.process.wait(20) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_end_of_the_process(any_python, program, terminal):
    it = Target(any_python, program(HOT))
    top = terminal("top", it.pid)
    top.wait_for(r"# hot")
    it.end()
    top.wait_for(r"The process has ended")
    top.press("q")
    assert top.process.wait(20) == 0


@pytest.mark.parametrize("words", [[], ["no-such-program.py"], ["--once", "99999999999"], ["--rate", "x", "1"]])
def test_bad_words(words):
    done = heatline("top", *words)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr


def test_no_terminal(any_python, program):
    it = Target(any_python, program(HOT))
    try:
        done = heatline("top", it.pid)
        assert done.returncode == 2 and "--once --json" in done.stderr
    finally:
        it.end()
