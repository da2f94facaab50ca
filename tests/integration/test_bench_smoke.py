"""The benchmarks still run: one program, one round, and the tables they print make sense."""

import re
import subprocess
import sys

import pytest

from support.paths import REPO, heatline_executable
from support.runs import clean_environment


def run_bench(script, *arguments):
    done = subprocess.run(
        [sys.executable, REPO / "bench" / script, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment({"HEATLINE": str(heatline_executable())}),
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def cells(output, first):
    """The cells of the first table row that begins with this one."""
    for line in output.splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")]
        if row[0] == first:
            return row[1:]
    raise AssertionError(f"no row {first!r} in\n{output}")


@pytest.mark.parametrize("way", [(), ("--pairs",)], ids=["alone", "pairs"])
def test_overhead_prints_a_table(any_python, way):
    options = ("--quick", "--programs", "calls", "--tools", "heatline", "--python", any_python.executable)
    output = run_bench("overhead/run.py", *options, *way)
    plain_s, ratio = cells(output, "calls")
    assert 0 < float(plain_s) < 60
    assert 0.3 < float(ratio) < 10
    assert re.fullmatch(r"\*\*\d\.\d+\*\*", cells(output, "**worst**")[-1])
    assert "changed the output" not in output
    assert re.match(r"-?\d+ \(", cells(output, "heatline")[0])


def test_accuracy_prints_a_table(any_python):
    version = "%d.%d" % any_python.version
    output = run_bench(
        "accuracy/run.py", "--tools", "heatline", "--cases", "executed", "--seconds", "1", "--pythons", version
    )
    share, split = cells(output, "executed")[:2]
    assert 0 <= float(share) < 25
    assert 0 <= float(split) < 50


def test_attach_prints_a_table(any_python):
    output = run_bench(
        "attach/run.py", "--tools", "heatline", "--seconds", "1", "--python", any_python.executable
    )
    impossible, lost, slow_down, error, cost, dump_ms = cells(output, "heatline")
    assert float(impossible) < 1 and float(lost) < 10 and float(error.split()[0]) < 40
    assert slow_down == "-" or float(slow_down.split()[0]) < 100  # a second may be too short to tell
    assert all(0 < float(each) < 500 for each in cost.split("/")) and 0 < float(dump_ms) < 2000
    for row in ("with perf events", "without"):
        error, made_of = cells(output, row)
        assert 0 <= float(error) <= 100 and made_of.startswith("looks from outside")
