"""Fixtures for every test: the Pythons of this machine, and programs to run.

    def test_it(python, program):
        script = program("print('hello')")
        result = python.heatline_run(script, options=["--cpu-only"])
        assert result.stdout == "hello\\n"
        assert result.profile["files"]
"""

import fcntl
import os
import re
import signal
import textwrap
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from support import again
from support.paths import PROGRAMS, REPO, heatline_executable
from support.pythons import Python, all_builds, all_pythons, missing_versions
from support.running import Running
from support.targets import Target


def _hear_signals() -> None:
    """A job in the background, or under nohup, is started deaf to these, and hands that on."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


_hear_signals()
os.environ.pop("COLUMNS", None)  # xdist tells its workers a width, which the reports would follow


def _build_id(python: Python) -> str:
    where = "sid" if python.is_in_sid else Path(python.executable).parent.parent.name
    return f"{python.name}-{where}"


def _params(pythons: Any, name_of: Callable[[Python], str]) -> list:
    """Parameters for these interpreters, and a visible skip for each missing version."""
    found = [(p.version, pytest.param(p, id=name_of(p))) for p in pythons]
    for version in missing_versions():
        name = "py%d.%d" % version
        reason = f"no Python {name[2:]} on this machine (scripts/setup-pythons gets the newest)"
        found.append((version, pytest.param(None, id=name, marks=pytest.mark.skip(reason=reason))))
    return [param for _, param in sorted(found, key=lambda pair: pair[0])]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "python" in metafunc.fixturenames:
        metafunc.parametrize("python", _params(all_pythons(), lambda p: p.name), scope="session")
    if "python_build" in metafunc.fixturenames:
        metafunc.parametrize("python_build", _params(all_builds(), _build_id), scope="session")
    if "newest_python" in metafunc.fixturenames:  # named, so that it can be chosen by version
        newest = all_pythons()[-1]
        metafunc.parametrize("newest_python", [pytest.param(newest, id=newest.name)], scope="session")
    if "oldest_or_newest" in metafunc.fixturenames:  # where two versions show what all would
        ends = [all_pythons()[0], all_pythons()[-1]]
        metafunc.parametrize("oldest_or_newest", _params(ends, lambda p: p.name), scope="session")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker has all tests of a file on one Python: they share their runs."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFileAndPython(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            python = re.search(r"\[.*?(py3\.\d+)", test)
            return f"{file} {python[1] if python else ''}"

    return ByFileAndPython(config, log)


@pytest.fixture(scope="session")
def any_python() -> Python:
    """For tests that need one Python and no particular one: the newest that runs directly."""
    direct = [python for python in all_pythons() if not python.is_in_sid]
    return (direct or list(all_pythons()))[-1]


@pytest.fixture(scope="session")
def heatline() -> Path:
    """The heatline executable under test."""
    path = heatline_executable()
    if not os.access(path, os.X_OK):
        pytest.fail(f"{path} is not there: run make first, or set HEATLINE")
    return path


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Path]:
    """Write a program: program(source) or program(source, "name.py") gives its path."""

    def write(source: str, name: str = "program.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return write


def pytest_runtest_protocol(item: pytest.Item, nextitem: Any) -> Any:
    marker = item.get_closest_marker("measures")
    if marker is None or marker.args == (False,):
        return None
    again.run_protocol(item, nextitem)
    return True


def pytest_terminal_summary(terminalreporter: Any) -> None:
    again.summary(terminalreporter)


@pytest.fixture(autouse=True)
def _turn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """Under xdist, a test marked ``alone`` waits for the others and holds them off."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    kind = fcntl.LOCK_EX if request.node.get_closest_marker("alone") else fcntl.LOCK_SH
    shared = tmp_path_factory.getbasetemp().parent  # the workers' folders stand side by side
    with open(shared / "gate", "w") as gate, open(shared / "turn", "w") as turn:
        fcntl.flock(gate, fcntl.LOCK_EX)  # behind one that waits for the others nobody passes it
        fcntl.flock(turn, kind)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


def pytest_report_header() -> list:
    found = [f"{p.name[2:]} ({'sid' if p.is_in_sid else p.executable})" for p in all_pythons()]
    missing = ["%d.%d" % version for version in missing_versions()]
    lines = [f"heatline: {os.path.relpath(heatline_executable(), REPO)}"]
    lines.append(f"pythons: {', '.join(found) or 'none'}")
    if missing:
        lines.append(f"pythons not found: {', '.join(missing)}")
    return lines


@pytest.fixture
def begin(python, tmp_path):
    """begin("folder/script.py", *args, options=[...]): a run of a program under way."""
    runs = []

    def start(script, *args, options=()):
        runs.append(Running(python, [PROGRAMS / script, *args], tmp_path / "p.json", options))
        return runs[-1]

    yield start
    for run in runs:
        run.close()


@pytest.fixture
def target(python, program):
    """target(source, *args): a program that runs until the test is over; a path is one that exists."""
    made = []

    def make(source, *args):
        script = source if isinstance(source, Path) else program(source)
        made.append(Target(python, script, *args))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture
def steer(python):
    """steer("on", pid): one of heatline's commands, beside a run."""
    return lambda *words: python.run([heatline_executable(), *words])
