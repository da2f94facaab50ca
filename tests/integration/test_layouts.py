"""What src/python knows of each version, derived again from the interpreter itself."""

import json

from support import runs
from support.packages import trio_environment
from support.probes import PROBES, driver

# enum py_op_kind
KINDS = {"o": 0, "c": 1, "p": 2, "n": 3, "t": 4, "x": 5, "j": 6, "l": 7, "h": 8}


def test_layout(python_build):
    """Every offset of the row, looked up in live objects."""
    done = python_build.run_plain(PROBES / "layout_facts.py", driver("python_probe"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-1]) > 30


def test_tasks(python_build):
    """Tasks that wait in every way, as read from outside and as the interpreter tells."""
    done = python_build.run_plain(
        PROBES / "task_facts.py", driver("python_probe"), env={"PYTHONIOENCODING": "utf-8"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compared 12" in done.stdout


def test_trio_tasks(python):
    """The same of trio."""
    done = python.run_plain(PROBES / "trio_facts.py", driver("python_probe"), env=trio_environment(python))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compared 4" in done.stdout


def test_opcodes(python):
    """Every opcode's kind, whether it transfers control, and its inline caches."""
    expected = json.loads(python.run_plain(PROBES / "opcodes.py", check=True).stdout)
    version = python.version[0] << 8 | python.version[1]
    found = runs.run([driver("python_probe"), "opcodes", version], check=True).stdout.splitlines()
    assert len(found) == 256
    for opcode, line in enumerate(found):
        letter = expected["kinds"][opcode]
        wanted = (KINDS[letter.lower()], int(letter.isupper()), int(expected["caches"][opcode], 20))
        assert tuple(map(int, line.split())) == wanted, f"opcode {opcode}"


def test_unknown_version():
    done = runs.run([driver("python_probe"), "layout", 0x0305])
    assert (done.returncode, done.stdout) == (1, "unknown\n")
