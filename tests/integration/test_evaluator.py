"""What an interpreter's functions are for: by their names, and without them."""

import subprocess
from pathlib import Path
from typing import Dict

import pytest

from support import runs
from support.probes import driver

ASK = "import sys, sysconfig as s; print(sys.executable, s.get_config_var('LIBDIR') + '/' + s.get_config_var('INSTSONAME'))"

# Of the bytes of each part.  Measured: 0.92 and more, and where the compiler has made copies of functions 0.91, 0.83, 0.75.
FOUND = {"entering": 0.85, "loop": 0.95, "running": 0.6, "chores": 0.65}


@pytest.fixture
def interpreter(python, tmp_path) -> Path:
    """A copy of the file that holds the evaluation loop."""
    for path in python.run([python.executable, "-c", ASK], check=True).stdout.split():
        image = python.run(["cat", path], text=False).stdout
        if b"_PyEval_EvalFrameDefault" in image:
            copy = tmp_path / "interpreter"
            copy.write_bytes(image)
            return copy
    raise AssertionError("there is no interpreter")


def parts_of(file: Path) -> Dict[int, str]:
    """The part of each byte that has one."""
    done = runs.run([driver("evaluator_probe"), file])
    assert done.returncode == 0, "not all is known"
    parts = {}
    for line in done.stdout.splitlines():
        start, end, part = line.split()
        parts.update(dict.fromkeys(range(int(start), int(end)), part))
    return parts


def test_without_names(interpreter, tmp_path):
    """Stripped, nearly the same functions are found as by their names."""
    sections = subprocess.run(["readelf", "-SW", interpreter], check=True, capture_output=True, text=True).stdout
    if ".symtab" not in sections:
        pytest.skip("the interpreter was stripped of its names, so there is nothing to compare with")
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "--strip-all", "-o", stripped, interpreter], check=True)
    named, found = parts_of(interpreter), parts_of(stripped)
    for part, share in FOUND.items():
        wanted = [at for at, name in named.items() if name == part]
        assert sum(found.get(at) == part for at in wanted) > share * len(wanted), part
    python = [at for at, part in found.items() if part in ("entering", "loop", "running")]
    assert sum(at not in named for at in python) < 0.2 * len(python)


def test_system_interpreter(interpreter):
    """What distributions install is understood as well: that which runs Python functions is not all in one."""
    parts = list(parts_of(interpreter).values())
    assert parts.count("loop") > 30_000  # the evaluation loop, wherever compilers have put it
    assert parts.count("entering") > 15_000
    assert parts.count("chores") > 15_000
