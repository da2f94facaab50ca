"""heatline run --off, on, off, status and write: steering a run that goes on."""

import json
import os
import subprocess
import time

import pytest

from support.paths import PROGRAMS
from support.running import wait_until

CONTROL = PROGRAMS / "control"


def seconds_in(profile, function):
    names = {
        row["line"]: sum(row.get(key, 0) for key in ("python_s", "native_s", "system_s", "wait_s"))
        for file in profile["files"].values()
        for row in file["functions"]
    }
    return names.get(function, 0)


def test_only_what_passes_while_on_is_measured(begin, steer, tmp_path):
    run = begin("control/phases.py", tmp_path, options=["--off"])
    time.sleep(0.7)
    begun = time.monotonic()
    done = steer("on", run.target)
    assert (done.returncode, done.stderr) == (0, ""), done
    (tmp_path / "before").touch()
    switched_s = time.monotonic() - begun
    run.let_work(0.5)
    begun = time.monotonic()
    assert steer("off", run.heatline_pid()).returncode == 0
    (tmp_path / "during").touch()
    switched_s += time.monotonic() - begun
    time.sleep(0.7)
    (tmp_path / "after").touch()
    run.finish()
    assert run.process.returncode == 0
    profile = run.profile()
    total = profile["heatline"]["time"]["total_s"]
    # The phases begin and end a moment beside the switches: on a busy machine that is a while.
    assert seconds_in(profile, "before") + seconds_in(profile, "after") < switched_s + 0.15
    assert seconds_in(profile, "during") > 0.95 * (total - switched_s - 0.15)
    assert total > 0.45
    elapsed, suspended = profile["elapsed_time_sec"], profile["heatline"]["suspended_s"]
    assert 1.2 < suspended < elapsed
    assert total < elapsed - suspended + 0.3


def test_a_program_that_ends_while_it_is_off(begin, steer, tmp_path):
    """What it stood ready to run since the pause began counts for no line."""
    run = begin("control/crowded.py", tmp_path / "end")
    time.sleep(0.5)
    assert steer("off", run.target).returncode == 0
    time.sleep(2)
    (tmp_path / "end").touch()
    run.finish()
    profile = run.profile()
    measured_s = profile["elapsed_time_sec"] - profile["heatline"]["suspended_s"]
    assert len(profile["heatline"]["processes"]) == 3
    assert 0.1 < profile["heatline"]["time"]["total_s"] < 3 * measured_s + 0.3


def test_on_is_the_default(begin, steer, tmp_path):
    run = begin("control/phases.py", tmp_path, options=["--on"])
    for name in ("before", "during", "after"):
        (tmp_path / name).touch()
    run.finish()
    assert run.profile()["heatline"]["suspended_s"] == 0


def test_never_on(begin, steer, tmp_path):
    """A profile without a sample says why, and replaces none that has some."""
    run = begin("control/phases.py", tmp_path, options=["--off"])
    for name in ("before", "during", "after"):
        (tmp_path / name).touch()
    run.finish()
    assert run.process.returncode == 0
    assert run.profile()["heatline"]["time"]["samples"] == 0
    good = run.outfile.read_bytes()
    again = begin("control/phases.py", tmp_path, options=["--off"])
    again.finish()
    assert again.outfile.read_bytes() == good


def test_profile_so_far(begin, steer, tmp_path):
    run = begin("control/phases.py", tmp_path)
    run.let_work(0.3)
    done = steer("write", run.target)
    assert (done.returncode, done.stdout) == (0, f"{run.outfile}\n"), done
    so_far = run.profile()
    assert so_far["heatline"]["is_partial"]
    assert seconds_in(so_far, "before") > 0.1
    for name in ("before", "during", "after"):
        (tmp_path / name).touch()
    run.finish()
    assert not run.profile()["heatline"]["is_partial"]


def test_any_process_names_the_run(begin, steer, tmp_path):
    """The program, a Python child, a shell, what the shell has started, heatline itself."""
    end = tmp_path / "end"
    run = begin("control/tree.py", end)
    children = [
        int(pid)
        for pid in open(f"/proc/{run.target}/task/{run.target}/children").read().split()
    ]
    sleeper = int((tmp_path / "end.sleep").read_text())
    pids = [run.target, run.heatline_pid(), run.collector_pid(), sleeper, *children]
    assert len(pids) == 6
    for pid in pids:
        for word in ("off", "on"):
            assert steer(word, pid).returncode == 0, pid
            entry = find_status(steer, run.target)
            assert entry["state"] == word
    entry = find_status(steer, run.target)
    assert entry["program"] == str(CONTROL / "tree.py")
    assert entry["outfile"] == str(run.outfile)
    assert entry["heatline_pid"] == run.heatline_pid()
    assert abs(entry["start_time_absolute"] - time.time()) < 120
    wait_until(lambda: find_status(steer, run.target)["processes"] == 2)
    wait_until(lambda: find_status(steer, run.target)["samples"] > 0)
    assert f"{run.target}  on" in steer("status").stdout
    end.touch()
    run.finish()
    assert run.process.returncode == 0
    assert find_status(steer, run.target) is None
    assert not run.folder.exists()


def find_status(steer, pid):
    done = steer("status", "--json")
    assert (done.returncode, done.stderr) == (0, ""), done
    return next((entry for entry in json.loads(done.stdout) if entry["pid"] == pid), None)


def test_only_the_first_process(begin, tmp_path):
    end = tmp_path / "end"
    end.touch()
    run = begin("control/tree.py", end, options=["--no-children"])
    run.finish()
    assert run.process.returncode == 0
    assert [process["pid"] for process in run.profile()["heatline"]["processes"]] == [run.target]


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["on", "x"], "'x' is no process number"),
        (["off", "-1"], "unknown option"),
        (["off", "1", "2"], "'2' is a second one"),
        (["write", str(os.getpid())], "is not being profiled"),
        (["status", "7"], "status takes no '7'"),
        (["run", "--on", "--off", "x.py"], "--on and --off exclude each other"),
    ],
)
def test_wrong_words(heatline, words, sentence):
    done = subprocess.run([heatline, *words], stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
