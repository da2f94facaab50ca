"""The figures: known programs give what they must, on every Python, however they end.

The programs mark their lines with words (``# HOT``).  Assertions are about shares, never
about seconds, so that a busy machine does not matter.  Each (program, options) runs once
for each Python; the tests share the profile.
"""

import json
import math
import os
import re
import subprocess
import sys
import time
import zipapp
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest

from support.again import Kept
from support.packages import numpy_folder
from support.paths import PROGRAMS, REPO, heatline_executable
from support.runs import ProfiledRun, clean_environment

pytestmark = pytest.mark.measures

FIGURES = PROGRAMS / "figures"
TIME_KEYS = ("n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent")


# Programs of many short parts: at the usual rate chance alone would fail one test in a hundred.
FINE = ("--cpu-sampling-rate", "0.001")
FINELY = {name: FINE for name in ("natives.py", "callbacks.py", "threads.py", "shapes.py", "hot_line.py")}


@pytest.fixture(scope="session")
def profiled(python):
    """profiled("name.py", options…, args=…): the finished run, made once."""
    runs = Kept()

    def run(name: str, *options: str, args: Tuple[str, ...] = (), **more: str) -> ProfiledRun:
        options = options or FINELY.get(name, ())
        environment = {"PYTHONDONTWRITEBYTECODE": "1", **more}
        return runs.get(
            (name, options, args),
            lambda: python.heatline_run(FIGURES / name, args, options, env=environment),
        )

    return run


def marked_line(name: str, mark: str) -> int:
    """The number of the line that ends with this mark."""
    for number, line in enumerate((FIGURES / name).read_text().splitlines(), 1):
        if re.search(rf"#.* {mark}$|# {mark}$", line):
            return number
    raise AssertionError(f"{name} has no line marked {mark}")


def line_of(run: ProfiledRun, name: str, mark: str) -> dict:
    return run.lines_of(FIGURES / name)[marked_line(name, mark)]


def total(line: dict) -> float:
    return sum(line[key] for key in TIME_KEYS)


def user(line: dict) -> float:
    return total(line) - line["n_sys_percent"]


def all_lines(profile: dict) -> Iterator[dict]:
    for file in profile["files"].values():
        yield from file["lines"]


def quality(run: ProfiledRun) -> dict:
    return run.profile["heatline"]["quality"]


# ---- shares ----


def test_hot_line(profiled):
    run = profiled("hot_line.py")
    assert run.returncode == 0, run
    hot = line_of(run, "hot_line.py", "HOT")
    assert total(hot) >= 85
    assert hot["n_cpu_percent_python"] >= 0.9 * user(hot)
    assert hot["n_sys_percent"] < 25  # a thousand signals a second
    assert hot["n_inclusive_percent"] >= total(hot) - 0.01
    functions = {
        f["line"]: f for f in run.profile["files"][str(FIGURES / "hot_line.py")]["functions"]
    }
    assert total(functions["hot"]) >= 95
    assert functions["<module>"]["n_inclusive_percent"] >= 95
    assert total(functions.get("cold", dict.fromkeys(TIME_KEYS, 0))) < 1


def test_sleep_is_waiting_on_its_line(profiled):
    run = profiled("sleeps.py")
    sleep = line_of(run, "sleeps.py", "SLEEP")
    assert 35 <= total(sleep) <= 65  # half of it, but for what a busy machine adds to 0.8 s
    assert sleep["n_wait_percent"] >= 0.9 * total(sleep)
    assert sleep["n_sys_percent"] >= sleep["n_wait_percent"]
    assert sleep["n_core_utilization"] < 0.2
    assert quality(run)["wait_samples"] > 5


def test_virtual_time_leaves_sleep_out(profiled):
    run = profiled("sleeps.py", "--use-virtual-time")
    lines = run.lines_of("sleeps.py")
    sleep = lines[marked_line("sleeps.py", "SLEEP")]
    assert total(sleep) < 5
    assert run.profile["heatline"]["time"]["wait_s"] == 0


NATIVES = {"hash": 5, "zlib": 5, "sorted": 5, "sum": 5, "re": 5, "join": 5, "in": 27, "int": 27}


@pytest.mark.alone
def test_native_and_python(profiled):
    """C code doing a line's work is native, whether a library's or the interpreter's; Python beside it is not."""
    run = profiled("natives.py")
    for kind, share in NATIVES.items():
        line = line_of(run, "natives.py", f"NATIVE {kind}")
        assert share / 2 <= total(line) <= share * 1.5, kind
        assert line["n_cpu_percent_c"] >= 0.85 * (total(line) - line["n_sys_percent"]), kind
    line = line_of(run, "natives.py", "PYTHON")
    assert total(line) > 5
    assert line["n_cpu_percent_python"] >= 0.85 * (total(line) - line["n_sys_percent"])


def native_share(run: ProfiledRun, name: str, mark: str) -> float:
    line = line_of(run, name, mark)
    assert user(line) > 5, mark
    return line["n_cpu_percent_c"] / user(line)


def test_operators(profiled):
    """Long operators are native also where none has many samples; a short one that waits for memory is not."""
    run = profiled("operators.py")
    for kind in ("products", "repeat"):
        assert native_share(run, "operators.py", f"NATIVE {kind}") > 0.8, kind
    assert native_share(run, "operators.py", "PYTHON lookup") < 0.2


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["keywords", "unpacked", "instances"])
def test_calling_python_is_python(profiled, kind):
    """Also where the instruction does not say what it calls."""
    assert native_share(profiled("callbacks.py"), "callbacks.py", f"PYTHON {kind}") < 0.2


@pytest.mark.alone
def test_c_code_that_calls_python(profiled):
    """Calling back is Python, what the C code does itself is native; both stand on one line."""
    run = profiled("callbacks.py")
    for kind in ("reduce", "map"):
        assert native_share(run, "callbacks.py", f"CALLED {kind}") < 0.5, kind
    for kind in ("sorted", "heavier"):
        assert 0.08 < native_share(run, "callbacks.py", f"BOTH {kind}") < 0.8, kind


@pytest.mark.alone
def test_kernel_time(profiled):
    """Time in the kernel is system time, but not waiting."""
    line = line_of(profiled("system_calls.py"), "system_calls.py", "SYSTEM")
    assert total(line) >= 85
    assert line["n_sys_percent"] >= 0.7 * total(line)
    assert line["n_wait_percent"] <= 0.2 * total(line)


def test_numpy(python, profiled):
    path = {"PYTHONPATH": numpy_folder(python)}
    run = profiled("arrays.py", **path)
    for kind in ("product", "ufunc"):
        line = line_of(run, "arrays.py", f"NATIVE {kind}")
        assert line["n_cpu_percent_c"] >= 0.85 * user(line)
    loop = line_of(run, "arrays.py", "PYTHON")
    assert loop["n_cpu_percent_python"] >= 0.85 * user(loop)
    # What numpy has the C library's memmove do is numpy's from the first sample on, by who called.
    run = profiled("copies.py", "--cpu-only", **path)
    lines = [line for line in run.lines_of("copies.py").values() if line["lineno"] > 100]
    native = sum(line["n_cpu_percent_c"] for line in lines)
    assert native > 2 * sum(line["n_cpu_percent_python"] for line in lines), lines


def test_threads(profiled):
    run = profiled("threads.py")
    large, small = (line_of(run, "threads.py", mark) for mark in ("LARGE", "SMALL"))
    ratio = large["cpu_s"] / small["cpu_s"]
    assert 2.2 <= ratio <= 4.0
    threads = run.profile["heatline"]["threads"]
    assert [thread["is_main"] for thread in threads].count(True) == 1 and len(threads) == 4
    busy = sorted(thread["cpu_s"] for thread in threads)[-2:]
    assert busy[0] >= 0.1 and 2.2 <= busy[1] / busy[0] <= 4.0
    waits = line_of(run, "threads.py", "WAITS")
    assert waits["idle_s"] > 0.3 and total(waits) < 5  # shown, but no part of the total


def test_shapes(profiled):
    """Every kind of function gets its own line and its share of a seventh."""
    functions = profiled("shapes.py").profile["files"][str(FIGURES / "shapes.py")]["functions"]
    shares: Dict[str, float] = {}
    for function in functions:
        name = function["line"].split(".")[-1]
        shares[name] = shares.get(name, 0) + total(function)
    # Comprehensions are part of their function from 3.12 on.
    shares["comprehension"] = shares.get("comprehension", 0) + shares.get("<listcomp>", 0)
    for name in ("method", "comprehension", "<lambda>", "decorated", "inner", "generator"):
        assert 4 <= shares[name] <= 25, (name, shares)
    for mark in ("METHOD", "DECORATED", "NESTED", "COMPREHENSION", "LAMBDA"):
        assert total(line_of(profiled("shapes.py"), "shapes.py", mark)) > 5, mark


def test_generator_expressions_are_of_who_wrote_them(profiled):
    """A third each: not of the function that runs them."""
    path = str(FIGURES / "expressions.py")
    functions = profiled("expressions.py", *FINE).profile["files"][path]["functions"]
    shares = {function["line"].split(".")[-1]: total(function) for function in functions}
    for name in ("passed_on", "<genexpr>", "<module>"):
        assert 15 <= shares[name] <= 50, (name, shares)
    assert shares["total"] <= 20


def test_qualified_names(python, profiled):
    if python.version < (3, 11):
        pytest.skip("code objects have no qualified name before 3.11")
    functions = profiled("shapes.py").profile["files"][str(FIGURES / "shapes.py")]["functions"]
    names = {function["line"] for function in functions}
    assert {"Thing.method", "nested.<locals>.inner"} <= names


def test_columns(python, profiled):
    """From 3.11 on the hot part within a line is known."""
    line = line_of(profiled("columns.py"), "columns.py", "LINE")
    if python.version < (3, 11):
        assert line["columns"] == []
        return
    text = (FIGURES / "columns.py").read_text().splitlines()[line["lineno"] - 1]
    parts: Dict[str, float] = {}
    for first, column, last, column_end, seconds in line["columns"]:
        assert first == last == line["lineno"] and 0 <= column < column_end <= len(text)
        parts[text[column:column_end]] = seconds
    assert list(parts.values()) == sorted(parts.values(), reverse=True)
    assert parts["sum(range(18000))"] > 0.75 * sum(parts.values())


def test_children_are_part_of_the_profile(profiled):
    run = profiled("children.py")
    assert run.returncode == 0, run
    for mark in ("FORK", "SPAWN", "SUBPROCESS"):
        line = line_of(run, "children.py", mark)
        assert line["n_inclusive_percent"] > 5, mark
    processes = run.profile["heatline"]["processes"]
    assert len({process["pid"] for process in processes}) >= 4


def test_texts_are_of_who_runs_them(profiled):
    """exec in the program gives lines of their own; in a library, the line that called it."""
    run = profiled("texts.py", "--cpu-only")
    assert 15 < total(run.lines_of("<string>")[1]) < 85
    assert 15 < total(line_of(run, "texts.py", "LIBRARY")) < 85


COMMAND = """
import functools

@functools.lru_cache(None)
def work(seconds):
    import time
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))  # HOT

"""
CHILD = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'sum(range(10**7))'])\n"


@pytest.mark.parametrize("how", ["plain", "nested", "child"])
def test_source_on_the_command_line(python, tmp_path, how):
    """It is shown beside its figures, unless "<string>" is other texts too."""
    text = COMMAND + (CHILD if how == "child" else "") + "work(0.2)"
    if how == "nested":
        text = f"exec({text!r})"
    outfile = tmp_path / "profile.json"
    done = python.heatline(["run", "-o", outfile, "--cpu-only", python.executable, "-Ic", text])
    assert done.returncode == 0, done
    lines = json.loads(outfile.read_text())["files"]["<string>"]["lines"]
    shown = [line["line"].rstrip("\n") for line in lines]
    assert any(shown) == (how == "plain")
    if how == "plain":
        hottest = max(lines, key=total)
        assert "# HOT" in hottest["line"] and shown == text.split("\n")


def test_source_in_an_archive(python, tmp_path):
    app = tmp_path / "app"
    app.mkdir()
    (app / "__main__.py").write_text("import work\nwork.work()\n")
    (app / "work.py").write_text(
        "import time\n\ndef work():\n    while time.process_time() < 0.5:  # HOT\n        pass\n"
    )
    zipapp.create_archive(app, tmp_path / "app.pyz", interpreter="/usr/bin/env python3", compressed=True)
    done = python.heatline_run(tmp_path / "app.pyz", options=["--cpu-only"])
    lines = done.profile["files"][str(tmp_path / "app.pyz" / "work.py")]["lines"]
    assert "# HOT" in max(lines, key=total)["line"], done.describe()


EDITED = """import time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:  # HOT
        pass
work(0.5)
with open(__file__) as file: text = file.read()
with open(__file__, "w") as file: file.write("#\\n" * 3 + text)
"""


def test_source_that_is_edited_while_it_runs(python, program):
    script = program(EDITED)
    done = python.heatline_run(script, options=["--cpu-only"])
    lines = done.lines_of(script)
    assert "# HOT" in max(lines.values(), key=total)["line"], done.describe()
    assert lines[1]["line"] == "import time\n"
    (warning,) = [text for text in quality(done)["warnings"] if "changed" in text]
    assert warning.startswith(f"{script.name} was changed while the program ran; ")
    assert warning in " ".join(done.stderr.split()) and "# HOT" in done.stderr
    shown = python.heatline(["view", "--cli", str(done.profile_path)])
    assert re.search(r"^ +4 .* while time.process_time\(\) < end:  # HOT", shown.stdout, re.M), shown.stdout


def test_source_that_is_edited_before_it_is_met(python, program):
    """What is on the disk is not what runs, and nobody has it any more."""
    module = program(EDITED.replace("work(0.5)", "pass"), "edited.py")
    script = program("import edited, time\ntime.sleep(0.1)\nedited.work(0.5)\n", "main.py")
    done = python.heatline_run(script, options=["--cpu-only"])
    lines = done.lines_of(module)
    assert max(lines.values(), key=total)["lineno"] == 4 and not lines[4]["line"].strip(), done.describe()
    assert any(
        text == "edited.py was changed while the program ran; its lines are shown without their text"
        for text in quality(done)["warnings"]
    )


def test_source_above_a_link(any_python, program, tmp_path):
    """lib/ beside the link is another than lib/ beside the folder it leads to."""
    program("import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'lib'))\n"
            "import mod\n", "real/app/main.py")
    program("import time\nwhile time.process_time() < 0.3:  # HOT\n    pass\n", "real/lib/mod.py")
    program("# another\n# file\n# altogether\n", "lib/mod.py")
    (tmp_path / "app").symlink_to("real/app")
    done = any_python.heatline_run(
        tmp_path / "app/main.py", options=["--cpu-only", "--program-path", str(tmp_path)]
    )
    lines = done.lines_of(tmp_path / "real/lib/mod.py")
    assert "# HOT" in max(lines.values(), key=total)["line"], done.describe()


def test_huge_code_objects(profiled):
    """Their time is theirs, and on its lines, also where those do not fit into a record."""
    run = profiled("huge.py", "--cpu-only")
    lines = run.profile["files"][str(FIGURES / "huge.py.made")]["lines"]
    assert max(total(line) for line in lines) < 30
    assert len([line for line in lines if total(line) > 0 and line["lineno"] > 1000]) > 10
    functions = run.profile["files"][str(FIGURES / "huge.py.made")]["functions"]
    assert sum(total(function) for function in functions if function["line"] == "huge") > 40
    assert "unreadable" not in json.dumps(run.profile["heatline"]["quality"]["lost"])


# ---- the whole ----

PROGRAMS_TO_CHECK = [
    "hot_line.py",
    "sleeps.py",
    "natives.py",
    "threads.py",
    "shapes.py",
    "short.py",
]


@pytest.mark.parametrize("name", PROGRAMS_TO_CHECK)
def test_sums_to_all_of_the_time(profiled, name):
    """Python + native + system over all lines, and what no line has, is 100 %."""
    profile = profiled(name).profile
    whole = profile["heatline"]["time"]
    lines = sum(total(line) for line in all_lines(profile))
    outside = 100 * whole["outside_s"] / whole["total_s"] if whole["total_s"] else 0
    assert lines + outside == pytest.approx(100 if whole["total_s"] else 0, abs=0.5)
    parts = sum(whole[key] for key in ("python_s", "native_s", "system_s", "wait_s"))
    assert parts == pytest.approx(whole["total_s"], rel=0.01, abs=0.001)
    functions = [f for file in profile["files"].values() for f in file["functions"]]
    assert sum(map(total, functions)) == pytest.approx(lines, abs=0.5)
    for path, file in profile["files"].items():
        assert sum(map(total, file["lines"])) == pytest.approx(
            file["percent_cpu_time"], abs=0.2
        ), path


@pytest.mark.parametrize("name", PROGRAMS_TO_CHECK)
def test_schema(profiled, name):
    """Finite numbers, known types, in range; and every key is documented."""
    profile = profiled(name).profile
    documented = (REPO / "docs" / "profile-format.md").read_text()
    unknown = {key for key in all_keys(profile) if f"`{key}`" not in documented}
    assert not unknown, f"not in docs/profile-format.md: {sorted(unknown)}"
    assert profile["elapsed_time_sec"] > 0
    for line in all_lines(profile):
        assert line["lineno"] >= 1 and isinstance(line["line"], str)
        for key, value in line.items():
            if key.startswith("n_") and key.endswith("percent"):
                assert 0 <= value <= 100.01, (key, value)
        assert 0 <= line["n_core_utilization"] <= 1
        assert len(line["cpu_samples_list"]) <= 500
        assert line["start_region_line"] <= line["lineno"] <= line["end_region_line"]
        if "n_samples" in line:
            assert 0 <= line["n_percent_low"] <= total(line) + 0.01
            assert total(line) - 0.01 <= line["n_percent_high"] <= 100.01


def all_keys(profile: dict) -> List[str]:
    """The names of all members, but for those that are names of files; checks numbers."""
    found = []

    def visit(value: Any, is_named: bool) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if not is_named:
                    found.append(key)
                visit(inner, not is_named and key == "files" and value is profile)
        elif isinstance(value, list):
            for inner in value:
                visit(inner, False)
        elif isinstance(value, float):
            assert math.isfinite(value)

    visit(profile, False)
    return sorted(set(found))


def test_json_is_strict(profiled):
    """No NaN or Infinity, which JSON does not know, and no key twice."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    def once(pairs: List[Tuple[str, Any]]) -> dict:
        assert len({key for key, _ in pairs}) == len(pairs), pairs
        return dict(pairs)

    text = profiled("natives.py").profile_path.read_text(encoding="utf-8")
    json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def test_what_the_profile_says_of_the_run(python, profiled):
    profile = profiled("ends.py", args=("os_exit",)).profile
    assert profile["program"] == str(FIGURES / "ends.py")
    assert profile["args"] == ["os_exit"]
    assert profile["entrypoint_dir"] == str(FIGURES)
    assert abs(profile["start_time_absolute"] - time.time()) < 3600
    said = profile["heatline"]["python"]
    assert re.match(r"%d\.%d\.\d+" % python.version, said), said


# ---- ends ----

ENDS = {
    "os_exit": 7,
    "abort": 134,
    "segfault": 139,
    "exception": 1,
    "exec": 0,
    "SIGKILL": 137,
    "SIGTERM": 143,
    "SIGINT": 130,
    "SIGALRM": 142,
}


@pytest.mark.parametrize("how", ENDS)
def test_profile_of_a_program_that_ends_badly(profiled, how):
    """However it ends, what was measured until then is there."""
    run = profiled("ends.py", args=(how,))
    status = run.returncode if run.returncode >= 0 else 128 - run.returncode
    assert status == ENDS[how], run
    assert total(line_of(run, "ends.py", "HOT")) > 50
    assert quality(run)["samples"] > 20


def test_short_program(profiled):
    """A program of some milliseconds has a valid profile, which says how little it knows."""
    run = profiled("short.py")
    assert run.returncode == 0
    assert run.profile["heatline"]["schema"] >= 1
    assert quality(run)["samples"] < 50
    assert re.search(r"sample", run.stderr), run.stderr


def test_empty_run_does_not_replace_a_profile(any_python, tmp_path):
    """A run in which nothing was Python leaves an older profile as it is."""
    outfile = tmp_path / "p.json"
    outfile.write_text('{"precious": 1}')
    done = any_python.heatline(["run", "-o", outfile, "true"], cwd=tmp_path)
    assert outfile.read_text() == '{"precious": 1}'
    assert done.returncode == 0 and done.stderr


def test_default_name(any_python, tmp_path):
    (tmp_path / "p.py").write_text("print(1)\n")
    done = any_python.heatline(["run", "--python", any_python.executable, "p.py"], cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads((tmp_path / "heatline-profile.json").read_text())["heatline"]
    assert sorted(os.listdir(tmp_path)) == ["heatline-profile.json", "p.py"]


def test_outfile_keeps_its_name(any_python, tmp_path):
    """Scalene would change the ending to .json."""
    done = any_python.heatline_run(FIGURES / "short.py", outfile=tmp_path / "my.profile")
    assert done.profile["heatline"]
    assert os.listdir(tmp_path) == ["my.profile"]


def test_nothing_is_left_behind(any_python, tmp_path):
    """No file in the temporary folder or in shared memory after the run."""

    def ours() -> List[str]:
        return [n for d in ("/tmp", "/dev/shm") for n in os.listdir(d) if "heatline" in n.lower()]

    place = {"TMPDIR": str(tmp_path)}
    before = set(ours())
    any_python.heatline_run(FIGURES / "ends.py", ["SIGKILL"], env=place)
    left = [name for name in set(ours()) - before if not name.startswith("heatline-tests")]
    assert not left or not any("%d" % os.getpid() in name for name in left), left
    assert os.listdir(tmp_path) == []


def test_profile_interval(any_python, tmp_path):
    """The profile is written while the program runs, and is valid at any moment."""
    outfile = tmp_path / "p.json"
    process = subprocess.Popen(
        any_python.command(
            [heatline_executable(), "run", "--quiet", "--python", any_python.executable]
            + ["--profile-interval", "0.2", "-o", outfile]
            + [PROGRAMS / "signals" / "endless.py", "2.5"]
        ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=clean_environment(),
    )
    seen = []
    while process.poll() is None:
        if outfile.exists():
            profile = json.loads(outfile.read_text())
            seen.append(
                (profile["heatline"]["quality"]["samples"], profile["heatline"]["is_partial"])
            )
        time.sleep(0.02)
    assert process.returncode == 0
    partial = {samples for samples, is_partial in seen if is_partial}
    assert len(partial) >= 3, seen
    final = json.loads(outfile.read_text())["heatline"]
    assert not final["is_partial"]
    assert final["quality"]["samples"] >= max(partial)


# ---- what is reported ----


def reported(run: ProfiledRun) -> Dict[str, float]:
    """Last parts of the files in the profile, and their shares."""
    files = run.profile["files"]
    return {Path(path).name: sum(map(total, file["lines"])) for path, file in files.items()}


def test_scope_is_the_program_s_folder(profiled):
    run = profiled("scopes/main.py")
    shares = reported(run)
    assert set(shares) == {"main.py", "beside.py", "below.py"}
    # What the library and the other folder did is the time of the line that called them.
    assert total(line_of(run, "scopes/main.py", "STANDARD")) > 15
    assert total(line_of(run, "scopes/main.py", "CALL")) > 15


def test_profile_all(profiled):
    shares = reported(profiled("scopes/main.py", "--profile-all"))
    assert {"beside.py", "below.py", "outside.py", "encoder.py"} <= set(shares)
    assert shares["outside.py"] > 5 and shares["encoder.py"] > 5


def test_system_libraries(profiled):
    shares = reported(profiled("scopes/main.py", "--profile-system-libraries"))
    assert "encoder.py" in shares


def test_profile_only(profiled):
    shares = reported(profiled("scopes/main.py", "--profile-only", "below,beside"))
    assert set(shares) == {"below.py", "beside.py"}


def test_profile_exclude(profiled):
    shares = reported(profiled("scopes/main.py", "--profile-exclude", "library"))
    assert set(shares) == {"main.py", "beside.py"}


def test_program_path(profiled):
    shares = reported(profiled("scopes/main.py", "--program-path", str(FIGURES)))
    assert set(shares) == {"main.py", "beside.py", "below.py", "outside.py"}


def test_reduced_profile(profiled):
    whole = profiled("shapes.py")
    reduced = profiled("shapes.py", "--cpu-only", "--reduced-profile")
    lines = reduced.profile["files"][str(FIGURES / "shapes.py")]["lines"]
    assert all(total(line) > 0 or line["n_inclusive_percent"] > 0 for line in lines)
    assert len(lines) < len(whole.profile["files"][str(FIGURES / "shapes.py")]["lines"])
    assert line_of(reduced, "shapes.py", "METHOD")["line"].strip().endswith("# METHOD")


def test_all_source_lines_are_listed(profiled):
    text = (FIGURES / "shapes.py").read_text().splitlines()
    lines = profiled("shapes.py").lines_of("shapes.py")
    assert [lines[number]["line"].rstrip("\n") for number in sorted(lines)] == text


def test_percent_threshold(profiled):
    run = profiled("scopes/main.py", "--cpu-only", "--cpu-percent-threshold", "90")
    assert run.profile["files"] == {} and "shown_percent" not in run.profile["heatline"]
    run = profiled("scopes/main.py", "--cpu-only", "--cpu-percent-threshold", "0")
    assert run.profile["heatline"]["shown_percent"] == 0


def test_no_stacks(profiled):
    profile = profiled("hot_line.py", "--no-stacks").profile
    assert profile["stacks"] == [] and "stacks" not in profile["heatline"]
    assert total(line_of(profiled("hot_line.py", "--no-stacks"), "hot_line.py", "HOT")) > 80


@pytest.mark.parametrize("interval", ["0.001", "0.02"])
def test_sampling_rate(profiled, interval):
    run = profiled("hot_line.py", "--cpu-sampling-rate", interval)
    wanted = 1 / float(interval)
    assert 0.3 * wanted <= quality(run)["rate_hz"] <= 2 * wanted, quality(run)
    assert total(line_of(run, "hot_line.py", "HOT")) >= 75


def test_config_file(any_python, tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text("profile-only: [below]\nreduced_profile: true\ncpu-percent-threshold: 0\n")
    run = any_python.heatline_run(FIGURES / "scopes" / "main.py", options=["-c", config])
    assert set(reported(run)) == {"below.py"}


# ---- reading it ----


@pytest.fixture(scope="session")
def scalene(tmp_path_factory):
    """The command of an installed Scalene, in the tests' environment or the benchmarks'."""
    for place in (Path(sys.prefix), REPO / ".test-env" / "venv", REPO / ".test-env" / "peers"):
        python = place / "bin" / "python"
        found = (
            python.exists()
            and not subprocess.run(
                [python, "-c", "import scalene"], stderr=subprocess.DEVNULL
            ).returncode
        )
        if found:
            return [str(python), "-m", "scalene"]
    pytest.skip("Scalene is not installed")


def plain_text(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_scalene_opens_our_profile(profiled, scalene, tmp_path):
    """scalene view --cli shows the same figures."""
    run = profiled("natives.py")
    shown = subprocess.run(
        [*scalene, "view", "--cli", run.profile_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=clean_environment({"COLUMNS": "200", "TERM": "xterm"}),
        encoding="utf-8",
        cwd=tmp_path,
        timeout=120,
    )
    assert shown.returncode == 0, shown.stdout
    text = plain_text(shown.stdout)
    for kind in NATIVES:
        line = line_of(run, "natives.py", f"NATIVE {kind}")
        row = next(row for row in text.splitlines() if f"NATIVE {kind}" in row)
        assert "%d%%" % round(line["n_cpu_percent_c"]) in row, row


def test_we_open_scalenes_profile(any_python, scalene, tmp_path):
    outfile = tmp_path / "scalene.json"
    made = subprocess.run(
        [*scalene, "run", "--cpu-only", "-o", outfile, FIGURES / "hot_line.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=clean_environment(),
        cwd=tmp_path,
        timeout=120,
    )
    assert outfile.exists(), made.stdout
    shown = any_python.heatline(["view", "--cli", outfile], env={"COLUMNS": "150"})
    assert shown.returncode == 0, shown.stderr
    assert "# HOT" in shown.stdout


def test_we_open_our_profile(profiled, any_python):
    run = profiled("natives.py")
    shown = any_python.heatline(["view", "--cli", run.profile_path], env={"COLUMNS": "150"})
    assert shown.returncode == 0 and shown.stderr == "", shown.stderr
    for kind in NATIVES:
        assert f"# NATIVE {kind}" in shown.stdout
    assert "\x1b" not in shown.stdout


def test_busy_machine_is_told(any_python, tmp_path):
    """One CPU shared with another busy program: half of the time is spent standing ready."""
    allowed = os.sched_getaffinity(0)
    cpu = min(allowed)
    script = tmp_path / "busy.py"
    script.write_text("import time\nend = time.process_time() + 1\nwhile time.process_time() < end: pass\n")
    alone = f"import os; os.sched_setaffinity(0, [{cpu}]); "
    other = subprocess.Popen([sys.executable, "-c", alone + "exec('while True: pass')"])
    try:
        os.sched_setaffinity(0, [cpu])
        run = any_python.heatline_run(script)
    finally:
        os.sched_setaffinity(0, allowed)
        other.kill()
        other.wait()
    [said] = [text for text in quality(run)["warnings"] if "machine was busy" in text]
    stood = float(re.search(r"for (\d+\.\d) s", said).group(1))
    assert stood >= 0.3
    assert "machine was busy" in run.stderr
