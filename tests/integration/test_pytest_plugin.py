"""pytest --heatline, in a pytest of its own."""

import json
import subprocess
import sys
import textwrap

import pytest

from support import package
from support.runs import run

TESTS = """
    import pytest

    def slow(n):
        total = 0
        for i in range(n):
            total += i * i % 7
        return total

    def test_one():
        slow(4_000_000)

    @pytest.mark.parametrize("word", ["plain", "a/b", "a-b", "ü" * 3, "x" * 300])
    def test_names(word):
        slow(300_000)

    class TestInside:
        def test_two(self):
            slow(300_000)
"""


@pytest.fixture
def project(tmp_path):
    """project(tests, *options): runs them with the plugin; the result has .folder."""

    def go(tests, *options, plugin=True):
        (tmp_path / "test_it.py").write_text(textwrap.dedent(tests), encoding="utf-8")
        load = ["-p", "heatline.pytest_plugin"] if plugin else []
        done = run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *load, *options],
            cwd=tmp_path,
            env={**package.environment(), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120"},
        )
        done.folder = tmp_path / "heatline-tests"
        return done

    return go


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def seconds(profile):
    return profile["heatline"]["time"]["total_s"]


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_profile_of_each_test_and_of_all(project, workers):
    done = project(TESTS, "--heatline", *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {path.name for path in done.folder.iterdir()}
    assert {"run.json", "test_it.py-test_one.json", "test_it.py-TestInside-test_two.json"} <= names
    assert len(names) == 8 and all(len(name) < 200 for name in names)
    one = read(done.folder / "test_it.py-test_one.json")
    lines = [line for file in one["files"].values() for line in file["lines"] if "python_s" in line]
    hot, head = (
        sum(line["python_s"] for line in lines if words in line["line"]) for words in ("total += i", "for i in")
    )
    assert hot > 0.25 * seconds(one) and hot + head > 0.5 * seconds(one)
    parts = [seconds(read(path)) for path in done.folder.iterdir() if path.name != "run.json"]
    assert seconds(read(done.folder / "run.json")) == pytest.approx(sum(parts), rel=0.01)
    assert "the slowest lines of 7 tests" in done.stdout and "total += i * i % 7" in done.stdout


def test_limit_of_time(project):
    done = project(
        """
        import pytest, time

        @pytest.mark.heatline(max_time=0.05)
        def test_too_slow():
            time.sleep(0.2)

        @pytest.mark.heatline(max_time=60, max_memory=500)
        def test_within():
            held = bytearray(50 << 20)

        @pytest.mark.heatline(max_time=0.05)
        def test_its_own_failure_comes_first():
            time.sleep(0.2)
            assert not "its own"

        @pytest.mark.heatline(max_time=0.05)
        class TestNearest:
            @pytest.mark.heatline(max_time=60)
            def test_holds(self):
                time.sleep(0.2)
        """,
        "--heatline",
        "--strict-markers",
        "-rA",
    )
    out = done.stdout
    assert done.returncode == 1, out + done.stderr
    passed = {line.split("::", 1)[1] for line in out.splitlines() if line.startswith("PASSED")}
    assert passed == {"test_within", "TestNearest::test_holds"}
    assert "max_time is 50 ms" in out and "time.sleep(0.2)" in out
    assert "FAILED test_it.py::test_its_own_failure_comes_first - " in out and "its own" in out


def test_limit_of_memory(project):
    done = project(
        """
        import pytest

        held = []

        @pytest.mark.heatline(max_memory=20)
        def test_too_large():
            held.append(bytearray(50 << 20))

        @pytest.mark.heatline(max_memory=20)
        def test_what_was_there_before_does_not_count():
            held[0][:1] = b"x"

        @pytest.mark.heatline(max_memory=90)
        def test_within():
            for i in range(4):
                once = bytearray(50 << 20)
                del once
        """,
        "--heatline",
    )
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "It had 50 MB live at once; max_memory is 20 MB." in done.stdout
    assert "held.append(bytearray(50 << 20))" in done.stdout


@pytest.mark.parametrize("marker", ["max_time='1s'", "max_time=0", "0.5", "max_tiem=1"])
def test_a_mistake_in_a_marker_is_told_before_anything_runs(project, marker):
    done = project(
        """
        import pytest
        @pytest.mark.heatline(%s)
        def test_it():
            print("ran")
        """ % marker,
        "--heatline",
        "-s",
    )
    assert done.returncode == 4 and "marker heatline" in done.stderr + done.stdout
    assert "ran\n" not in done.stdout


def test_however_a_test_ends(project):
    done = project(
        """
        import asyncio, os, pytest, sys, threading

        def slow(n):
            return sum(i * i % 7 for i in range(n))

        def test_fails(): slow(300_000); assert False
        def test_skips(): slow(300_000); pytest.skip("why")
        def test_exits(): slow(300_000); sys.exit(3)
        def test_awaits(): asyncio.run(asyncio.sleep(0.05))
        def test_threads():
            thread = threading.Thread(target=slow, args=(300_000,)); thread.start(); thread.join()
        def test_forks():
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        @pytest.mark.xfail
        def test_is_expected_to_fail(): 1 / 0
        def test_profiles_itself():
            import heatline
            with heatline.profiling(cpu_only=True) as p:
                slow(300_000)
            assert p.profile.total_s > 0
        """,
        "--heatline",
    )
    assert "2 failed, 4 passed, 1 skipped, 1 xfailed" in done.stdout, done.stdout + done.stderr
    assert len(list(done.folder.iterdir())) == 9


def test_options(project, tmp_path):
    done = project(TESTS, "--heatline", "--heatline-dir", "deep/er", "--heatline-top", "1", "--heatline-cpu-only",
                   "-k", "test_one")
    assert done.returncode == 0, done.stdout
    profile = read(tmp_path / "deep/er/run.json")
    assert profile["memory"] is False
    # One line, whichever of the loop's two was met more often.
    assert ("for i in range(n)" in done.stdout) != ("total += i * i % 7" in done.stdout)
    assert not done.folder.exists()


def test_off_by_default(project):
    """Not even imported: only the options are there."""
    done = project(
        """
        import pytest, sys
        @pytest.mark.heatline(max_time=0.000001)
        def test_it():
            assert not [name for name in sys.modules if name.startswith("heatline") and "plugin" not in name
                        and name != "heatline"]
        """,
        "--strict-markers",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.folder.exists() and "heatline:" not in done.stdout
    assert not project(TESTS, "--heatline", "--collect-only").folder.exists()


def test_under_heatline_run(project, tmp_path, heatline):
    """Two profilers at once would each tell half of the story."""
    (tmp_path / "test_it.py").write_text(textwrap.dedent(TESTS), encoding="utf-8")
    done = run(
        [heatline, "run", "--quiet", "-o", tmp_path / "p.json", "--python", sys.executable, "-m", "pytest",
         "-p", "no:cacheprovider", "-p", "heatline.pytest_plugin", "--heatline", "-k", "test_one"],
        cwd=tmp_path,
        env=package.environment(),
    )
    assert done.returncode == 0 and "profiles this pytest already" in done.stdout, done
    assert isinstance(done, subprocess.CompletedProcess)
