"""``pytest --heatline``: a profile of each test and of all of them.

Loaded by pytest through its entry point, so everything that costs is in ``_Recorder``, which exists only
with ``--heatline``.  Under pytest-xdist the workers profile their tests and write the files; what the
process that started them shows comes with the tests' reports.

A test is profiled while its function runs; fixtures are not part of it."""

import hashlib
import os
import re
import tempfile
import time
from typing import Any, Dict, Iterator, List, Optional

import pytest

FOLDER = "heatline-tests"
MERGED_AT_ONCE = 200  # profiles in one call of the command


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("heatline", "time and memory by line (heatline)")
    group.addoption("--heatline", action="store_true", help="Profile each test; show the slowest lines at the end.")
    group.addoption(
        "--heatline-dir",
        metavar="FOLDER",
        default=FOLDER,
        help="Where the profiles go: one a test, and run.json (default: %s)." % FOLDER,
    )
    group.addoption(
        "--heatline-top", metavar="N", type=int, default=10, help="How many lines to show at the end (default: 10)."
    )
    group.addoption("--heatline-cpu-only", action="store_true", help="Time only, no memory.")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line(
        "markers",
        "heatline(max_time=None, max_memory=None): with --heatline, fail the test when its function takes more"
        " than max_time seconds, or has more than max_memory MB of its own live at once.",
    )
    if config.getoption("--heatline") and not config.getoption("--collect-only"):
        config.pluginmanager.register(_Recorder(config), "heatline-recorder")


class _Recorder:
    """Profiles the tests of this process; in the process that reports, gathers what was measured."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.folder = os.path.join(str(config.invocation_params.dir), config.getoption("--heatline-dir"))
        self.is_worker = hasattr(config, "workerinput")
        self.written: Dict[str, str] = {}  # test to the path of its profile, in the order of the reports
        self.refused = ""  # why nothing can be profiled here
        self.paths: Dict[str, str] = {}  # of the test that has just run
        os.makedirs(self.folder, exist_ok=True)

    def pytest_collection_modifyitems(self, items: List[Any]) -> None:
        for item in items:
            _Limits(item)  # a mistake in a marker is told before anything runs

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        limits = _Limits(item)
        if not self._start():
            yield
            return
        began = time.perf_counter()
        outcome: Any = yield
        took_s = time.perf_counter() - began
        profile = self._stop()
        if profile is None:
            return
        path = os.path.join(self.folder, file_name(item.nodeid))
        profile.save(path)
        self.paths[item.nodeid] = path
        complaint = limits.complaint(took_s, profile)
        if complaint and outcome.excinfo is None:
            _fail(outcome, complaint)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        outcome: Any = yield
        if call.when == "call":
            report = outcome.get_result()
            report.heatline_path = self.paths.pop(item.nodeid, "")
            report.heatline_refused = self.refused

    def pytest_runtest_logreport(self, report: Any) -> None:
        path = getattr(report, "heatline_path", "")
        if path:
            self.written[report.nodeid] = path
        self.refused = self.refused or getattr(report, "heatline_refused", "")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.is_worker or not (self.written or self.refused):
            return
        tests = "%d test%s" % (len(self.written), "" if len(self.written) == 1 else "s")
        terminalreporter.section("heatline: the slowest lines of %s" % tests)
        if self.refused:
            terminalreporter.write_line("Tests were not profiled: %s" % self.refused)
        if self.written:
            self._show_all(terminalreporter)

    def _show_all(self, terminalreporter: Any) -> None:
        from heatline.results import Profile

        whole = os.path.join(self.folder, "run.json")
        merge(list(self.written.values()), whole)
        terminalreporter.write_line(Profile(whole).summary(self.config.getoption("--heatline-top")))
        shown = os.path.relpath(self.folder)
        terminalreporter.write_line(
            "A profile of each test is in %s; all together: heatline view %s" % (shown, os.path.join(shown, "run.json"))
        )

    def _start(self) -> bool:
        import heatline

        if self.refused:
            return False
        if heatline.enabled():
            self.refused = "heatline profiles this pytest already; leave out one of the two"
            return False
        try:
            heatline.start(
                cpu_only=self.config.getoption("--heatline-cpu-only"), program_path=self.config.rootpath
            )
        except (OSError, RuntimeError) as error:
            self.refused = str(error)
            return False
        return True

    def _stop(self) -> Optional[Any]:
        """The profile; None when the test itself has stopped the profiler."""
        import heatline

        try:
            return heatline.stop()
        except RuntimeError:
            return None


class _Limits:
    """What the marker of a test allows."""

    def __init__(self, item: Any) -> None:
        self.max_time: Optional[float] = None
        self.max_memory: Optional[float] = None
        for marker in reversed(list(item.iter_markers("heatline"))):  # the nearest comes last and holds
            unknown = [*map(repr, marker.args), *(set(marker.kwargs) - {"max_time", "max_memory"})]
            if unknown:
                raise pytest.UsageError(
                    "%s: the marker heatline takes max_time=seconds and max_memory=MB, not %s"
                    % (item.nodeid, unknown[0])
                )
            self.max_time = _positive(item, marker.kwargs, "max_time", self.max_time)
            self.max_memory = _positive(item, marker.kwargs, "max_memory", self.max_memory)

    def complaint(self, took_s: float, profile: Any) -> str:
        """What the test took too much of, with the lines that did; empty: nothing."""
        from heatline import _show

        found: List[str] = []
        if self.max_time is not None and took_s > self.max_time:
            found.append("It took %s; max_time is %s." % (_show.seconds(took_s), _show.seconds(self.max_time)))
        if self.max_memory is not None and profile.peak_mb > self.max_memory:
            found.append(
                "It had %s live at once; max_memory is %s."
                % (_show.megabytes(profile.peak_mb), _show.megabytes(self.max_memory))
            )
        return "\n".join([*found, profile.summary(5)]) if found else ""


def _positive(item: Any, values: Dict[str, Any], key: str, otherwise: Optional[float]) -> Optional[float]:
    value = values.get(key, otherwise)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise pytest.UsageError(
            "%s: %s of the marker heatline is a positive number, not %r" % (item.nodeid, key, value)
        )
    return float(value)


def _fail(outcome: Any, message: str) -> None:
    """Make this the outcome of the test."""
    try:
        pytest.fail(message, pytrace=False)
    except BaseException as failure:
        if not hasattr(outcome, "force_exception"):  # pluggy before 1.1
            raise
        outcome.force_exception(failure)


def file_name(nodeid: str) -> str:
    """A file name for a test that nobody else's test has: what a name may not hold is replaced, and a hash
    tells apart what would look the same then."""
    plain = re.sub(r"[^\w.]+", "-", nodeid.replace("::", "-").replace("/", "-"), flags=re.ASCII).strip("-.")
    if plain != nodeid.replace("::", "-").replace("/", "-") or len(plain) > 150 or plain == "run":
        plain = "%s-%s" % (plain[:150], hashlib.sha1(nodeid.encode("utf-8", "replace")).hexdigest()[:8])
    return plain + ".json"


def merge(paths: List[str], whole: str) -> None:
    """All these profiles as one; in portions, since a command line has an end."""
    from heatline.results import run

    with tempfile.TemporaryDirectory(prefix="heatline-") as folder:
        sofar = os.path.join(folder, "sofar.json")
        for start in range(0, len(paths), MERGED_AT_ONCE):
            earlier = [sofar] if start else []
            run("merge", *earlier, *paths[start : start + MERGED_AT_ONCE], "-o", sofar)
        run("merge", sofar, "-o", whole)
