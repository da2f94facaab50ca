"""Memory by line: known programs give their known megabytes, on every Python.

The programs mark their lines with words (``# KEEP``).  Bounds are several standard errors
wide (docs/MEMORY.md), so chance does not fail a test.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Dict

import pytest

from support.again import Kept
from support.paths import PROGRAMS
from support.runs import ProfiledRun

pytestmark = pytest.mark.measures

MEMORY = PROGRAMS / "memory"
SWITCH = Path(__file__).parent / "doubles" / "switch.c"
MB = 1024 * 1024


@pytest.fixture(scope="session")
def profiled(python):
    """profiled("name.py", options…): the finished run, made once for each Python."""
    runs = Kept()

    def run(name: str, *options: str) -> ProfiledRun:
        return runs.get((name, options), lambda: python.heatline_run(MEMORY / name, (), options))

    return run


def numbers(name: str) -> Dict[str, int]:
    """{mark: line number} of a program."""
    lines = (MEMORY / name).read_text().splitlines()
    found = {i: re.search(r"# ([A-Z]+)$", line) for i, line in enumerate(lines, 1)}
    return {match.group(1): i for i, match in found.items() if match}


def line_of(run: ProfiledRun, name: str, mark: str) -> dict:
    return run.lines_of(MEMORY / name)[numbers(name)[mark]]


def test_one_large_block(profiled):
    line = line_of(profiled("known.py"), "known.py", "KEEP")
    for key in ("n_malloc_mb", "n_peak_mb", "n_kept_mb", "n_growth_mb", "n_at_peak_mb"):
        assert line[key] == pytest.approx(20e6 / MB, rel=0.01), key
    assert line["n_python_fraction"] > 0.99
    assert len(line["memory_samples"]) >= 1


def test_many_small_objects(profiled):
    run = profiled("known.py")
    line = line_of(run, "known.py", "SMALL")
    truth = json.loads(run.stdout)["SMALL"] / MB
    assert line["n_kept_mb"] == pytest.approx(truth, rel=0.06)
    assert line["n_mallocs"] >= 180_000


def test_churn_keeps_nothing(profiled):
    line = line_of(profiled("known.py"), "known.py", "CHURN")
    assert line["n_malloc_mb"] == pytest.approx(200e6 / MB, rel=0.01)
    # One block at a time, which may stand for as much as a 48th of what its site took (docs/MEMORY.md).
    assert line["n_peak_mb"] < 1.1 + line["n_malloc_mb"] / 48
    assert line["n_kept_mb"] < 0.2
    assert line["n_avg_mb"] <= line["n_peak_mb"]


def test_temporaries_make_no_peak(profiled):
    line = line_of(profiled("temporaries.py"), "temporaries.py", "TEXT")
    assert line["n_malloc_mb"] > 200
    assert line["n_peak_mb"] < 0.5


ROUND = 40_000 * (64 + 8) / MB  # what rounds.py builds in one


@pytest.mark.parametrize("mark,truth", [("REPLACED", 2 * ROUND), ("DROPPED", ROUND), ("ONCE", 10 * ROUND)])
def test_peak_of_what_is_built_again_and_again(profiled, mark, truth):
    """Of many estimates by few samples the highest is chance: three rounds seemed to live at once, and more."""
    run = profiled("rounds.py")
    line = line_of(run, "rounds.py", mark)
    assert line["n_malloc_mb"] > 300
    assert 0.5 * truth < line["n_peak_mb"] < 1.5 * truth
    assert line["n_peak_mb"] >= line["n_at_peak_mb"]
    assert max(value for _, value in line["memory_samples"]) <= line["n_peak_mb"] + 0.001
    assert 10 * ROUND * 0.8 < run.profile["max_footprint_mb"] < 10 * ROUND * 1.2 + 12


def test_a_list_that_grows(profiled):
    """Blocks that were resized have ended: only what is left of them is live."""
    line = line_of(profiled("known.py"), "known.py", "GROW")
    assert line["n_peak_mb"] == pytest.approx(0.8, rel=0.2)  # as long as it was, not more
    assert line["n_malloc_mb"] > 4
    assert line["n_kept_mb"] < 0.1


def test_a_text_that_grows_in_place(profiled):
    """By realloc's count it allocates terabytes; it never holds more than itself, or twice that
    where a Python copies it now and then."""
    run = profiled("text.py")
    grown = int(run.stdout.split()[0]) / MB
    line = line_of(run, "text.py", "GROWN")
    assert line["n_malloc_mb"] > 100 * grown
    assert line["n_kept_mb"] == pytest.approx(grown, rel=0.25)
    assert line["n_peak_mb"] < 2.5 * grown


def test_what_stays_is_no_part_of_what_goes_up_and_down(profiled):
    run = profiled("text.py")
    kept = sum(map(int, run.stdout.split())) / MB
    memory = run.profile["heatline"]["memory"]
    assert kept < memory["peak_mb"] < 1.13 * kept
    assert memory["kept_mb"] <= memory["peak_mb"]


def test_copies(profiled):
    line = line_of(profiled("known.py"), "known.py", "COPY")
    assert line["n_copy_mb"] == pytest.approx(200e6 / MB, rel=0.03)
    assert line["n_copy_mb_s"] > 0


def test_native_memory(profiled):
    line = line_of(profiled("known.py"), "known.py", "NATIVE")
    assert line["n_malloc_mb"] == pytest.approx(10e6 / MB, rel=0.02)
    assert line["n_python_fraction"] < 0.02


def test_a_pool_belongs_to_who_takes_from_it(profiled):
    """And to nobody as far as nothing was taken."""
    run = profiled("pool.py")
    first, second = line_of(run, "pool.py", "FIRST"), line_of(run, "pool.py", "SECOND")
    assert line_of(run, "pool.py", "MAPS").get("n_malloc_mb", 0) < 1
    assert first["n_malloc_mb"] == pytest.approx(40, rel=0.05)
    assert second["n_malloc_mb"] == pytest.approx(24, rel=0.05)
    assert first["n_kept_mb"] == pytest.approx(40, rel=0.05)
    assert run.profile["max_footprint_mb"] == pytest.approx(64, abs=10)
    # What was taken last was given back.
    assert second["n_peak_mb"] == pytest.approx(24, rel=0.05)
    assert second["n_kept_mb"] < 1


def test_a_pool_that_is_emptied_by_the_end(profiled):
    """What the interpreter's end has an allocator give back was kept until then."""
    run = profiled("pool_end.py")
    assert line_of(run, "pool_end.py", "TAKES")["n_kept_mb"] == pytest.approx(40, rel=0.05)
    assert line_of(run, "pool_end.py", "MAPS")["n_kept_mb"] == pytest.approx(20, rel=0.05)
    assert run.profile["heatline"]["memory"]["kept_mb"] == pytest.approx(62, rel=0.05)


def test_threads_and_children(profiled):
    run = profiled("known.py")
    # 10 000 of 1033 bytes each, and the list, made anew as it grows by an eighth.
    assert line_of(run, "known.py", "THREAD")["n_malloc_mb"] == pytest.approx(11.2e6 / MB, rel=0.2)
    child = line_of(run, "known.py", "CHILD")
    assert child["n_malloc_mb"] == pytest.approx(2 * 10e6 / MB, rel=0.02)
    assert child["n_kept_mb"] == pytest.approx(2 * 10e6 / MB, rel=0.02)
    assert child["n_peak_mb"] == pytest.approx(10e6 / MB, rel=0.05)  # one after the other


def test_the_whole(profiled):
    """Lines, functions, stacks and the peak's parts add up."""
    profile = profiled("known.py").profile
    whole = profile["heatline"]["memory"]
    file = profile["files"][str(MEMORY / "known.py")]
    for key, total in (("n_malloc_mb", "allocated_mb"), ("n_copy_mb", "copied_mb")):
        lines = sum(line.get(key, 0) for line in file["lines"])
        assert lines <= whole[total] * 1.000001
        assert lines == pytest.approx(sum(f[key] for f in file["functions"]), rel=1e-6)
    at_peak = sum(line.get("n_at_peak_mb", 0) for line in file["lines"])
    assert 0.8 * whole["peak_mb"] < at_peak <= 1.01 * whole["peak_mb"]
    nodes = profile["heatline"]["stacks"]["nodes"]
    stacks = sum(node[10] for node in nodes if len(node) > 10)
    assert stacks / MB == pytest.approx(whole["allocated_mb"], rel=1e-6)
    assert profile["max_footprint_mb"] == whole["peak_mb"]
    assert max(point[1] for point in whole["timeline"]) == pytest.approx(whole["peak_mb"], rel=0.02)
    assert whole["peak_rss_mb"] > 20
    assert profile["memory_stacks"]


def test_resident_for_a_moment(python, program):
    """The peak of the RSS is the kernel's: no look would meet it."""
    script = program("""\
        import time
        time.sleep(0.3)
        block = bytearray(150_000_000)
        del block
        time.sleep(0.3)
        """)
    profile = python.heatline_run(script).profile["heatline"]
    assert 150e6 / MB < profile["memory"]["peak_rss_mb"] < 150e6 / MB + 40
    assert profile["processes"][0]["peak_resident_mb"] == pytest.approx(profile["memory"]["peak_rss_mb"], abs=0.01)


def test_resident_of_each_process(python, program):
    """A small process has not the peak of the large one that has started it."""
    script = program("""\
        import os, subprocess, sys
        block = bytearray(150_000_000)
        subprocess.run([sys.executable, "-c", "b = bytearray(20_000_000); del b"])
        pid = os.fork()
        if pid == 0:
            del block
            os._exit(0)
        os.waitpid(pid, 0)
        """)
    run = python.heatline_run(script)
    large, small, child = (one["peak_resident_mb"] for one in run.profile["heatline"]["processes"])
    assert 150e6 / MB < large < 150e6 / MB + 40
    assert 20e6 / MB < small < 20e6 / MB + 40
    assert 150e6 / MB < child < 150e6 / MB + 40
    assert run.profile["heatline"]["memory"]["peak_rss_mb"] > 150e6 / MB


def test_what_found_no_room_is_told(profiled):
    """Where its place is not come back to, so that no later sample stands for it."""

    def allocated(run: ProfiledRun) -> float:
        warnings = "\n".join(run.profile["heatline"]["quality"]["warnings"])
        told = re.search(r"([\d.]+) % of what was allocated could not be noted", warnings)
        share = float(told.group(1)) / 100 if told else 0
        return run.profile["heatline"]["memory"]["allocated_mb"] / (1 - share)

    run = profiled("flood.py", "--allocation-sampling-window", "256")
    assert allocated(run) == pytest.approx(allocated(profiled("flood.py")), rel=0.1)
    # The ends of allocations are told later, so no sample of the CPU is lost with them.
    lost = {one["reason"]: one["count"] for one in run.profile["heatline"]["quality"]["lost"]}
    assert lost.get("buffer full", 0) < 1000 * run.profile["elapsed_time_sec"]


def test_leaks_are_named(profiled):
    run = profiled("leaks.py")
    leaks = run.profile["files"][str(MEMORY / "leaks.py")]["leaks"]
    wanted = {str(numbers("leaks.py")[mark]) for mark in ("BODY", "OBJECT")}
    assert set(leaks) == wanted
    for leak in leaks.values():
        assert 0.95 <= leak["likelihood"] <= 1 and leak["velocity_mb_s"] > 0
    # What to change is told in the order of what it is worth.
    advice = [str(one["line"]) for one in run.profile["heatline"]["advice"] if one["rule"] == "leak"]
    assert advice == sorted(wanted, key=lambda line: -leaks[line]["velocity_mb_s"])


def test_a_leak_of_who_outlives_a_child(profiled):
    run = profiled("child.py")
    truth = json.loads(run.stdout)["bytes_per_s"] / MB
    leaks = run.profile["files"][str(MEMORY / "child.py")]["leaks"]
    assert list(leaks) == [str(numbers("child.py")["LEAK"])]
    (leak,) = leaks.values()
    assert leak["velocity_mb_s"] == pytest.approx(truth, rel=0.2)


def test_a_leak_of_a_server_that_nobody_asks_any_more(profiled):
    """What it does is its time, not what it waits; and what it has built at first is no leak."""
    run = profiled("serves.py")
    leaks = run.profile["files"][str(MEMORY / "serves.py")]["leaks"]
    assert list(leaks) == [str(numbers("serves.py")["LEAK"])]


def test_a_leak_among_temporaries(profiled):
    """A line that keeps little of much is found, one that keeps nothing of as much is not."""
    run = profiled("parses.py")
    leaks = run.profile["files"][str(MEMORY / "parses.py")]["leaks"]
    assert set(leaks) == {str(numbers("parses.py")["KEEPS"])}
    kept = line_of(run, "parses.py", "KEEPS")
    assert kept["n_kept_mb"] == pytest.approx(int(run.stdout) / MB, rel=0.4)
    assert kept["n_malloc_mb"] > 20 * kept["n_kept_mb"]


def test_nothing_is_accused(profiled):
    run = profiled("freed.py")
    assert run.profile["files"][str(MEMORY / "freed.py")]["leaks"] == {}
    assert line_of(run, "freed.py", "WAVE")["n_kept_mb"] < 0.5
    produce = line_of(run, "freed.py", "PRODUCE")
    assert produce["n_kept_mb"] == pytest.approx(60 * 60_000 / MB, rel=0.1)


def test_table_of_a_short_program(python):
    """Growth that is over is not taken to go on because a program is short."""
    for _ in range(5):
        run = python.heatline_run(MEMORY / "loads.py", (), ())
        assert run.profile["files"][str(MEMORY / "loads.py")]["leaks"] == {}


def test_leak_detector_can_be_off(profiled):
    run = profiled("leaks.py", "--no-memory-leak-detector")
    assert run.profile["files"][str(MEMORY / "leaks.py")]["leaks"] == {}


def test_cpu_only(profiled):
    profile = profiled("freed.py", "--cpu-only").profile
    assert profile["memory"] is False and "memory" not in profile["heatline"]
    for line in profile["files"][str(MEMORY / "freed.py")]["lines"]:
        assert line["n_malloc_mb"] == 0 and "n_kept_mb" not in line


def test_a_library_that_switches_c_stacks(python_build, program, tmp_path):
    """As greenlet does: while it copies, Python's thread state leads to what the stack held before."""
    library = tmp_path / "libswitch.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, SWITCH], check=True)
    script = program(f"""\
        import ctypes
        library = ctypes.PyDLL({str(library)!r})
        callback = ctypes.CFUNCTYPE(None)
        for _ in range(3):
            library.call_below(callback(lambda: library.switch_over()))
        print("done")
        """)
    done = python_build.heatline_run(script)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.describe()
