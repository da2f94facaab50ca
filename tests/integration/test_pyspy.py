"""heatline called as py-spy: the same words, the same files."""

import json
import re
from collections import Counter

import pytest

from support import runs
from support.paths import heatline_executable
from support.pythons import all_pythons
from support.running import wait_until
from support.targets import Target, dump, functions

ENDS = sorted({all_pythons()[0], all_pythons()[-1]}, key=lambda python: python.version)
oldest_and_newest = pytest.mark.parametrize("some_python", ENDS, ids=[python.name for python in ENDS])

PROGRAM = """
    import threading, time

    def burn():
        total = 0
        while True:
            total += 1

    def wait():
        time.sleep(1000)

    threading.Thread(target=burn, name="bürner", daemon=True).start()
    threading.Thread(target=wait, name="waiter", daemon=True).start()
    print("ready")
    wait()
"""


ENDS_ITSELF = """
    import time

    def burn():
        while time.process_time() < 0.5:
            pass

    burn()
    print("ready")
"""


@pytest.fixture
def spy(tmp_path):
    """Runs heatline under its other name."""
    link = tmp_path / "py-spy"
    link.symlink_to(heatline_executable())
    return lambda *words, **options: runs.run([link, *words], **options)


@pytest.fixture
def it(some_python, program):
    target = Target(some_python, program(PROGRAM))
    wait_until(lambda: at_rest(target.pid))
    yield target
    target.end()


def at_rest(pid):
    """Whether both waiting threads do wait."""
    return [thread["waiting_for"] for thread in dump(pid)["threads"]].count("sleep") == 2


def record(spy, it, tmp_path, form, *options):
    done = spy("record", "-p", it.pid, "-d", "0.6", "-r", "200", "-f", form, "-o", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    return (tmp_path / "out").read_text(encoding="utf-8")


def counts(raw):
    """The innermost function of each stack, and how many samples it has."""
    found = Counter()
    for line in raw.splitlines():
        stack, count = re.fullmatch(r"(.*) (\d+)", line).groups()
        found[stack.split(";")[-1].split(" (")[0]] += int(count)
    return found


@oldest_and_newest
def test_only_running_threads_unless_asked(spy, it, tmp_path):
    running = counts(record(spy, it, tmp_path, "raw"))
    assert running["burn"] >= 1 and running["wait"] == 0
    waiting = counts(record(spy, it, tmp_path, "raw", "--idle"))
    assert waiting["wait"] > waiting["burn"] >= 1  # two threads against one
    gil = counts(record(spy, it, tmp_path, "raw", "--gil"))
    assert gil["burn"] >= 1 and gil["wait"] == 0


@oldest_and_newest
def test_threads_apart_in_samples(spy, it, tmp_path):
    found = json.loads(record(spy, it, tmp_path, "speedscope", "--threads", "--idle"))
    frames = found["shared"]["frames"]
    assert all(set(frame) == {"file", "name", "line", "col"} for frame in frames)
    by_thread = {re.search('"(.*)"', one["name"]).group(1): one for one in found["profiles"]}
    assert set(by_thread) == {"MainThread", "bürner", "waiter"}
    for one in by_thread.values():
        assert one["type"] == "sampled" and len(one["samples"]) == len(one["weights"]) > 1
        assert set(one["weights"]) == {0.005}
    stack = [frames[at]["name"].split(".")[-1] for at in by_thread["waiter"]["samples"][0]]
    assert stack == ["_bootstrap", "_bootstrap_inner", "run", "wait"]


def test_other_formats_and_a_program(spy, any_python, program, tmp_path):
    command = [any_python.executable, program(ENDS_ITSELF)]
    for form, beginning in (("flamegraph", "<?xml"), ("chrometrace", "{")):
        done = spy("record", "--format", form, "-o", tmp_path / form, "--", *command)
        assert done.returncode == 0 and done.stdout == "ready\n", done.stderr
        text = (tmp_path / form).read_text(encoding="utf-8")
        assert text.startswith(beginning) and "burn" in text


def test_dump_and_top(spy, any_python, program):
    it = Target(any_python, program(PROGRAM))
    try:
        wait_until(lambda: at_rest(it.pid))
        found = json.loads(spy("dump", "--pid", it.pid, "--json").stdout)
        assert {functions(thread)[-1] for thread in found["threads"]} == {"burn", "wait"}
        assert '"bürner"' in spy("dump", "-p", it.pid, "--locals").stdout
    finally:
        it.end()


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["record"], "record needs a process or a program"),
        (["record", "-d", "soon", "-p", "1"], "'soon' is no duration"),
        (["record", "--native", "-p", "1"], "leave out --native"),
        (["record", "-p", "x"], "'x' is no process id"),
        (["dump"], "dump needs the id of a process"),
        (["dump", "--core", "/nowhere"], "neither a process id nor a file"),
        (["trace"], "no 'trace'"),
    ],
)
def test_bad_words(spy, words, sentence):
    done = spy(*words)
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1


def test_what_it_is(spy):
    assert "heatline" in spy("--version").stdout and "record" in spy("--help").stdout
    assert spy("completions", "bash").returncode == 0
