"""heatline.start, stop, profiling, enabled and mark, in a process that heatline did not start and in one that
it did."""

import json
import os

import pytest

from support.package import environment
from support.packages import numpy_folder
from support.paths import PROGRAMS
from support.running import is_running, wait_until

API = PROGRAMS / "api"


def facts_of(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture
def plain(python):
    """plain("twice.py"): what the program says of itself, without heatline run."""
    return lambda script, **more: facts_of(
        python.run_plain(API / script, env={**environment(), **more})
    )


def test_two_sessions_leave_nothing_behind(plain):
    facts = plain("twice.py")
    assert facts["after"] == facts["before"]
    assert facts["on"] == [True, False, True, False]
    assert min(facts["shares"]) > 0.25
    assert set(facts["names"]) == {"MainThread", "busy"}
    assert not facts["has_children"]
    assert not facts["is_partial"]


def test_starts_are_counted_and_exceptions_pass(plain):
    facts = plain("nested.py")
    assert "start()" in facts["refused"]
    assert facts["on_between"] and not facts["on_after"]
    assert facts["outer"] > facts["inner"] > 0
    assert facts["inner_is_partial"]
    assert facts["error"] == "'mine'"
    assert facts["failed"] > 0.5
    assert not facts["on_after_error"]
    assert facts["thread_s"] > 0.15


def test_a_forked_child_is_part_of_its_parents_session(plain):
    facts = plain("forked.py")
    assert facts["left"] == 5
    assert facts["refused"] == 7
    assert facts["own"] == 50
    assert facts["on"]
    assert facts["processes"] >= 2
    assert facts["samples"] > 10  # some 50 in 0.6 s
    assert facts["collectors"] == []


def texts_of(marks):
    assert [mark["s"] for mark in marks] == sorted(mark["s"] for mark in marks)
    return [mark["text"] for mark in marks]


def test_marks_are_on_the_timeline(plain):
    marks = plain("marked.py")["marks"]
    assert texts_of(marks) == ["epoch 1", "epoch 2 ü" + "x" * 190, "7"]


@pytest.mark.parametrize("switch", ["--on", "--off"])
def test_a_run_is_switched_by_its_program(newest_python, switch):
    run = newest_python.heatline_run(API / "marked.py", options=["--cpu-only", switch], env=environment())
    assert run.returncode == 0
    facts = json.loads(run.stdout)
    assert texts_of(facts["marks"])[:2] == ["before", "epoch 1"]
    assert not facts["on"]
    assert switch == "--on" or facts["suspended"] > 0.005
    whole = run.profile["heatline"]
    assert texts_of(whole["marks"])[-1] == "after"
    assert whole["suspended_s"] > 0 and not whole["is_partial"]
    report = newest_python.heatline(["view", "--cli", run.profile_path])
    assert "epoch 1" in report.stdout


def test_memory_of_a_running_process(plain):
    facts = plain("memory.py")
    assert facts["is_restored"] and facts["is_wrapped"] and facts["raw_is_left"]
    for found in facts["found"]:
        assert found["memory"] and not found["warnings"]
        assert found["rows"] == pytest.approx(20_000 * 856 / 2**20, rel=0.25)
        assert found["block"] == pytest.approx(40, rel=0.01)
        assert found["copied"] == pytest.approx(40, rel=0.01)
        assert found["kept"] == 0


def test_an_extension_loaded_later_is_seen(python, plain):
    path = [environment()["PYTHONPATH"], numpy_folder(python)]
    facts = plain("extension.py", PYTHONPATH=os.pathsep.join(path))
    assert facts["zeros"] == pytest.approx(32, rel=0.01)
    assert facts["other"] == pytest.approx(32, rel=0.01)
    assert facts["copied"] == pytest.approx(32, rel=0.05)


@pytest.mark.parametrize("how, status", [("return", 0), ("raise", 1), ("_exit", 3), ("kill", -9), ("exec", 0)])
def test_a_session_that_is_never_stopped_leaves_nothing(newest_python, how, status):
    done = newest_python.run_plain(API / "ends.py", how, env=environment())
    assert done.returncode == status or (status < 0 and done.returncode == 128 - status)
    folder, *collectors = done.stdout.splitlines()[0].split()
    assert folder and collectors
    for pid in collectors:
        wait_until(lambda: not is_running(int(pid)))
    assert not os.path.exists(folder)


def check_churn(python, **variables):
    script = ["-W", "ignore", API / "churn.py"]  # it forks beside threads
    facts = facts_of(python.run_plain(script, env={**environment(), **variables}))
    assert facts["turns"] == 12
    assert set(facts["statuses"]) == {0}
    assert facts["memory"] == [turn % 4 != 1 for turn in range(12)]


def test_sessions_beside_threads_that_come_and_go(python):
    check_churn(python)


@pytest.mark.parametrize("name, value", [("PYTHONMALLOC", "malloc"), ("PYTHONDEVMODE", "1")])
def test_sessions_with_other_allocators(newest_python, name, value):
    check_churn(newest_python, **{name: value})


def test_a_killed_collector_is_told_and_does_no_harm(newest_python):
    facts = facts_of(newest_python.run_plain(API / "killed.py", env=environment()))
    assert len(facts["errors"]) == 2
    assert not facts["is_left"]
    assert facts["share"] > 0.5


def test_other_commands_know_a_session(any_python):
    facts = facts_of(any_python.run_plain(API / "steered.py", env=environment()))
    assert "steered.py > heatline.stop()" in facts["status"][1]
    status, output, error = facts["write"]
    assert (status, output) == (2, "") and "heatline.stop()" in error
    assert facts["off"][0] == 0 and facts["is_on"] == [False, True]
