"""Measurements that are taken again.

What a test marked ``measures`` asserts is measured: shares of a second of CPU time, or sampled
megabytes.  Other tests beside it, the machine's host and chance can spoil one such measurement.
So one that fails is taken anew, alone, twice at most; what is wrong fails each time.  Every
measurement that was taken again is told of at the end, with what it had found.
"""

import re
from typing import Any, Callable, Dict, Hashable, List, TypeVar

import pytest
from _pytest.runner import runtestprotocol

TRIES = 3
PROPERTY = "measured again"

Made = TypeVar("Made")

# In what pytest says of an assert: it was about a status, or a run that it shows had a bad one.
_PROGRAM_FAILED = re.compile(r"\.returncode|returncode=(?!0\b)|exit status: (?!0\b)|Timeout")


class Kept:
    """Results of runs that tests share, each made once; a measurement taken again makes them anew."""

    _all: List["Kept"] = []

    def __init__(self) -> None:
        self._results: Dict[Hashable, Any] = {}
        Kept._all.append(self)

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        if key not in self._results:
            self._results[key] = make()
        return self._results[key]

    @classmethod
    def forget_all(cls) -> None:
        for kept in cls._all:
            kept._results.clear()


def _failure(reports: list) -> str:
    """Of what was measured, in a line; none where all went well or a program failed or hung."""
    failed = [report for report in reports if report.failed]
    crash = getattr(failed[0].longrepr, "reprcrash", None) if failed else None
    if crash is None or [report.when for report in failed] != ["call"]:
        return ""
    return "" if _PROGRAM_FAILED.search(crash.message) else crash.message.splitlines()[0]


def run_protocol(item: pytest.Item, nextitem: Any) -> None:
    """pytest's own way of running a test, up to three times."""
    spoiled = []
    while True:
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        failure = _failure(reports)
        if not failure or len(spoiled) + 1 == TRIES:
            break
        spoiled.append((PROPERTY, failure))
        Kept.forget_all()
        item.add_marker("alone")
        item._initrequest()  # its own fixtures are made anew
    if spoiled:
        reports[-1].user_properties = [*reports[-1].user_properties, *spoiled]
        Kept.forget_all()
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def summary(terminal: Any) -> None:
    """What was measured again, whatever came of it."""
    reports = [r for found in terminal.stats.values() for r in found if hasattr(r, "user_properties")]
    lines = [(r.nodeid, text) for r in reports for name, text in r.user_properties if name == PROPERTY]
    if lines:
        terminal.section("measured again")
        for nodeid, text in sorted(set(lines)):
            terminal.write_line(f"{nodeid}: {text}")
