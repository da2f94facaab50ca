"""Terminals of the tests' own: what is written to them, and when to type."""

import os
import time
from pathlib import Path
from typing import Dict


def read_all(leader: int) -> bytes:
    """Everything that is written to a terminal until its last user has gone."""
    text = b""
    try:
        while chunk := os.read(leader, 4096):
            text += chunk
    except OSError:
        pass
    os.close(leader)
    return text


def foreground_pythons(terminal: int) -> Dict[int, str]:
    """State and CPU time of each Python in the terminal's foreground, by its number."""
    group = os.tcgetpgrp(terminal)
    seen = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, rest = stat.read_text().split(" (", 1)
            name, fields = rest.rsplit(") ", 1)
        except OSError:
            continue  # it has ended meanwhile
        state, _, pgrp, *_ = fields.split()
        if int(pgrp) == group and name.startswith("python"):
            seen[int(number)] = state + " " + " ".join(fields.split()[11:13])
    return seen


def wait_until_asleep(terminal: int) -> None:
    """Returns when the Pythons in the foreground sleep and have done so for a while.

    A program shows its prompt before it reads: Python loses a Ctrl-C that comes between.
    """
    deadline = time.monotonic() + 30
    before: Dict[int, str] = {}
    while time.monotonic() < deadline:
        time.sleep(0.2)
        now = foreground_pythons(terminal)
        if now and now == before and all(state.startswith("S") for state in now.values()):
            return
        before = now
    raise AssertionError(f"the program does not come to rest: {before}")
