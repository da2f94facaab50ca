"""Memory: every way to get some gives the lines and megabytes that it must, on every Python.

The programs say in comments (``#: malloc 40, kept 0``, see programs/allocations/lines.py)
what the profile must show.  Bounds are loose; bench/accuracy measures how true it is.
"""

import glob
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest

from support.again import Kept
from support.paths import PROGRAMS
from support.runs import ProfiledRun

pytestmark = pytest.mark.measures

FOLDER = PROGRAMS / "allocations"
KEYS = {
    "malloc": "n_malloc_mb",
    "kept": "n_kept_mb",
    "peak": "n_peak_mb",
    "copy": "n_copy_mb",
    "python": "n_python_fraction",
    "count": "n_mallocs",
}
TOLERANCE = 0.15
NOTHING_MB = 0.25  # what a line that does nothing to memory may have by chance
ALLOCATORS = {
    "jemalloc": "libjemalloc.so.2",
    "mimalloc": "libmimalloc.so.*",
    "tcmalloc": "libtcmalloc_minimal.so.4",
}


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """build("helper.c"): the path of the shared library made of it."""
    folder = tmp_path_factory.mktemp("helpers")

    def make(name: str) -> Path:
        compiler = "g++" if name.endswith(".cc") else "gcc"
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler} on this machine")
        library = folder / (name.split(".")[0] + ".so")
        if not library.exists():
            command = [compiler, "-shared", "-fPIC", "-O0", "-g", "-pthread"]
            subprocess.run([*command, "-o", library, FOLDER / name], check=True)
        return library

    return make


@pytest.fixture(scope="session")
def profiled(python):
    """profiled("name.py", options…, args=…, env=…): the finished run, made once."""
    runs = Kept()

    def run(name: str, *options: str, args: Tuple = (), env: Any = None) -> ProfiledRun:
        key = (name, options, args, tuple(sorted((env or {}).items())))
        done = runs.get(
            key, lambda: python.heatline_run(FOLDER / name, args, ["--quiet", *options], env=env)
        )
        assert (done.returncode, done.stderr) == (0, ""), done
        return done

    return run


def expectations(name: str) -> Dict[int, Dict[str, float]]:
    """{line: {"malloc": 40.0, …}} of the program's comments."""
    found = {}
    for number, text in enumerate((FOLDER / name).read_text().splitlines(), 1):
        comment = re.search(r"#: (.*)$", text)
        if comment:
            pairs = (pair.split() for pair in comment.group(1).split(", "))
            found[number] = {what: float(value) for what, value in pairs}
    return found


def marked_line(name: str, mark: str) -> int:
    lines = (FOLDER / name).read_text().splitlines()
    return next(i for i, text in enumerate(lines, 1) if text.endswith("# " + mark))


def is_near(what: str, seen: float, wanted: float) -> bool:
    if what == "python":
        return abs(seen - wanted) <= 0.04  # 8 MB and one small object that stands for NOTHING_MB
    if wanted == 0:
        return seen <= NOTHING_MB
    return abs(seen - wanted) <= TOLERANCE * wanted + NOTHING_MB


def differences(run: ProfiledRun, name: str, but: Tuple[str, ...] = ()) -> List[str]:
    """Sentences about what is not as the program's comments say."""
    lines, found = run.lines_of(FOLDER / name), []
    for number, wanted in expectations(name).items():
        line = lines.get(number, {})
        for what, value in wanted.items():
            seen = line.get(KEYS[what], 0)
            if what not in but and not is_near(what, seen, value):
                found.append(f"line {number}: {what} should be {value:g}, is {seen:g}")
    return found


def memory_figures(profile: Any, path: str = "") -> Iterator[Tuple[str, float]]:
    """Every number of the profile that speaks of memory, with where it stands."""
    items = profile.items() if isinstance(profile, dict) else enumerate(profile)
    for key, value in items:
        here = f"{path}/{key}"
        if isinstance(value, (dict, list)):
            yield from memory_figures(value, here)
        elif isinstance(value, (int, float)) and re.search("_mb|malloc|fraction|memory", here):
            yield here, value


def check_sane(run: ProfiledRun) -> None:
    """What holds for every profile: nothing negative, nothing lost, parts within the whole."""
    profile = run.profile
    figures = list(memory_figures(profile))
    assert not [figure for figure in figures if figure[1] < 0 and "growth" not in figure[0]]
    whole = profile["heatline"]["memory"]
    lines = [line for file in profile["files"].values() for line in file["lines"]]
    lines = [line for line in lines if line["n_malloc_mb"] > 0]
    assert sum(line["n_malloc_mb"] for line in lines) <= whole["allocated_mb"] * 1.001 + 0.01
    is_alone = len(profile["heatline"]["processes"]) == 1
    for line in lines:
        assert line["n_kept_mb"] <= line["n_peak_mb"] * 1.001 + 0.01 or not is_alone
        assert line["n_peak_mb"] <= line["n_malloc_mb"] * 1.001 + 0.01
        assert line["n_avg_mb"] <= line["n_peak_mb"] * 1.001 + 0.01
        assert 0 <= line["n_python_fraction"] <= 1
        assert 0 <= line["n_usage_fraction"] <= 1
    assert whole["peak_mb"] == profile["max_footprint_mb"] <= whole["allocated_mb"] + 20
    lost = {loss["reason"]: loss["count"] for loss in profile["heatline"]["quality"]["lost"]}
    assert not [reason for reason in lost if "alloc" in reason], lost


# ---- lines and volumes ----


def test_lines(profiled):
    run = profiled("lines.py")
    assert not differences(run, "lines.py")
    check_sane(run)


def test_small_copies_are_right(profiled):
    assert profiled("small_copies.py").stdout == "done\n"


def test_c_library(profiled, build):
    run = profiled("native.py", args=(build("helper.c"),))
    assert run.stdout == "done\n"
    assert not differences(run, "native.py")
    check_sane(run)
    whole = run.profile["heatline"]["memory"]
    lines = run.lines_of(FOLDER / "native.py").values()
    outside = whole["allocated_mb"] - sum(line["n_malloc_mb"] for line in lines)
    assert 7 <= outside <= 12  # what a thread without Python allocated


def test_cxx(profiled, build):
    run = profiled("cxx.py", args=(build("helper_cxx.cc"),))
    assert run.stdout == "done\n"
    assert not differences(run, "cxx.py")
    check_sane(run)


def test_forks(profiled):
    run = profiled("forks.py")
    assert run.stdout == "done\n"
    assert len(run.profile["heatline"]["processes"]) == 5
    assert not differences(run, "forks.py")
    check_sane(run)


@pytest.mark.parametrize("choice", ["malloc", "debug", "pymalloc_debug"])
def test_python_malloc(profiled, choice):
    run = profiled("lines.py", env={"PYTHONMALLOC": choice})
    assert not differences(run, "lines.py")
    check_sane(run)


def test_python_counts_its_blocks(profiled):
    """Sampled blocks are taken out of the arenas; Python's own count of them stays right."""
    run = profiled("blocks.py", "--allocation-sampling-window=2000")
    assert run.profile["alloc_samples"] > 1000
    assert abs(int(run.stdout)) < 100
    assert not differences(run, "blocks.py")
    check_sane(run)


def test_few_samples_of_many_sites(profiled):
    """How many blocks are sampled goes by what a program allocates, not by how many sizes its blocks have
    (9400 samples of these 200 MB before it did)."""
    run = profiled("texts.py")
    assert run.stdout == "12000\n"
    assert 500 < run.profile["alloc_samples"] < 5000
    assert not differences(run, "texts.py")


def find_allocator(name: str) -> str:
    for folder in ("/usr/lib/*", "/usr/lib", "/usr/local/lib"):
        for path in sorted(glob.glob(f"{folder}/{ALLOCATORS[name]}")):
            return path
    pytest.skip(f"{ALLOCATORS[name]} is not installed")


@pytest.mark.parametrize("allocator", sorted(ALLOCATORS))
def test_preloaded_allocator(profiled, python, build, allocator):
    if python.is_in_sid:
        pytest.skip("the sid tree has no other allocators")
    preload = {"LD_PRELOAD": find_allocator(allocator)}
    run = profiled("lines.py", env=preload)
    # Their realloc copies through memcpy, the C library's does not.
    assert not differences(run, "lines.py", but=("copy",))
    check_sane(run)
    run = profiled("native.py", args=(build("helper.c"),), env=preload)
    assert not differences(run, "native.py")
    check_sane(run)
    # They bring operators new and delete of their own, which we do not see; they must work.
    run = profiled("cxx.py", args=(build("helper_cxx.cc"), "no-throw"), env=preload)
    assert run.stdout == "done\n"


def test_scalene_window(profiled):
    """Scalene's default: a few samples of large blocks, right on average."""
    run = profiled("lines.py", "--allocation-sampling-window", "10485767")
    check_sane(run)
    exact = profiled("lines.py").profile["heatline"]["memory"]["allocated_mb"]
    assert 0.6 * exact < run.profile["heatline"]["memory"]["allocated_mb"] < 1.5 * exact


# ---- the whole program ----


def test_footprint(profiled):
    run = profiled("footprint.py")
    profile = run.profile
    assert 58 <= profile["max_footprint_mb"] <= 68
    assert profile["max_footprint_lineno"] == marked_line("footprint.py", "PEAK")
    assert profile["max_footprint_python_fraction"] > 0.9
    memory = profile["heatline"]["memory"]
    assert 195 <= memory["allocated_mb"] <= 215
    timeline = memory["timeline"]
    assert max(point[1] for point in timeline) == pytest.approx(memory["peak_mb"], rel=0.02)
    assert timeline[-1][1] < 30
    times = [point[0] for point in timeline]
    assert times == sorted(times)
    line = run.lines_of(FOLDER / "footprint.py")[marked_line("footprint.py", "PEAK")]
    assert line["n_at_peak_mb"] == pytest.approx(40, abs=1)
    check_sane(run)


def test_untouched_memory_stays_untouched(profiled):
    assert profiled("lazy.py").stdout == "lazy\n"


def test_own_memory_is_not_counted(python, program):
    """A program that does nothing: what the profiler itself needs is not in the figures."""
    script = program("""
        with open("/proc/self/status") as status:
            print(next(line for line in status if line.startswith("VmHWM")).split()[1])
        """)
    run = python.heatline_run(script)
    memory = run.profile["heatline"]["memory"]
    assert memory["allocated_mb"] < 3
    assert memory["peak_mb"] < 12
    plain_mb = int(python.run_plain(script).stdout) / 1024
    assert int(run.stdout) / 1024 - plain_mb < 8


def test_cpu_only_has_no_memory(profiled):
    run = profiled("footprint.py", "--cpu-only")
    assert run.profile["memory"] is False
    assert run.profile["max_footprint_mb"] == 0
    for file in run.profile["files"].values():
        assert not [where for where, value in memory_figures(file) if value]


# ---- leaks ----


def test_leak_is_found_and_nothing_else(profiled):
    run = profiled("leaking.py", args=("2",))
    file = run.profile["files"][str(FOLDER / "leaking.py")]
    number = marked_line("leaking.py", "LEAK")
    assert list(file["leaks"]) == [str(number)]
    line, leak = run.lines_of(FOLDER / "leaking.py")[number], file["leaks"][str(number)]
    assert leak["likelihood"] >= 0.95
    assert leak["velocity_mb_s"] == pytest.approx(line["n_kept_mb"] / run.profile["elapsed_time_sec"], rel=0.4)
    assert line["n_kept_mb"] >= 0.95 * line["n_malloc_mb"]


@pytest.mark.parametrize("name", ["footprint.py", "lines.py", "forks.py"])
def test_no_leak_no_accusation(profiled, name):
    run = profiled(name)
    assert not any(file["leaks"] for file in run.profile["files"].values())


def test_leak_detector_can_be_switched_off(profiled):
    run = profiled("leaking.py", "--no-memory-leak-detector", args=("0.5",))
    assert not any(file["leaks"] for file in run.profile["files"].values())


# ---- tracemalloc ----


@pytest.mark.parametrize("env", [{}, {"PYTHONTRACEMALLOC": "2"}], ids=["own", "from the start"])
def test_tracemalloc_works(python, profiled, env):
    plain = python.run_plain(FOLDER / "traced.py", env=env)
    run = profiled("traced.py", env=env)
    assert run.stdout == plain.stdout
    lines = run.lines_of(FOLDER / "traced.py")
    for mark, mb, kept_mb in ("TRACED", 10, 0), ("UNTRACED", 20, 0), ("TRACED AGAIN", 10, 10):
        line = lines[marked_line("traced.py", mark)]
        assert line["n_malloc_mb"] == pytest.approx(mb, rel=0.1)
        assert line["n_kept_mb"] == pytest.approx(kept_mb, rel=0.1, abs=NOTHING_MB)
