"""Measurements that are taken again (support/again.py): spoiled ones pass, wrong ones do not."""

import subprocess
import sys

from support.paths import REPO
from support.runs import clean_environment

SOURCE = """
import pytest
from subprocess import CompletedProcess
from support.again import Kept
from support.runs import ProfiledRun

pytestmark = pytest.mark.measures
runs, made = Kept(), []

def test_spoiled_twice():
    assert runs.get("one", lambda: made.append(1) or len(made)) == 3

def test_wrong():
    assert 1 == 2

def test_crash():
    made.append("crash")
    done = ProfiledRun(CompletedProcess(["heatline"], -11, "", ""), None)
    assert done.returncode == 0, done

@pytest.mark.measures(False)
def test_other():
    made.append("other")
    assert made.count("crash") == made.count("other") == 1
    assert made.count("crash") == 0, "fails once only"
"""


def test_again(tmp_path):
    (tmp_path / "test_it.py").write_text(SOURCE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider",
               "-c", REPO / "tests" / "pytest.ini", tmp_path]
    done = subprocess.run(
        command, env=clean_environment({"PYTHONPATH": str(REPO / "tests")}), capture_output=True, text=True
    )
    assert "3 failed, 1 passed" in done.stdout, done.stdout
    told = done.stdout.partition("= measured again =")[2].partition("short test summary")[0]
    lines = [line.partition("::")[2] for line in told.splitlines() if "::" in line]
    names = [line.partition(":")[0] for line in lines]
    assert names == ["test_spoiled_twice", "test_spoiled_twice", "test_wrong"], told
    assert [line[-6:] for line in lines] == ["1 == 3", "2 == 3", "1 == 2"], told
    assert "fails once only" in done.stdout
