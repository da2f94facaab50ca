"""The Python package: the wheel is built once, then installed and used on the oldest and newest Python."""

import fcntl
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support import runs
from support.paths import REPO
from support.pythons import all_pythons

PROGRAM = """
import sys
from heatline import profile

@profile
def work():
    total = 0
    for i in range(2_000_000):
        total += i * i % 7
    return total

print(work() > 0, sys.version_info[:2])
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    """What `pip wheel .` makes; once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "wheel-of-this-run"
    with open(str(folder) + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("*.whl")):
            build_wheel(folder)
    [path] = folder.glob("*.whl")
    return path


def build_wheel(folder: Path) -> None:
    tools = os.path.dirname(sys.executable)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, REPO],
        check=True,
        env=dict(os.environ, PATH=os.pathsep.join([tools, os.environ["PATH"]])),
    )


def ends():
    """The oldest and the newest Python outside the sid tree, where pip works."""
    usable = [python for python in all_pythons() if not python.is_in_sid and python.version >= (3, 8)]
    return [usable[0], usable[-1]] if usable else []


@pytest.fixture(scope="session", params=ends(), ids=str)
def environment(request, wheel, tmp_path_factory) -> Path:
    """A virtual environment with the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([request.param.executable, "-m", "venv", folder], check=True)
    subprocess.run(
        [folder / "bin/python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel], check=True
    )
    return folder


@pytest.fixture(scope="session")
def prefix(wheel, tmp_path_factory) -> Path:
    """pip install --prefix"""
    folder = tmp_path_factory.mktemp("prefix")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--prefix", folder, wheel], check=True
    )
    return folder


def run(command, **options):
    clean = {key: value for key, value in os.environ.items() if not key.startswith("HEATLINE")}
    return subprocess.run(command, capture_output=True, text=True, env=clean, **options)


@pytest.fixture
def program(tmp_path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_one_wheel_for_every_python(wheel):
    assert "-py3-none-linux_" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert not any("platlib" in name or name.startswith("heatline/") for name in names), names
    modules = ["purelib/heatline/" + path.name for path in (REPO / "python/heatline").iterdir() if path.is_file()]
    for wanted in ("scripts/heatline", "lib/heatline/libheatline-agent.so", *modules):
        assert any(name.endswith(wanted) for name in names), (wanted, names)


def test_pytest_finds_the_plugin(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        assert "[pytest11]\nheatline" in archive.read(name).decode().replace(" ", "")


@pytest.mark.parametrize("how", ["command", "module"])
def test_profile_from_an_environment(environment, program, tmp_path, how):
    start = [environment / "bin/heatline"] if how == "command" else [environment / "bin/python", "-m", "heatline"]
    done = run([*start, "run", "--quiet", "-o", tmp_path / "p.json", program])
    assert done.returncode == 0 and done.stdout.startswith("True"), done
    profile = json.loads((tmp_path / "p.json").read_text())
    assert str(program) in profile["files"]
    functions = {f["line"] for f in profile["files"][str(program)]["functions"]}
    assert "work" in functions


PART = """
import heatline

def work():
    return sum(i * i % 7 for i in range(1_000_000))

heatline.start()
work()
profile = heatline.stop()
print([function.name for function in profile.functions if function.name == "work"])
print("<iframe" in profile._repr_html_())
"""


def test_a_part_of_a_program(environment, tmp_path):
    (tmp_path / "part.py").write_text(PART)
    done = run([environment / "bin/python", tmp_path / "part.py"], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "['work']\nTrue\n"), done.stderr
    assert os.listdir(tmp_path) == ["part.py"]


def test_by_a_link_from_elsewhere(environment, tmp_path):
    """As pipx and `uv tool` install: an environment of its own, and a link to the command.  Programs then run
    with the user's Python, not with the one of that environment."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/heatline").symlink_to(environment / "bin/heatline")
    (tmp_path / "program.py").write_text("import sys\nprint(sys.prefix)\n")
    done = run([tmp_path / "bin/heatline", "run", "--quiet", "-o", tmp_path / "p.json", tmp_path / "program.py"])
    assert done.returncode == 0 and (tmp_path / "p.json").exists(), done
    assert done.stdout.strip() != str(environment)


@pytest.mark.parametrize("interpreter", ends(), ids=str)
def test_for_one_user(interpreter, wheel, tmp_path):
    """pip install --user"""
    env = {"PYTHONUSERBASE": str(tmp_path / "base"), "HOME": str(tmp_path), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    pip = [interpreter.executable, "-m", "pip", "install", "-q", "--no-warn-script-location"]
    runs.run([*pip, "--user", "--no-index", "--no-deps", wheel], env=env, check=True)
    (tmp_path / "part.py").write_text(PART)
    done = runs.run([interpreter.executable, tmp_path / "part.py"], env=env)
    assert (done.returncode, done.stdout) == (0, "['work']\nTrue\n"), done.stderr


def test_one_folder_for_every_python(python, prefix, tmp_path):
    """What is installed once serves each version, since the package is pure and the agent knows them all."""
    (tmp_path / "part.py").write_text(PART)
    [packages] = prefix.glob("**/site-packages")
    done = python.run_plain(tmp_path / "part.py", env={"PYTHONPATH": str(packages)})
    assert (done.returncode, done.stdout) == (0, "['work']\nTrue\n"), done.stderr


def test_module_uses_the_python_that_runs_it(environment, tmp_path):
    """Also when another environment is active, and the program does not see how it was told."""
    script = "import sys, os; print(sys.prefix); print([k for k in os.environ if k == 'HEATLINE_PYTHON'])"
    program = tmp_path / "prefix.py"
    program.write_text(script)
    python = environment / "bin/python"
    done = run([python, "-m", "heatline", "run", "--quiet", "-o", tmp_path / "p.json", program])
    assert done.stdout.splitlines() == [str(environment), "[]"], done


def test_program_runs_without_the_profiler(environment, program):
    done = run([environment / "bin/python", program])
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("True")


def test_status_is_passed_on(environment):
    done = run([environment / "bin/python", "-m", "heatline", "run", "no-such-file.py"])
    assert done.returncode == 2 and "no-such-file.py" in done.stderr


def test_scalenes_way_to_suspend(environment):
    done = run([environment / "bin/python", "-m", "heatline.profile", "--off", "--pid", "1"])
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done
    done = run([environment / "bin/python", "-m", "heatline.profile", "--pid", "1"])
    assert done.returncode == 2 and "--on" in done.stderr
