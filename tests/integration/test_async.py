"""Tasks that wait: time, names and concurrency by line, on every Python."""

import json
import re
import sys
from pathlib import Path

import pytest

from support.again import Kept
from support.packages import trio_environment
from support.paths import PROGRAMS
from support.pythons import Python
from support.runs import ProfiledRun
from support.runs import run as execute

pytestmark = pytest.mark.measures

ASYNC = PROGRAMS / "async"
TRIO = PROGRAMS / "trio"
TIME_KEYS = ("n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent")


@pytest.fixture(scope="session")
def profiled(python):
    """profiled("name.py", options…): the finished run, made once for each Python."""
    runs = Kept()

    def run(name: str, *options: str) -> ProfiledRun:
        done = runs.get(
            (name, options),
            lambda: python.heatline_run(ASYNC / name, (), ["--cpu-only", *options]),
        )
        assert done.returncode == 0, done
        return done

    return run


def number_of(name: str, mark: str, folder: Path = ASYNC) -> int:
    """The number of the line that ends with this mark."""
    for number, line in enumerate((folder / name).read_text().splitlines(), 1):
        if re.search(rf"# {mark}$", line):
            return number
    raise AssertionError(f"{name} has no line marked {mark}")


def line_of(run: ProfiledRun, name: str, mark: str, folder: Path = ASYNC) -> dict:
    return run.lines_of(folder / name)[number_of(name, mark, folder)]


def percent(line: dict) -> float:
    return sum(line[key] for key in TIME_KEYS)


def function_of(run: ProfiledRun, name: str, function: str) -> dict:
    functions = run.profile["files"][str(ASYNC / name)]["functions"]
    return next(record for record in functions if record["line"].split(".")[-1] == function)


def test_waits_are_on_their_lines(profiled):
    run = profiled("gather.py")
    assert run.profile["async_profile"] is True
    short, long, everyone = (line_of(run, "gather.py", mark) for mark in ("SHORT", "LONG", "ALL"))
    assert long["await_s"] / everyone["await_s"] == pytest.approx(3, rel=0.15)
    short_s, long_s = json.loads(run.stdout)  # as it was: on a busy machine many short waits grow most
    assert short["await_s"] / everyone["await_s"] == pytest.approx(short_s / long_s, rel=0.3)
    shares = [line["n_async_await_percent"] for line in (short, long, everyone)]
    assert sum(shares) == pytest.approx(100, abs=1)
    assert run.profile["heatline"]["async"]["await_s"] == pytest.approx(
        sum(line["await_s"] for line in (short, long, everyone)), rel=0.01
    )


def test_the_loops_idle_time_is_on_the_awaits(profiled):
    """Each waiting task has an equal part; together with the rest it is all of the time."""
    run = profiled("gather.py")
    short, long, everyone = (line_of(run, "gather.py", mark) for mark in ("SHORT", "LONG", "ALL"))
    waited_s = sum(line["wait_s"] for line in (short, long, everyone))
    assert waited_s >= 0.9
    assert waited_s >= 0.9 * run.profile["heatline"]["time"]["wait_s"]
    assert percent(line_of(run, "gather.py", "RUN")) <= 15
    assert long["n_wait_percent"] / everyone["n_wait_percent"] == pytest.approx(3, rel=0.15)
    lines = [line for file in run.profile["files"].values() for line in file["lines"]]
    time = run.profile["heatline"]["time"]
    outside = 100 * time["outside_s"] / time["total_s"]
    assert sum(map(percent, lines)) + outside == pytest.approx(100, abs=0.5)


def test_stacks_stand_on_the_loop(profiled):
    """asyncio.run(...) and every await on the way have the time as inclusive time."""
    run = profiled("gather.py")
    outer, long = line_of(run, "gather.py", "OUTER"), line_of(run, "gather.py", "LONG")
    assert outer["n_inclusive_percent"] >= 0.98 * percent(long)
    everyone = line_of(run, "gather.py", "ALL")
    root = line_of(run, "gather.py", "RUN")
    assert root["n_inclusive_percent"] >= 0.98 * (percent(long) + percent(everyone))
    assert percent(outer) <= 5


def test_a_comprehension_that_awaits_is_part_of_its_function(oldest_or_newest, program):
    """Up to Python 3.11 it is a coroutine of its own."""
    script = program("""
        import asyncio

        async def main():
            numbers = [i async for i in count()]
            return [await asyncio.sleep(0.02) for i in numbers]

        async def count():
            for i in range(10):
                await asyncio.sleep(0.02)
                yield i

        asyncio.run(main())
        """)
    run = oldest_or_newest.heatline_run(script, options=["--cpu-only"])
    functions = {f["line"]: f for f in run.profile["files"][str(script)]["functions"]}
    assert set(functions) <= {"main", "count", "<module>"}
    assert all(functions[name]["is_coroutine"] for name in ("main", "count"))
    assert all(functions[name]["await_s"] > 0 for name in ("main", "count"))


def test_names_and_concurrency(profiled):
    run = profiled("gather.py")
    short, long = line_of(run, "gather.py", "SHORT"), line_of(run, "gather.py", "LONG")
    assert sorted(long["async_task_names"]) == ["long-0", "long-1", "long-2"]
    assert short["async_task_names"] == ["short"]
    assert line_of(run, "gather.py", "ALL")["async_task_names"] == ["Task-1"]
    assert long["n_async_concurrency_peak"] == 3
    assert long["n_async_concurrency_mean"] == pytest.approx(3, abs=0.2)
    assert short["n_async_concurrency_peak"] == 1


def test_functions_have_the_figures_too(profiled):
    run = profiled("gather.py")
    nap = function_of(run, "gather.py", "nap")
    assert nap["await_s"] == line_of(run, "gather.py", "LONG")["await_s"]
    assert nap["is_coroutine"] is True
    assert line_of(run, "gather.py", "LONG")["is_coroutine"] is True
    assert "is_coroutine" not in line_of(run, "gather.py", "RUN")


def test_queue_consumers(profiled):
    """A wait in the standard library is on the line of the program's own that led there."""
    run = profiled("queue.py")
    get, produce = line_of(run, "queue.py", "GET"), line_of(run, "queue.py", "PRODUCE")
    assert get["n_async_concurrency_peak"] == 10
    assert get["await_s"] / produce["await_s"] == pytest.approx(10, rel=0.2)


def test_tasks_of_a_library_leave_the_time_to_the_await(profiled):
    """They have no line of the program's; the loop waits for the line that awaits them."""
    name = "library_tasks.py"
    run = profiled(name)
    truth = {"GATHER": 0.8, "TIMEOUT": 0.4, "AWAIT": 0.4, "MANY": 1.2}
    for mark, seconds in truth.items():
        # Tasks are read up to a quarter of a second late where there are many.
        late_s = 0.35 if mark == "MANY" else 0.2
        assert line_of(run, name, mark)["wait_s"] == pytest.approx(seconds, abs=late_s), mark
    # What was waited before the tasks were read.
    assert line_of(run, name, "RUN")["wait_s"] < 0.35
    # Where no task has a line of the program's, it is the loop that waits.
    assert line_of(run, name, "ALONE")["wait_s"] == pytest.approx(0.6, abs=0.2)
    # Task-seconds are of all tasks, wherever they wait.
    assert run.profile["heatline"]["async"]["await_s"] > 50


def test_tasks_of_a_library_in_scope(newest_python):
    """Where the library is in scope, its lines are where they wait."""
    run = newest_python.heatline_run(ASYNC / "library_tasks.py", (), ["--cpu-only", "--profile-all"])
    assert run.returncode == 0, run
    assert line_of(run, "library_tasks.py", "GATHER")["wait_s"] < 0.25
    (tasks,) = [file for name, file in run.profile["files"].items() if name.endswith("/asyncio/tasks.py")]
    assert sum(line.get("wait_s", 0) for line in tasks["lines"]) > 1.5


def test_generators_and_streams(profiled):
    run = profiled("stream.py")
    tick, read = line_of(run, "stream.py", "TICK"), line_of(run, "stream.py", "READ")
    assert 0.5 < tick["await_s"] / read["await_s"] < 2  # on a busy machine an answer takes longer
    assert line_of(run, "stream.py", "ITERATE").get("await_s", 0) == 0
    assert percent(tick) > 1
    assert line_of(run, "stream.py", "ITERATE")["n_inclusive_percent"] >= 0.98 * percent(tick)


def test_loops_of_two_threads(profiled):
    """The other thread's loop has its tasks; its idle time is no part of the total."""
    run = profiled("threads.py")
    elsewhere = line_of(run, "threads.py", "ELSEWHERE")
    assert elsewhere["n_async_concurrency_peak"] == 1
    assert elsewhere["idle_s"] == pytest.approx(elsewhere["await_s"], rel=0.3)
    assert elsewhere["n_wait_percent"] == 0


def test_steps_that_block_the_loop(profiled):
    run = profiled("blocking.py")
    sleeps, computes, fair = (number_of("blocking.py", m) for m in ("SLEEPS", "COMPUTES", "FAIR"))
    steps = {step["line"]: step for step in run.profile["heatline"]["async"]["blocking"]}
    assert steps[sleeps]["function"].endswith("sleeps")
    assert steps[sleeps]["count"] == 1
    assert 0.7 <= steps[sleeps]["longest_s"] <= 1.6
    assert steps[computes]["longest_s"] >= 0.25
    # Many short steps are none that blocks, however long they take together.
    assert steps.get(fair, {"total_s": 0})["total_s"] < steps[computes]["longest_s"]
    assert any("blocks the event loop" in text for text in run.profile["heatline"]["quality"]["warnings"])


def test_a_step_that_blocks_is_told_in_one_form(profiled, heatline):
    """In the warning, in the section and in the advice."""
    run = profiled("blocking.py")
    text = " ".join(
        execute([heatline, "view", "--cli", run.profile_path], check=True).stdout.split()
    )
    place = f"blocking.py:{number_of('blocking.py', 'SLEEPS')}"
    told = re.findall(
        rf"{place} \(sleeps\) blocks the event loop for ([\d.]+ m?s)"
        rf"|{place} sleeps blocks the event loop for ([\d.]+ m?s)"
        r"|The event loop stood still here once, for ([\d.]+ m?s)",
        text,
    )
    assert len(told) == 3 and len({"".join(one) for one in told}) == 1, text


def test_waiting_for_a_cpu_is_no_blocking(newest_python):
    run = newest_python.heatline_run(ASYNC / "crowded.py", (), ["--cpu-only", "--no-children"])
    assert run.returncode == 0, run
    short, sleeps = (number_of("crowded.py", mark) for mark in ("SHORT", "SLEEPS"))
    steps = {step["line"]: step for step in run.profile["heatline"]["async"]["blocking"]}
    assert sleeps in steps
    assert short not in steps


def test_no_async(profiled):
    run = profiled("gather.py", "--no-async")
    assert run.profile["async_profile"] is False
    assert "async" not in run.profile["heatline"]
    assert not any("await_s" in line for line in run.lines_of(ASYNC / "gather.py").values())
    assert line_of(run, "gather.py", "RUN")["wait_s"] >= 0.9


def test_fifty_thousand_tasks(profiled):
    """Some of them stand for all, at a cost that does not grow with their number."""
    run = profiled("many.py")
    often, seldom = line_of(run, "many.py", "OFTEN"), line_of(run, "many.py", "SELDOM")
    # Some 32 tasks at each of some ten looks: chance alone moves the ratio by a quarter.
    assert 2 < often["await_s"] / seldom["await_s"] < 8
    together = often["n_async_concurrency_mean"] + seldom["n_async_concurrency_mean"]
    assert together == pytest.approx(float(run.stdout), rel=0.35)
    time = run.profile["heatline"]["time"]
    quality = run.profile["heatline"]["quality"]
    overhead_s = (quality["overhead_percent"] + quality["collector_percent"]) / 100 * time["cpu_s"]
    assert overhead_s / time["elapsed_s"] <= 0.06


def check_waits(run: ProfiledRun, name: str, folder: Path = ASYNC) -> None:
    """The waits of gather.py, whatever runs its tasks."""
    assert run.returncode == 0, run
    short, long, everyone = (line_of(run, name, mark, folder) for mark in ("SHORT", "LONG", "ALL"))
    assert long["await_s"] / everyone["await_s"] == pytest.approx(3, rel=0.15)
    assert long["n_wait_percent"] / everyone["n_wait_percent"] == pytest.approx(3, rel=0.15)
    assert sorted(long["async_task_names"]) == ["long-0", "long-1", "long-2"]
    assert long["n_async_concurrency_peak"] == 3
    assert short["async_task_names"] == ["short"]
    outer, root = (line_of(run, name, mark, folder) for mark in ("OUTER", "RUN"))
    assert outer["n_inclusive_percent"] >= 0.98 * percent(long)
    assert root["n_inclusive_percent"] >= 0.98 * (percent(long) + percent(everyone))
    # What was waited before the tasks were first read: a round's pause, a longer one on a busy machine.
    assert root["n_wait_percent"] <= 15


def test_uvloop():
    """A loop in C: the same tasks, the same lines.  (On the Python that the tests run on.)"""
    pytest.importorskip("uvloop")
    python = Python(sys.version_info[:2], sys.executable)
    check_waits(python.heatline_run(ASYNC / "gather.py", ["uvloop"], ["--cpu-only"]), "gather.py")


def test_tasks_written_in_python(oldest_or_newest):
    run = oldest_or_newest.heatline_run(ASYNC / "gather.py", ["python"], ["--cpu-only"])
    check_waits(run, "gather.py")


def test_trio(oldest_or_newest):
    """Waits, names and stacks; a step that blocks; and none of trio's own tasks."""
    python = oldest_or_newest
    run = python.heatline_run(TRIO / "gather.py", (), ["--cpu-only"], env=trio_environment(python))
    check_waits(run, "gather.py", TRIO)
    lines = run.lines_of(TRIO / "gather.py").values()
    assert run.profile["heatline"]["async"]["await_s"] == pytest.approx(
        sum(line.get("await_s", 0) for line in lines), rel=0.02
    )
    steps = run.profile["heatline"]["async"]["blocking"]
    assert [step["line"] for step in steps] == [number_of("gather.py", "BLOCKS", TRIO)]
    assert 0.25 <= steps[0]["longest_s"] <= 1


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_anyio(newest_python, loop):
    environment = trio_environment(newest_python)
    run = newest_python.heatline_run(TRIO / "any_gather.py", [loop], ["--cpu-only"], env=environment)
    check_waits(run, "any_gather.py", TRIO)


def test_nothing_blocks_a_loop_that_has_ended(python, program):
    """Before 3.13 the thread still has something where its loop was, and so have its forks."""
    script = program("""\
        import asyncio, os, time

        async def main():
            await asyncio.sleep(0.05)

        def work():
            time.sleep(0.5)

        asyncio.run(main())
        pid = os.fork()
        work()
        if pid:
            os.waitpid(pid, 0)
        """)
    done = python.heatline_run(script)
    assert done.returncode == 0, done.describe()
    assert "blocks the event loop" not in done.stderr
    assert not done.profile["heatline"].get("async", {}).get("blocking")
