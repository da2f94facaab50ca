"""heatline view: where the report goes, and what it may look like there.

The report itself is tested by the unit tests; here are terminals, pipes and pagers.
"""

import fcntl
import json
import os
import re
import struct
import subprocess
import termios

import pytest

from support.runs import run
from support.terminals import read_all

SOURCE = [
    "import time",
    "",
    "def work(n):",
    "    total = 0",
    "    while total < n:",
    "        total += 1  # é, 日本",
    "    return total",
    "",
    "work(10_000_000)",
    "time.sleep(0.5)  # " + "long " * 60,
]
COLOR = re.compile(r"\x1b\[[0-9;]*m")


def line_record(number, text, python=0.0, native=0.0, system=0.0):
    return {
        "lineno": number,
        # As Scalene writes it, with escapes inside the text.
        "line": text.replace("<", "\\u003c") + "\n",
        "n_cpu_percent_python": python,
        "n_cpu_percent_c": native,
        "n_sys_percent": system,
    }


@pytest.fixture
def profile(tmp_path):
    """A profile as Scalene would have written it."""
    figures = {5: (40.0, 0.0, 0.0), 6: (30.0, 5.0, 0.0), 10: (0.0, 0.0, 25.0)}
    lines = [line_record(i, text, *figures.get(i, ())) for i, text in enumerate(SOURCE, 1)]
    functions = [line_record(3, "work", 70.0, 5.0)]
    path = tmp_path / "scalene-profile.json"
    path.write_text(
        json.dumps(
            {
                "program": str(tmp_path / "program.py"),
                "elapsed_time_sec": 2.0,
                "files": {
                    str(tmp_path / "program.py"): {
                        "percent_cpu_time": 100.0,
                        "lines": lines,
                        "functions": functions,
                        "leaks": {},
                        "imports": [],
                    }
                },
            }
        ),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def view(heatline, profile, tmp_path):
    def view_profile(*options, **environment):
        env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LC_ALL", "NO_COLOR")}
        env.update({"LANG": "C.UTF-8", **environment})
        return run([heatline, "view", "--cli", *options, profile], env=env, cwd=tmp_path)

    return view_profile


@pytest.fixture
def view_on_terminal(heatline, profile, tmp_path):
    """What heatline view puts on a terminal of this size."""

    def view_profile(columns, rows, *options, **environment):
        drop = ("COLUMNS", "LINES", "LC_ALL", "NO_COLOR", "PAGER", "LESS")
        env = {k: v for k, v in os.environ.items() if k not in drop}
        env.update({"LANG": "C.UTF-8", "TERM": "xterm", **environment})
        leader, follower = os.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen(
            [heatline, "view", "--cli", *options, profile],
            stdin=follower, stdout=follower, stderr=follower, env=env, cwd=tmp_path,
        )
        os.close(follower)
        text = read_all(leader)
        assert process.wait(timeout=30) == 0
        return text.decode().replace("\r\n", "\n")

    return view_profile


def test_a_pipe_gets_plain_and_whole_text(view):
    done = view()
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    for line in SOURCE:
        assert line.rstrip() in done.stdout


def test_the_figures_are_those_of_the_profile(view):
    rows = [line.split("│")[0].split() for line in view().stdout.splitlines() if "│" in line]
    assert ["5", "0.80", "s", "40%"] in [row[:4] for row in rows]
    assert ["6", "0.70", "s", "30%", "5%"] in [row[:5] for row in rows]
    assert any(row[:1] == ["10"] and "25%" in row for row in rows)


def test_reduced_leaves_out_what_took_no_time(view):
    text = view("-r").stdout
    assert "def work" in text
    assert "import time" not in text
    assert "┊" in text


def test_colours_are_for_terminals_and_for_those_who_ask(view, view_on_terminal):
    assert COLOR.search(view("--color=always").stdout)
    assert COLOR.search(view_on_terminal(100, 200))
    assert not COLOR.search(view_on_terminal(100, 200, NO_COLOR="1"))
    assert not COLOR.search(view_on_terminal(100, 200, "--color=never"))
    assert COLOR.search(view_on_terminal(100, 200, "--color=always", NO_COLOR="1"))
    assert not COLOR.search(view_on_terminal(100, 200, TERM="dumb"))


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(view_on_terminal, columns):
    text = view_on_terminal(columns, 200, "--color=never")
    rows = [line for line in text.splitlines() if "│" in line]
    assert len(rows) > len(SOURCE)
    assert all(len(row) <= columns for row in rows)
    assert any("total +=" in row for row in rows)


def test_a_locale_without_utf8_gets_ascii(view):
    done = view(LC_ALL="C")
    assert done.stdout.isascii()
    assert "\\xe9" in done.stdout


def test_what_does_not_fit_is_paged(view_on_terminal):
    pager = "sed 's/^/paged: /'"
    assert view_on_terminal(80, 10, PAGER=pager).startswith("paged: ")
    assert "paged" not in view_on_terminal(80, 200, PAGER=pager)
    assert "paged" not in view_on_terminal(80, 10, "--no-pager", PAGER=pager)
    assert "paged" not in view_on_terminal(80, 10, PAGER="")
    assert "paged" not in view_on_terminal(80, 10, PAGER=pager, TERM="dumb")
    assert "paged" not in view_on_terminal(80, 10, PAGER=pager, TERM="")  # as where it is not set


def test_a_pager_that_is_not_there(view_on_terminal):
    assert "def work" in COLOR.sub("", view_on_terminal(80, 10, PAGER="no-such-pager"))


def test_a_reader_that_leaves_early(heatline, profile, tmp_path):
    big = json.loads(profile.read_text(encoding="utf-8"))
    (record,) = big["files"].values()
    record["lines"] += [line_record(i, "x = 1") for i in range(11, 20000)]
    profile.write_text(json.dumps(big), encoding="utf-8")
    with subprocess.Popen(
        [heatline, "view", "--cli", profile], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 0


def test_a_full_disk_is_reported(heatline, profile):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [heatline, "view", "--cli", profile], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30
        )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "No space left" in done.stderr


MEMORY_PROGRAM = """\
import time; KEPT = []

def keep():
    KEPT.append(bytes(8_000_000))

def churn():
    return len(bytearray(4_000_000))

for step in range(30):
    time.sleep(0.01)
    keep()
    churn()
"""


def test_memory_is_shown_where_it_was_measured(any_python, program, heatline):
    done = any_python.heatline_run(program(MEMORY_PROGRAM))
    peak = re.search(r"Memory peak (\d+) MB, (\d+)% of it from \S+:4", done.stderr)
    assert peak, done
    assert 228 <= int(peak[1]) <= 260
    assert int(peak[2]) >= 90
    text = run([heatline, "view", "--cli", done.profile_path]).stdout
    assert "RSS: " in text
    assert re.search(r"^ +4 .*229 MB.*│     KEPT", text, re.MULTILINE)
    assert re.search(r"Temporary churn[^\n]*\n +\d+% 114 MB  \S+:7 ", text)
    only_time = any_python.heatline_run(program(MEMORY_PROGRAM), options=["--cpu-only"])
    for text in (only_time.stderr, run([heatline, "view", "--cli", only_time.profile_path]).stdout):
        assert "Memory" not in text
        assert " MB" not in text


def test_one_profile_too_many(heatline, profile):
    for words in (["--cli", profile, profile], [profile, profile, profile]):
        done = run([heatline, "view", *words])
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("option", ["-r", "--seconds", "--no-pager", "--color=never"])
def test_an_option_for_the_terminal_is_enough(heatline, profile, option):
    """What means nothing on the page is a wish for the terminal."""
    assert "def work" in run([heatline, "view", option, profile], check=True).stdout
