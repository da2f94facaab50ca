"""The cells of a notebook, named and shown as the user knows them.

IPython compiles a cell under a name of its own (``<ipython-input-3-…>``, or ``/tmp/ipykernel_PID/HASH.py``,
which is no file) and keeps the source to itself, so a profiler that sees names only has nothing to show.
Here the names become ``Cell [3]`` and the sources are put into the profile, which the ``heatline`` command
then writes again: with all lines, loops and advice, as for any file."""

import difflib
import linecache
import os
import re
import sys
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from heatline.results import Profile, run

_Shell = Any  # IPython's, which this package does not depend on


def current_shell() -> Optional[_Shell]:
    """The IPython that this process runs, if it does."""
    if "IPython" not in sys.modules:
        return None
    return sys.modules["IPython"].get_ipython()


def name_cells(profile: Profile) -> Profile:
    """The profile with its cells named and their sources in it; the same one where it has none."""
    shell = current_shell()
    if shell is None:
        return profile
    titles = _titles(shell, _names(profile.data))
    if not titles:
        return profile
    data = _renamed(profile.data, {name: title for name, (title, _) in titles.items()})
    data["program"] = "notebook"  # not the file of the kernel that runs it
    _forget_blocking(data)
    for title, source in titles.values():
        if title in data["files"]:
            data["files"][title].update(source=source, reduced=True)
    return _written_again(Profile(data))


def _forget_blocking(data: Dict[str, Any]) -> None:
    """A kernel runs cells on its event loop, so every cell that computes blocks it; that is no news."""
    own = data.get("heatline") or {}
    if "async" in own:
        own["async"]["blocking"] = []
    quality = own.get("quality") or {}
    quality["warnings"] = [text for text in quality.get("warnings") or [] if "blocks the event loop" not in text]


def match_cells(before: Profile, after: Profile) -> Profile:
    """``before`` with its cells called what they are called in ``after``: a cell that is run again has another
    number.  Those with the same source belong together, then those that are most alike; lines are compared by
    function and text, so a pair that is none does no harm."""
    old, new = _cell_sources(before), _cell_sources(after)
    pairs: Dict[str, str] = {}
    for alike in (1.0, 0.6, 0.0):
        for title in [title for title in old if title not in pairs]:
            free = [other for other in new if other not in pairs.values()]
            best = max(free, key=lambda other: _likeness(old[title], new[other]), default=None)
            if best is not None and _likeness(old[title], new[best]) >= alike:
                pairs[title] = best
    # A cell without a partner must not keep a name that now means another one.
    for title in old:
        pairs.setdefault(title, title if title not in new else title + " before")
    return Profile(_renamed(before.data, pairs)) if old else before


def _names(data: Mapping[str, Any]) -> Set[str]:
    """Names of all files, also of those that are only in stacks."""
    stacks = (data.get("heatline") or {}).get("stacks") or {}
    strings = stacks.get("strings") or []
    return {*data["files"], *(strings[file[0]] for file in stacks.get("files") or [])}


def _titles(shell: _Shell, names: Set[str]) -> Dict[str, Tuple[str, str]]:
    """{name: (title, source)} of those names that are cells."""
    found: Dict[str, Tuple[str, str]] = {}
    for name in sorted(names):
        number = _number(shell, name)
        if number is None:
            continue
        title, again = "Cell [%d]" % number, 1
        while title in [other for other, _ in found.values()]:  # a cell can compile several texts
            again += 1
            title = "Cell [%d.%d]" % (number, again)
        found[name] = title, _source(shell, name, number)
    return found


def _number(shell: _Shell, name: str) -> Optional[int]:
    """The execution count of the cell that was compiled under this name; None: it is no cell."""
    label = getattr(shell.compile, "format_code_name", lambda _: None)(name)
    match = re.search(r"(\d+)", label[1]) if label else re.match(r"<ipython-input-(\d+)-", name)
    return int(match.group(1)) if match else None


def _source(shell: _Shell, name: str, number: int) -> str:
    """The cell as the user typed it; as it was compiled where that has other lines."""
    compiled = linecache.cache.get(name)
    lines: List[str] = list(compiled[2]) if compiled and len(compiled) > 2 else []
    typed = getattr(getattr(shell, "history_manager", None), "input_hist_raw", [])
    raw = str(typed[number]) if 0 <= number < len(typed) else ""
    if not lines or len(raw.splitlines()) == len(lines):
        return raw
    return "".join(lines)


def _renamed(value: Any, titles: Mapping[str, str]) -> Any:
    """The same value with file names replaced, also where they begin a frame ("file function:line;")."""
    if isinstance(value, str):
        if value in titles:
            return titles[value]
        # No name of a cell holds a space, but titles do: "Cell [3] f:1;".
        name = next((name for name in titles if value.startswith(name + " ")), None)
        return value if name is None else titles[name] + value[len(name) :]
    if isinstance(value, Mapping):
        return {_renamed(key, titles): _renamed(part, titles) for key, part in value.items()}
    if isinstance(value, list):
        return [_renamed(part, titles) for part in value]
    return value


def _cell_sources(profile: Profile) -> Dict[str, str]:
    """{title: source} of all cells of the profile; empty for one that is only in stacks."""
    files = profile.data["files"]
    return {
        name: "".join(str(line.get("line") or "") for line in files.get(name, {}).get("lines") or [])
        for name in sorted(_names(profile.data))
        if name.startswith("Cell [")
    }


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.splitlines(), other.splitlines()).ratio()


def _written_again(profile: Profile) -> Profile:
    with tempfile.TemporaryDirectory(prefix="heatline-") as folder:
        path = os.path.join(folder, "profile.json")
        profile.save(path)
        run("merge", path, "-o", path)
        return Profile(path)
