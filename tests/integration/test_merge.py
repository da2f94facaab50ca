"""heatline merge: several profiles as one, whose sums are the sums of its parts."""

import json
import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import profiles
from support.paths import REPO
from support.profiles import Node
from support.runs import run


@pytest.fixture
def merge(heatline, tmp_path):
    """merge(profile, …): the merged profile."""

    def merge(*parts):
        paths = [profiles.write(tmp_path / f"part{i}.json", part) for i, part in enumerate(parts)]
        # The whole has texts of its own: what was a part's is overwritten when that is freed.
        run([heatline, "merge", *paths, "-o", tmp_path / "merged.json"], check=True,
            env={"MALLOC_PERTURB_": "85"})
        return json.loads((tmp_path / "merged.json").read_text())

    return merge


def lines_of(profile):
    return {
        (path, line["lineno"]): line
        for path, file in profile["files"].items()
        for line in file["lines"]
        if "n_samples" in line
    }


def tree_sums(profile):
    """{path of (function, file, line): its figures added up}."""
    stacks = profile["heatline"]["stacks"]
    paths, sums = [()], {}
    for row in stacks["nodes"][1:]:
        name, file, _ = stacks["functions"][row[1]]
        path = stacks["strings"][stacks["files"][file][0]]
        paths.append(paths[row[0]] + ((stacks["strings"][name], path, row[2]),))
        figures = dict(zip(profiles.FIGURES, row[3:]))
        known = sums.setdefault(paths[-1], dict.fromkeys(profiles.FIGURES, 0))
        for figure, value in figures.items():
            known[figure] += value
    return {path: figures for path, figures in sums.items() if any(figures.values())}


def make(python_s, *, path="/project/a.py", memory=None, **line):
    record = profiles.line(3, "work()", 0, python_s=python_s, samples=round(python_s * 100), **line)
    nodes = [Node(0, "<module>", path, 3, python=round(python_s * 1e6), cpu=7, samples=1)]
    functions = [profiles.function("<module>", 1, python_s=python_s)]
    return profiles.make({path: profiles.file([record], functions)}, nodes, memory=memory)


def test_same_program(merge):
    merged = merge(make(1), make(2), make(4))
    (line,) = lines_of(merged).values()
    assert line["python_s"] == pytest.approx(7)
    assert line["n_samples"] == 700
    assert line["n_cpu_percent_python"] == pytest.approx(100)
    assert merged["heatline"]["time"]["total_s"] == pytest.approx(7)
    assert merged["elapsed_time_sec"] == pytest.approx(7)
    assert merged["files"]["/project/a.py"]["functions"][0]["python_s"] == pytest.approx(7)
    (figures,) = tree_sums(merged).values()
    assert (figures["python"], figures["cpu"], figures["samples"]) == (7_000_000, 21, 3)


def test_different_programs(merge):
    merged = merge(make(1), make(3, path="/other/b.py"))
    assert {key: line["n_cpu_percent_python"] for key, line in lines_of(merged).items()} == {
        ("/project/a.py", 3): pytest.approx(25),
        ("/other/b.py", 3): pytest.approx(75),
    }


def test_memory_adds_up_but_the_peak_does_not(merge):
    low = make(1, memory={"peak_mb": 10, "allocated_mb": 100, "copied_mb": 1, "allocations": 5},
               n_malloc_mb=100, n_peak_mb=10, n_at_peak_mb=9, n_copy_mb=1)
    high = make(1, memory={"peak_mb": 40, "allocated_mb": 60, "copied_mb": 2, "allocations": 6},
                n_malloc_mb=60, n_peak_mb=39, n_at_peak_mb=38, n_copy_mb=2)
    for merged in (merge(low, high), merge(high, low)):
        (line,) = lines_of(merged).values()
        assert line["n_malloc_mb"] == 160
        assert (line["n_peak_mb"], line["n_at_peak_mb"]) == (39, 38)
        assert line["n_copy_mb"] == 3
        assert merged["max_footprint_mb"] == 40
        assert merged["heatline"]["memory"]["allocated_mb"] == 160


def test_tasks(merge):
    def with_tasks(await_s, mean, names, longest_s):
        part = make(1, await_s=await_s, n_async_await_percent=50, n_async_concurrency_mean=mean,
                    n_async_concurrency_peak=mean * 2, async_task_names=names)
        part["async_profile"] = True
        part["heatline"]["async"] = {"await_s": await_s, "blocking": [
            {"file": "/project/a.py", "line": 3, "function": "f", "count": 1,
             "longest_s": longest_s, "total_s": longest_s}]}
        return part

    merged = merge(with_tasks(1, 2, ["one"], 0.5), with_tasks(3, 6, ["two", "one"], 0.2), make(1))
    (line,) = lines_of(merged).values()
    assert line["async_task_names"] == ["one", "two"]
    assert (line["n_async_concurrency_mean"], line["n_async_concurrency_peak"]) == (5, 12)
    assert merged["heatline"]["async"]["await_s"] == 4
    (step,) = merged["heatline"]["async"]["blocking"]
    assert (step["count"], step["longest_s"], step["total_s"]) == (2, 0.5, 0.7)


def test_processes_threads_and_timelines_come_one_after_the_other(merge):
    def with_thread(name, node_us):
        part = make(node_us / 1e6)
        part["heatline"]["processes"] = [{"pid": 7, "parent_pid": 1, "command": name,
                                          "name": f"of {name}", "start_s": 0, "end_s": 1}]
        part["heatline"]["threads"] = [{"process": 0, "tid": 7, "name": name, "is_main": True,
                                        "cpu_s": 1, "off_cpu_s": 0, "samples": 3}]
        part["heatline"]["timeline"] = {
            "bin_s": node_us / 2e6, "bins": 2,
            "threads": [{"thread": 0, "python": [node_us // 2000] * 2}],
            "stacks": [[1, 0, node_us // 2], [1, 1, node_us // 2]]}
        part["heatline"]["stacks"]["threads"] = [[1, 0, node_us]]
        return part

    merged = merge(with_thread("first", 1_000_000), with_thread("second", 3_000_000))["heatline"]
    assert [p["start_s"] for p in merged["processes"]] == [0, 1]
    assert [p["name"] for p in merged["processes"]] == ["of first", "of second"]
    assert [(t["process"], t["name"]) for t in merged["threads"]] == [(0, "first"), (1, "second")]
    assert sorted(merged["stacks"]["threads"]) == [[1, 0, 1_000_000], [1, 1, 3_000_000]]
    timeline = merged["timeline"]
    assert timeline["bins"] <= 200
    assert timeline["bins"] * timeline["bin_s"] == pytest.approx(4)
    assert {t["thread"]: sum(t["python"]) for t in timeline["threads"]} == {0: 1000, 1: 3000}
    early = sum(us for _, bin, us in timeline["stacks"] if (bin + 0.5) * timeline["bin_s"] < 1)
    assert early == 1_000_000
    assert sum(us for _, _, us in timeline["stacks"]) == 4_000_000


@st.composite
def random_profiles(draw):
    names = ["f", "g", "h;\n\x1b", '"']
    paths = ["/project/a.py", "/project/b\u202e.py", "/lib/c.py"]
    figures = st.dictionaries(st.sampled_from(profiles.FIGURES[:10]), st.integers(0, 10**6),
                              max_size=4)
    nodes = [
        Node(draw(st.integers(0, index)), draw(st.sampled_from(names)),
             draw(st.sampled_from(paths)), draw(st.integers(1, 3)), **draw(figures))
        for index in range(draw(st.integers(1, 8)))
    ]
    files = {}
    for path in draw(st.lists(st.sampled_from(paths), unique=True, max_size=3)):
        numbers = draw(st.lists(st.integers(1, 9), unique=True, min_size=1, max_size=4))
        files[path] = profiles.file([
            profiles.line(number, "text", 0, python_s=draw(st.integers(0, 1000)) / 1000,
                          wait_s=draw(st.integers(0, 1000)) / 1000,
                          n_malloc_mb=draw(st.integers(0, 50)), samples=draw(st.integers(1, 9)))
            for number in sorted(numbers)])
    memory = {"peak_mb": draw(st.integers(0, 9))}
    return profiles.make(files, nodes, memory=memory, outside_s=draw(st.integers(0, 5)))


@settings(max_examples=30, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(random_profiles(), min_size=2, max_size=3))
def test_sums_of_the_merged_are_sums_of_the_parts(merge, parts):
    merged = merge(*parts)
    total_s = sum(part["heatline"]["time"]["total_s"] for part in parts)
    assert merged["heatline"]["time"]["total_s"] == pytest.approx(total_s, abs=1e-6)
    expected = {}
    for part in parts:
        for path, figures in tree_sums(part).items():
            known = expected.setdefault(path, dict.fromkeys(profiles.FIGURES, 0))
            for figure, value in figures.items():
                known[figure] += value
    assert tree_sums(merged) == expected
    found = lines_of(merged)
    for key in {key for part in parts for key in lines_of(part)}:
        records = [lines_of(part)[key] for part in parts if key in lines_of(part)]
        for figure in ("python_s", "wait_s", "n_malloc_mb"):
            wanted = sum(record.get(figure, 0) for record in records)
            assert found[key][figure] == pytest.approx(wanted, abs=1e-6)


def test_real_profiles(any_python, heatline, program, tmp_path):
    """Two runs; what was merged can be merged, viewed and exported again."""
    script = program("def f(n):\n    return sum(range(n))\nfor i in range(40): f(300000)\n")
    for name in ("one.json", "two.json"):
        any_python.heatline_run(script, outfile=tmp_path / name)
    run([heatline, "merge", "one.json", "two.json", "-o", "m.json"], cwd=tmp_path, check=True)
    run([heatline, "merge", "m.json", "one.json"], cwd=tmp_path, check=True)
    totals = [json.loads((tmp_path / name).read_text())["heatline"]["time"]["total_s"]
              for name in ("one.json", "two.json", "m.json", "heatline-merged.json")]
    assert totals[2] == pytest.approx(totals[0] + totals[1])
    assert totals[3] == pytest.approx(totals[2] + totals[0])
    run([heatline, "view", "--cli", "m.json"], cwd=tmp_path, check=True)
    run([heatline, "diff", "one.json", "m.json"], cwd=tmp_path, check=True)


def test_bad_input(heatline, tmp_path):
    golden = REPO / "tests" / "golden" / "heatline.json"
    (tmp_path / "cut.json").write_bytes(golden.read_bytes()[:2000])
    for words in ([], [golden, "cut.json"], ["no.json", golden],
                  [golden, golden, "-o", "no/such/folder.json"], [golden, golden, "-o", "."]):
        done = run([heatline, "merge", *words], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert re.fullmatch(r"heatline: [^\n]+\n", done.stderr)
    assert os.listdir(tmp_path) == ["cut.json"]


def test_one_alone_is_written_again(heatline, tmp_path):
    """Also with a source that somebody else has put in: its lines are listed and its loops found."""
    source = "for i in range(9):\n    f(i)\nprint(1)\n"
    record = {"lineno": 2, "line": "", "python_s": 1, "n_samples": 9}
    file = {"lines": [record], "functions": [], "reduced": True, "source": source}
    own = {"schema": 1, "time": {"total_s": 1, "elapsed_s": 1}}
    (tmp_path / "p.json").write_text(json.dumps({"files": {"Cell [3]": file}, "heatline": own}))
    run([heatline, "merge", "p.json", "-o", "p.json"], cwd=tmp_path, check=True)
    lines = json.loads((tmp_path / "p.json").read_text())["files"]["Cell [3]"]["lines"]
    assert [line["line"] for line in lines] == source.splitlines(keepends=True)
    assert (lines[1]["start_region_line"], lines[1]["end_region_line"]) == (1, 2)


def test_scalene_and_heatline(heatline, tmp_path):
    golden = REPO / "tests" / "golden"
    out = tmp_path / "m.json"
    run([heatline, "merge", golden / "scalene.json", golden / "heatline.json", "-o", out],
        check=True)
    run([heatline, "merge", out, golden / "scalene-memory.json", "-o", out], check=True)
    assert json.loads(out.read_text())["heatline"]["time"]["total_s"] > 0


def test_many_stacks(merge):
    """Two trees that are too much for one profile are folded, and lose no time."""
    def deep(start):
        nodes = [Node(0, "f", "/project/a.py", start + i, python=10 + i % 7, samples=1)
                 for i in range(40000)]
        return profiles.make({}, nodes)

    merged = merge(deep(0), deep(100_000))
    sums = tree_sums(merged) | {}
    root = dict(zip(profiles.FIGURES, merged["heatline"]["stacks"]["nodes"][0][3:]))
    total = sum(figures["python"] for figures in sums.values()) + root.get("python", 0)
    assert total == 2 * sum(10 + i % 7 for i in range(40000))
