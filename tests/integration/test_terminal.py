"""On a terminal with a shell: job control, Ctrl-C, a debugger, a full screen."""

import os
import pty
import select
import shlex
import signal
import time
from pathlib import Path
from typing import List

import pytest

from support.paths import heatline_executable
from support.runs import clean_environment
from support.terminals import wait_until_asleep


class Terminal:
    """A terminal whose shell runs a job: types, reads what is shown, waits for words."""

    def __init__(self, command: List[str], cwd: Path):
        self.shown = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            environment = clean_environment({"TERM": "xterm", "PS1": "shell> "})
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
        self.wait_for(b"shell> ")
        self.type(" ".join(map(shlex.quote, map(str, command))) + "\n")

    def type(self, text: str) -> None:
        self.shown = b""
        os.write(self.fd, text.encode())

    def wait_for(self, *wanted: bytes) -> bytes:
        """Reads until all of these are shown, in this order."""
        deadline = time.monotonic() + 40
        while True:
            place = 0
            for words in wanted:
                place = self.shown.find(words, place) if place >= 0 else place
            if place >= 0:
                return self.shown
            assert time.monotonic() < deadline, (wanted, self.shown)
            self.read(0.5)

    def read(self, seconds: float) -> bytes:
        """All that is shown, once more has come or this time has passed."""
        if select.select([self.fd], [], [], seconds)[0]:
            self.shown += os.read(self.fd, 65536)
        return self.shown

    def close(self) -> None:
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@pytest.fixture
def job(python, program, tmp_path):
    """job(source): a program under heatline, started by a shell on a terminal."""
    open_ones = []

    def begin(source: str) -> Terminal:
        words = ["run", "--quiet", "--python", python.executable, "-o", tmp_path / "p.json"]
        command = python.command([heatline_executable(), *words, program(source)])
        open_ones.append(Terminal(command, tmp_path))
        return open_ones[-1]

    yield begin
    for terminal in open_ones:
        terminal.close()


def test_stopped_and_continued_by_the_shell(job, tmp_path):
    """Ctrl-Z stops the job as the shell sees it; fg goes on with it, bg without the terminal."""
    terminal = job(
        """
        import os, time
        print("begun", flush=True)
        while not os.path.exists("enough"):
            time.sleep(0.01)
        print("ended" + " well")
        """
    )
    terminal.wait_for(b"begun")
    terminal.type("\x1a")
    terminal.wait_for(b"Stopped", b"shell> ")
    terminal.type("bg\n")
    terminal.wait_for(b"shell> ")
    terminal.type("fg\n")
    (tmp_path / "enough").touch()
    terminal.wait_for(b"ended well", b"shell> ")
    terminal.type("echo status $?\n")
    terminal.wait_for(b"status 0")
    assert (tmp_path / "p.json").exists()


def test_interrupted_in_the_shell(job):
    """One Ctrl-C is one KeyboardInterrupt, also for a program that catches it and goes on."""
    terminal = job(
        """
        import sys, time
        count = 0
        print("begun", flush=True)
        while count < 2:
            try:
                time.sleep(30)
            except KeyboardInterrupt:
                count += 1
                print("interrupt", count, flush=True)
        sys.exit(23)
        """
    )
    terminal.wait_for(b"begun")
    wait_until_asleep(terminal.fd)
    terminal.type("\x03")
    terminal.wait_for(b"interrupt 1")
    wait_until_asleep(terminal.fd)
    assert b"interrupt 2" not in terminal.read(0)
    terminal.type("\x03")
    terminal.wait_for(b"interrupt 2", b"shell> ")
    terminal.type("echo status $?\n")
    terminal.wait_for(b"status 23")


def test_debugger(job):
    terminal = job(
        """
        answer = 41
        import pdb; pdb.set_trace()
        answer += 1
        print("answer is", answer)
        """
    )
    terminal.wait_for(b"(Pdb)")
    terminal.type("answer = 99\n")
    terminal.wait_for(b"(Pdb)")
    terminal.type("c\n")
    terminal.wait_for(b"answer is 100")


def test_full_screen(job):
    """curses: keys come one by one."""
    terminal = job(
        """
        import curses
        def main(screen):
            screen.addstr(0, 0, "ready")
            screen.refresh()
            keys = [screen.getch() for _ in range(3)]
            return keys
        print("keys", curses.wrapper(main))
        """
    )
    terminal.wait_for(b"ready")
    for key in "abc":
        time.sleep(0.2)
        terminal.type(key)
    terminal.wait_for(b"keys [97, 98, 99]")
