"""Allocating from many threads at full speed, with forks: no crash, no deadlock, no drift.

The program runs for HEATLINE_STRESS_SECONDS (3 by default; 60 for a full run:
``HEATLINE_STRESS_SECONDS=60 make test ARGS="-m stress"``).
"""

import os

import pytest

from support.paths import PROGRAMS

HEAP = PROGRAMS / "stress" / "heap.py"
SECONDS = float(os.environ.get("HEATLINE_STRESS_SECONDS", "3"))
THREADS = 32
QUIET = {"PYTHONWARNINGS": "ignore"}  # from 3.12 on: forks beside threads
WINDOWS = {"default": [], "every block": ["--allocation-sampling-window", "256"]}


@pytest.mark.stress
@pytest.mark.timeout(300 + 20 * SECONDS)
@pytest.mark.parametrize("options", WINDOWS.values(), ids=WINDOWS.keys())
def test_heap_storm(python, options):
    done = python.heatline_run(
        HEAP,
        [SECONDS, THREADS],
        ["--quiet", *options],
        env=QUIET,
        timeout=120 + 10 * SECONDS,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "all as it should be\n", ""), done
    memory = done.profile["heatline"]["memory"]
    lines = done.lines_of(HEAP).values()
    volume = sum(line["n_malloc_mb"] for line in lines)
    lost = {loss["reason"]: loss["count"] for loss in done.profile["heatline"]["quality"]["lost"]}
    assert volume > 50 * SECONDS
    is_short = [reason for reason in lost if "alloc" in reason or "buffer" in reason]
    if options and is_short:  # more samples than the buffer holds: what has ended may count on, and it is said
        return
    assert memory["peak_mb"] < 1000
    if options:
        return
    assert not is_short, lost
    # Nothing is left of thousands of megabytes but what imports and caches hold.
    children = len(done.profile["heatline"]["processes"]) - 1
    assert memory["kept_mb"] < 3 + 0.1 * children


def test_heap_storm_needs_no_profiler(python):
    """The program says the same by itself."""
    done = python.run_plain(HEAP, 0.5, THREADS, env=QUIET)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all as it should be\n", "")
