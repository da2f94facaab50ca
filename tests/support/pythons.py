"""The CPythons of this machine, one object per interpreter.

Looked for, in this order: $PYENV_ROOT (or ~/.pyenv), python3.X on the PATH,
/usr/bin, /usr/local/bin, and the Debian sid tree that scripts/setup-pythons
makes, whose interpreters are run through scripts/in-sid.  Each candidate is
asked what it is; whatever is not a plain CPython (PyPy, debug and free-threaded
builds, version-manager stubs that lead nowhere) is passed over.
"""

import functools
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from support import runs
from support.paths import IN_SID, SID_TREE, heatline_executable

VERSIONS = [(3, minor) for minor in range(8, 16)]
OLD_VERSIONS = [(3, 6), (3, 7)]

_ASK = """
import sys
print(sys.implementation.name, getattr(sys, "abiflags", "").strip("m") or "-",
      "%d.%d" % sys.version_info[:2], getattr(sys, "_base_executable", None) or sys.executable)
"""


@dataclass(frozen=True)
class Python:
    """One interpreter.  ``executable`` is its path inside the tree where it runs."""

    version: Tuple[int, int]
    executable: str
    prefix: Tuple[str, ...] = field(default=())  # what to put before a command to get there

    @property
    def name(self) -> str:
        return "py%d.%d" % self.version

    @property
    def is_in_sid(self) -> bool:
        return bool(self.prefix)

    def __str__(self) -> str:
        return self.name

    def command(self, argv: Sequence[Any]) -> List[str]:
        """The command that runs ``argv`` where this interpreter lives."""
        return [*self.prefix, *(str(part) for part in argv)]

    def run(self, argv: Sequence[Any], **options: Any) -> subprocess.CompletedProcess:
        """Run any command where this interpreter lives (options: support.runs.run)."""
        return runs.run(self.command(argv), **options)

    def run_plain(self, script: Any, *args: Any, **options: Any) -> subprocess.CompletedProcess:
        """Run ``script`` with this interpreter, unprofiled.

        ``script`` is a path, or a list such as ["-m", "module"] or ["-c", "code"].
        """
        return self.run([self.executable, *_as_list(script), *args], **options)

    def heatline(self, argv: Sequence[Any], **options: Any) -> subprocess.CompletedProcess:
        """Run ``heatline`` itself, with these arguments, where this interpreter lives."""
        return self.run([heatline_executable(), *argv], **options)

    def heatline_run(
        self,
        script: Any,
        args: Sequence[Any] = (),
        options: Sequence[Any] = (),
        *,
        outfile: Optional[Path] = None,
        **run_options: Any,
    ) -> runs.ProfiledRun:
        """Profile ``script`` (as for run_plain) with this interpreter.

        ``options`` are options of ``heatline run``.  The profile goes to ``outfile``,
        by default to a fresh temporary file, and is the result's ``.profile``.
        """
        if outfile is None:
            outfile = Path(tempfile.mkdtemp(prefix="profile-", dir=_scratch())) / "profile.json"
        argv = ["run", "--python", self.executable, "-o", outfile]
        done = self.heatline([*argv, *options, *_as_list(script), *args], **run_options)
        return runs.ProfiledRun(done, Path(outfile))


def _as_list(script: Any) -> List[Any]:
    return list(script) if isinstance(script, (list, tuple)) else [script]


@functools.lru_cache(maxsize=None)
def _scratch() -> str:
    """A folder for the profiles of this test process, removed at its end."""
    holder = tempfile.TemporaryDirectory(prefix="heatline-tests-")
    _scratch_holders.append(holder)
    return holder.name


_scratch_holders: List[tempfile.TemporaryDirectory] = []


def _ask(executable: str, prefix: Tuple[str, ...] = ()) -> Optional[Python]:
    """What this candidate is, or None when it is no interpreter of ours."""
    try:
        answer = subprocess.run(
            [*prefix, executable, "-I", "-S", "-c", _ASK],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=runs.clean_environment(),
            timeout=60,
            encoding="utf-8",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.fullmatch(r"cpython - 3\.(\d+) (/.*)", answer.stdout.strip())
    if answer.returncode != 0 or not match:
        return None
    return Python((3, int(match.group(1))), match.group(2), prefix)


def _version_key(folder: Path) -> List[int]:
    return [int(number) for number in re.findall(r"\d+", folder.name)]


def _candidates() -> Iterator[Tuple[str, Tuple[str, ...]]]:
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    # Virtual environments of pyenv are links into this folder; only real ones count.
    folders = [f for f in pyenv.glob("3.*") if not f.is_symlink()] if pyenv.is_dir() else []
    for folder in sorted(folders, key=_version_key, reverse=True):
        yield str(folder / "bin" / "python3"), ()
    places = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin", "/usr/local/bin"]
    # A version manager's stubs are slow, and lead to what was found above or nowhere.
    places = [place for place in places if place and Path(place).name != "shims"]
    for major, minor in OLD_VERSIONS + VERSIONS:
        for place in dict.fromkeys(places):
            path = os.path.join(place, f"python{major}.{minor}")
            if os.access(path, os.X_OK):
                yield path, ()
    for path in sorted((SID_TREE / "usr" / "bin").glob("python3.*")):
        if re.fullmatch(r"python3\.\d+", path.name):
            yield f"/usr/bin/{path.name}", (str(IN_SID),)


@functools.lru_cache(maxsize=None)
def all_builds() -> Tuple[Python, ...]:
    """Every distinct interpreter found, several of one version included, by version."""
    found = {}
    for executable, prefix in _candidates():
        python = _ask(executable, prefix)
        if python and python.version in wanted_versions():
            found.setdefault((prefix, os.path.realpath(python.executable)), python)
    return tuple(sorted(found.values(), key=lambda python: python.version))


@functools.lru_cache(maxsize=None)
def all_pythons() -> Tuple[Python, ...]:
    """One interpreter per version found, oldest first."""
    first = {}
    for python in all_builds():
        first.setdefault(python.version, python)
    return tuple(first.values())


def wanted_versions() -> List[Tuple[int, int]]:
    """The versions that the tests run on; HEATLINE_OLD=1 adds 3.6 and 3.7."""
    return (OLD_VERSIONS if os.environ.get("HEATLINE_OLD") == "1" else []) + VERSIONS


def missing_versions() -> List[Tuple[int, int]]:
    here = {python.version for python in all_pythons()}
    return [version for version in wanted_versions() if version not in here]
