"""heatline attach: the tasks of an event loop that already runs, from outside."""

import json
import re
from pathlib import Path

import pytest

from support.packages import trio_environment
from support.paths import PROGRAMS
from support.targets import Target, heatline

pytestmark = pytest.mark.measures

ENDLESS = PROGRAMS / "trio" / "endless.py"
MANY = PROGRAMS / "async" / "endless_many.py"
LIBRARY = PROGRAMS / "async" / "library_tasks.py"
SLOWLY = ("--rate", 200)


@pytest.fixture
def attached(tmp_path):
    """attached(python, script, *args): its profile after a while, while it runs on."""
    made = []

    def attach(python, script, *args, options=(), seconds=1.2, env=None):
        outfile = tmp_path / "attached.json"
        made.append(Target(python, script, *args, env=env))
        done = heatline("attach", "-d", seconds, "-o", outfile, *options, made[-1].pid)
        assert done.returncode == 0, done.stderr
        return json.loads(outfile.read_text(encoding="utf-8"))

    yield attach
    for one in made:
        one.end()


def line_of(profile: dict, script: Path, mark: str) -> dict:
    """The line that ends with this mark."""
    for number, line in enumerate(script.read_text().splitlines(), 1):
        if re.search(rf"# {mark}$", line):
            lines = profile["files"][str(script)]["lines"]
            return next(one for one in lines if one["lineno"] == number)
    raise AssertionError(f"{script.name} has no line marked {mark}")


def check_waits(profile: dict, suffix: str = "") -> None:
    long, short, everyone = (line_of(profile, ENDLESS, mark) for mark in ("LONG", "SHORT", "ALL" + suffix))
    # The same looks tell of all of them.
    assert long["await_s"] / everyone["await_s"] == pytest.approx(3, rel=0.1)
    assert short["await_s"] / everyone["await_s"] == pytest.approx(1, rel=0.15)
    assert sorted(long["async_task_names"]) == ["long-0", "long-1", "long-2"]
    assert short["async_task_names"] == ["short"]
    assert long["n_async_concurrency_peak"] == 3
    assert long["is_coroutine"] is True
    # The loop's own waiting is theirs in equal parts, and stands on the lines that led there.
    assert long["n_wait_percent"] > 0
    assert long["n_wait_percent"] / everyone["n_wait_percent"] == pytest.approx(3, rel=0.1)
    outer, root = (line_of(profile, ENDLESS, mark) for mark in ("OUTER", "RUN" + suffix))
    assert outer["n_inclusive_percent"] >= 0.98 * long["n_wait_percent"]
    assert root["n_inclusive_percent"] >= 0.98 * (long["n_wait_percent"] + everyone["n_wait_percent"])
    assert root["n_wait_percent"] <= 0.2 * long["n_wait_percent"]


def check_blocking(profile: dict) -> None:
    (step,) = profile["heatline"]["async"]["blocking"]
    assert step["line"] == line_of(profile, ENDLESS, "BLOCKS")["lineno"]
    assert step["longest_s"] >= 0.15
    assert any("blocks the event loop" in text for text in profile["heatline"]["quality"]["warnings"])


def test_asyncio(python, attached):
    """Waits, names, concurrency, and a step that blocks."""
    profile = attached(python, ENDLESS)
    assert profile["async_profile"] is True
    check_waits(profile)
    check_blocking(profile)


def test_trio(oldest_or_newest, attached):
    env = trio_environment(oldest_or_newest)
    profile = attached(oldest_or_newest, ENDLESS, "trio", options=SLOWLY, env=env)
    check_waits(profile, "-TRIO")
    check_blocking(profile)


def test_tasks_of_a_library_leave_the_time_to_the_await(python, attached):
    profile = attached(python, LIBRARY, "endless")
    line, root = (line_of(profile, LIBRARY, mark) for mark in ("ENDLESS", "RUN-ENDLESS"))
    assert line["n_wait_percent"] > 85
    assert root["n_wait_percent"] < 15
    assert profile["heatline"]["async"]["await_s"] == pytest.approx(10 * line["await_s"], rel=0.05)


def test_a_loop_that_hangs(newest_python, program, attached):
    """One that is in the same step from before we came until after we have gone."""
    script = program(
        """
        import asyncio, time

        async def main():
            print("ready")
            time.sleep(1000)  # HANGS

        asyncio.run(main())
        """
    )
    (step,) = attached(newest_python, script, options=SLOWLY)["heatline"]["async"]["blocking"]
    assert step["line"] == 6 and step["function"] == "main"
    assert step["longest_s"] >= 0.8


def test_fifty_thousand_tasks(oldest_or_newest, attached):
    """Some stand for all, and what it costs does not grow with them."""
    profile = attached(oldest_or_newest, MANY, options=SLOWLY, seconds=2)
    often, seldom = line_of(profile, MANY, "OFTEN"), line_of(profile, MANY, "SELDOM")
    together = often["n_async_concurrency_mean"] + seldom["n_async_concurrency_mean"]
    assert together == pytest.approx(50000, rel=0.35)
    # Some 32 tasks at each of a few looks: chance alone moves the ratio by a quarter.
    assert 2 < often["await_s"] / seldom["await_s"] < 8
    assert profile["heatline"]["quality"]["overhead_percent"] <= 8
