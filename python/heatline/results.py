"""A profile as Python sees it: lines, functions, tables, the page.

Everything comes from the profile file (docs/profile-format.md); nothing is measured here.  Files that
Scalene wrote open too: what they do not have is 0."""

import html
import importlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

from heatline import _show
from heatline._command import command

__all__ = ["Function", "Line", "Profile"]


class Line(NamedTuple):
    """A line of source and what it took.  Times are seconds, memory is MB of 1 048 576 bytes."""

    file: str
    line: int
    text: str
    """The source, without indentation; empty where it is not known."""
    seconds: float
    """The line's own time: Python, native, system and waiting together."""
    percent: float
    """The same as a share of ``Profile.total_s``."""
    python_s: float
    native_s: float
    system_s: float
    wait_s: float
    inclusive_s: float
    """Time with the line anywhere on the stack."""
    gpu_s: float
    samples: int
    allocated_mb: float
    peak_mb: float
    kept_mb: float
    copied_mb: float


class Function(NamedTuple):
    """A function and what its lines took; the figures are those of ``Line``."""

    file: str
    line: int
    name: str
    seconds: float
    percent: float
    python_s: float
    native_s: float
    system_s: float
    wait_s: float
    inclusive_s: float
    gpu_s: float
    samples: int
    allocated_mb: float
    peak_mb: float
    kept_mb: float
    copied_mb: float


class Profile:
    """A finished profile.

    ``Profile("heatline-profile.json")`` opens a file, ``Profile(data)`` takes what ``json.load`` made of
    one.  In a notebook it shows itself: a table, and below it the page."""

    def __init__(self, source: Union[str, "os.PathLike[str]", Mapping[str, Any]]) -> None:
        self._text: Optional[str] = None  # as it was written, for save() to write the same
        if isinstance(source, Mapping):
            name, data = "this", source
        else:
            name = os.fspath(source)
            with open(name, "rb") as file:
                raw = file.read()
            self._text, data = _decode(name, raw)
        if not isinstance(data, Mapping) or not isinstance(data.get("files"), Mapping):
            raise ValueError("%s is not a profile: it has no files" % name)
        parts = [*data["files"].values(), data.get("heatline") or {}]
        if not all(isinstance(part, Mapping) for part in parts):
            raise ValueError("%s is not a profile: a part of it is no object" % name)
        self.data: Mapping[str, Any] = data
        """The profile as JSON has it, every key of docs/profile-format.md."""
        self._lines: Optional[List[Line]] = None
        self._functions: Optional[List[Function]] = None

    @property
    def program(self) -> str:
        """The path of the program, or its command."""
        return str(self.data.get("program") or "")

    @property
    def elapsed_s(self) -> float:
        """Wall time of what was profiled."""
        return _number(self.data, "elapsed_time_sec")

    @property
    def total_s(self) -> float:
        """What percentages are of: the main thread's wall time and the other threads' CPU time."""
        return _number(self._own("time"), "total_s") or self.elapsed_s

    @property
    def has_memory(self) -> bool:
        """Whether memory was measured."""
        return bool(self.data.get("memory"))

    @property
    def peak_mb(self) -> float:
        """Most memory that was live at once; 0 where memory was not measured."""
        return _number(self.data, "max_footprint_mb")

    @property
    def warnings(self) -> List[str]:
        """What the reader should know about how good the profile is, in sentences."""
        return [str(warning) for warning in self._own("quality").get("warnings") or []]

    @property
    def advice(self) -> List[Tuple[Tuple[str, int], str]]:
        """((file, line), what is wrong there) of patterns that are slow whatever the program; ``data`` has more."""
        found = (self.data.get("heatline") or {}).get("advice") or []
        return [((str(item["file"]), int(item["line"])), str(item["title"])) for item in found]

    def seconds_of(self, kind: str) -> float:
        """Time of one kind (``"python_s"``, ``"native_s"``, ``"system_s"``, ``"wait_s"``), of the whole program."""
        whole = self._own("time")
        return _number(whole, kind) if kind in whole else sum(getattr(line, kind) for line in self.lines)

    @property
    def lines(self) -> List[Line]:
        """The lines with figures, those that took most time first."""
        if self._lines is None:
            self._lines = sorted(self._all_lines(), key=_heat)
        return list(self._lines)

    @property
    def functions(self) -> List[Function]:
        """The functions with figures, those that took most time of their own first."""
        if self._functions is None:
            self._functions = sorted(self._all_functions(), key=_heat)
        return list(self._functions)

    def summary(self, top: int = 10) -> str:
        """The hottest lines, as text for a terminal."""
        return _show.as_text(self, top)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the profile to a file, for ``heatline view``, ``diff``, ``check`` and ``export``.

        A file that is there is replaced only by a whole one."""
        target = os.path.abspath(os.fspath(path))
        beside = "%s.%s.part" % (target, secrets.token_hex(4))
        try:
            with open(beside, "x", encoding="utf-8") as file:
                file.write(self._json())
            os.replace(beside, target)
        except BaseException:
            if os.path.exists(beside):
                os.unlink(beside)
            raise

    def to_dataframe(self, of: str = "lines") -> Any:
        """The lines, or with ``of="functions"`` the functions, as a pandas ``DataFrame``."""
        if of not in ("lines", "functions"):
            raise ValueError('of is "lines" or "functions", not %r' % (of,))
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise ImportError("to_dataframe needs pandas; install it with: pip install pandas") from None
        kind = Line if of == "lines" else Function
        return pandas.DataFrame(list(getattr(self, of)), columns=list(kind._fields))

    def to_html(self, *, reduced: bool = False) -> str:
        """The page with this profile in it: one HTML document that needs neither Heatline nor a network.

        ``reduced`` leaves out the source lines without figures."""
        with tempfile.TemporaryDirectory(prefix="heatline-") as folder:
            profile, page = os.path.join(folder, "profile.json"), os.path.join(folder, "page.html")
            with open(profile, "w", encoding="utf-8") as file:
                file.write(self._json())
            run("view", "--standalone", *(["--reduced"] if reduced else []), "-o", page, profile)
            with open(page, encoding="utf-8") as file:
                return file.read()

    def compare(self, before: "Profile") -> str:
        """What got faster, slower or heavier since ``before``, beyond noise: ``heatline diff`` as text."""
        with tempfile.TemporaryDirectory(prefix="heatline-") as folder:
            paths = [os.path.join(folder, name) for name in ("before.json", "after.json")]
            for path, profile in zip(paths, (before, self)):
                profile.save(path)
            return run("diff", "--color", "never", "--no-pager", *paths)

    def _repr_html_(self) -> str:
        return _show.as_html(self)

    def __repr__(self) -> str:
        return self.summary()

    def _json(self) -> str:
        return self._text if self._text is not None else json.dumps(self.data)

    def _own(self, key: str) -> Mapping[str, Any]:
        """A part of what only Heatline's profiles have; empty in Scalene's."""
        part = (self.data.get("heatline") or {}).get(key)
        return part if isinstance(part, Mapping) else {}

    def _source(self, record: Mapping[str, Any]) -> str:
        text = str(record.get("line") or "").strip()
        return text if "heatline" in self.data else html.unescape(html.unescape(text))  # Scalene escapes twice

    def _all_lines(self) -> List[Line]:
        found = []
        for name, file in self.data["files"].items():
            for record in file.get("lines") or []:
                figures = _figures(record, self.total_s)
                if any(figures.values()):
                    found.append(Line(name, int(record["lineno"]), self._source(record), **figures))
        return found

    def _all_functions(self) -> List[Function]:
        return [
            Function(name, int(record["lineno"]), self._source(record), **_figures(record, self.total_s))
            for name, file in self.data["files"].items()
            for record in file.get("functions") or []
        ]


def made_here(raw: bytes) -> Profile:
    """The profile of this process, as the collector has written it.  Cells of a notebook get their names."""
    text, data = _decode("what the collector sent", raw)
    profile = Profile(data)
    profile._text = text
    if "IPython" not in sys.modules:
        return profile
    from heatline._cells import name_cells

    return name_cells(profile)


def run(*arguments: str) -> str:
    """Run the ``heatline`` command and return what it printed.  Raises RuntimeError with its sentence."""
    done = subprocess.run(
        [command(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(said or "heatline ended with status %d" % done.returncode)
    return done.stdout.decode("utf-8", "replace")


def _decode(name: str, raw: bytes) -> Tuple[str, Any]:
    try:
        text = raw.decode("utf-8")
        return text, json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("%s is not a profile: %s" % (name, error)) from None


def _number(record: Mapping[str, Any], key: str) -> float:
    value = record.get(key)
    return float(value) if isinstance(value, (int, float)) else 0.0


def _figures(record: Mapping[str, Any], total_s: float) -> Dict[str, Any]:
    """The figures of a line or function.  Scalene's files have percentages only."""

    def seconds(key: str, percent_key: str) -> float:
        return _number(record, key) if key in record else _number(record, percent_key) * total_s / 100

    wait_s = seconds("wait_s", "n_wait_percent")
    python_s = seconds("python_s", "n_cpu_percent_python")
    native_s = seconds("native_s", "n_cpu_percent_c")
    system_s = seconds("system_s", "n_sys_percent")
    own_s = python_s + native_s + system_s + wait_s
    return {
        "seconds": own_s,
        "percent": 100 * own_s / total_s if total_s else 0.0,
        "python_s": python_s,
        "native_s": native_s,
        "system_s": system_s,
        "wait_s": wait_s,
        "inclusive_s": seconds("inclusive_s", "n_inclusive_percent"),
        "gpu_s": seconds("gpu_s", "n_gpu_percent"),
        "samples": int(_number(record, "n_samples")),
        "allocated_mb": _number(record, "n_malloc_mb"),
        "peak_mb": _number(record, "n_peak_mb"),
        "kept_mb": _number(record, "n_kept_mb"),
        "copied_mb": _number(record, "n_copy_mb"),
    }


def _heat(record: Union[Line, Function]) -> Any:
    return -record.seconds, -record.allocated_mb, record.file, record.line
