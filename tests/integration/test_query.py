"""heatline query: short answers, the same as text and as JSON, that say what they leave out."""

import json

import pytest

from support import profiles
from support.runs import run

SOURCE = ["def work(items):", "    for item in items:", "        step(item)", "", "def step(item):",
          "    return item ** 2", "work(range(9))"]


@pytest.fixture
def query(heatline, tmp_path):
    """query("source", "--at", "main.py"): the answer as JSON, and the text beside it."""
    make(tmp_path / "heatline-profile.json")

    def ask(*words):
        done = run([heatline, "query", *words, "--json"], cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), done
        answer = json.loads(done.stdout)
        answer["printed"] = run([heatline, "query", *words], cwd=tmp_path, check=True).stdout
        return answer

    return ask


def make(path, step_s=3.0, extra_lines=0):
    lines = [
        profiles.line(2, SOURCE[1], 1, python_s=1.0, samples=100),
        profiles.line(3, SOURCE[2], 1, samples=0, inclusive_s=step_s),
        profiles.line(6, SOURCE[5], 5, native_s=step_s, samples=int(100 * step_s), n_peak_mb=8, n_at_peak_mb=8,
                      n_malloc_mb=9, n_mallocs=3, n_copy_mb=50),
    ]
    lines += [profiles.line(10 + i, "pass", python_s=0.01, samples=1) for i in range(extra_lines)]
    functions = [
        profiles.function("work", 1, python_s=1.0, inclusive_s=1 + step_s),
        profiles.function("step", 5, native_s=step_s),
    ]
    main = "/project/main.py"
    nodes = [
        profiles.Node(0, "<module>", main, 7),
        profiles.Node(1, "work", main, 2, samples=100, python=1_000_000),
        profiles.Node(1, "work", main, 3),
        profiles.Node(3, "step", main, 6, samples=300, native=int(step_s * 1e6)),
    ]
    file = profiles.file(lines, functions)
    file["reduced"], file["source"] = True, "\n".join(SOURCE) + "\n"
    memory = {"peak_mb": 10, "peak_s": 1, "allocated_mb": 9, "allocations": 3, "copied_mb": 50}
    profile = profiles.make({main: file}, nodes, memory=memory)
    profile["heatline"]["advice"] = [
        {"rule": "leak", "file": main, "line": 6, "title": "T", "evidence": "E.", "fix": "F.", "share": 0.5}
    ] * 3
    return profiles.write(path, profile)


def test_summary(query):
    answer = query("summary")
    assert [line["line"] for line in answer["lines"]] == [6, 2]
    assert answer["lines"][0] | {"file": "main.py", "function": "step", "percent": 75} == answer["lines"][0]
    assert (answer["peak_mb"], answer["advice"], answer["cut"]) == (10, 3, None)
    assert " 75.0%  3.00 s  main.py:6  [native 100%]  return item ** 2" in answer["printed"]


def test_hot_lines_and_what_is_cut(query, tmp_path):
    assert [row["line"] for row in query("hot-lines")["lines"]] == [6, 2]
    one = query("hot-lines", "--top", "1")
    assert [row["line"] for row in one["lines"]] == [6]
    assert one["cut"] == "1 of 2 lines shown; ask with a larger top or a smaller min_percent"
    assert f"({one['cut']})" in one["printed"]
    assert [row["line"] for row in query("hot-lines", "--min-percent", "50")["lines"]] == [6]
    assert [row["function"] for row in query("hot-lines", "--by", "function", "-m", "inclusive")["functions"]] == [
        "work", "step"]
    assert [row["line"] for row in query("hot-lines", "-m", "copied")["lines"]] == [6]
    assert query("hot-lines", "--by", "file")["files"][0]["percent"] == 100
    make(tmp_path / "long.json", extra_lines=1000)
    long = query("hot-lines", "--top", "200", "long.json")
    assert len(long["printed"]) <= 8000 and "as many as fit" in long["cut"]
    assert len(long["lines"]) == long["printed"].count("main.py:")


def test_source(query):
    for place in ("main.py:6", "/project/main.py", "project/main.py:1-7"):
        answer = query("source", "--at", place)
        assert [row["text"] for row in answer["lines"]] == SOURCE
        assert answer["lines"][5]["percent"] == 75 and "percent" not in answer["lines"][3]
    assert [row["line"] for row in query("source", "--at", "main.py:2-3")["lines"]] == [2, 3]
    assert [row["line"] for row in query("source", "--at", "step")["lines"]] == [5, 6]


def test_callers(query):
    for place in ("step", "main.py:6"):
        answer = query("callers", "--at", place)
        assert [(row["function"], row["line"]) for row in answer["callers"]] == [("work", 3)]
        assert answer["inclusive_percent"] == 75 and answer["callees"] == []
    answer = query("callers", "--at", "work")
    assert [(row["function"], row["seconds"]) for row in answer["callers"]] == [("<module>", 4)]
    assert [row["function"] for row in answer["callees"]] == ["step"]


def test_memory_and_advice(query):
    assert [row["line"] for row in query("memory")["lines"]] == [6]
    assert [row["line"] for row in query("memory", "--view", "copies")["lines"]] == [6]
    assert query("memory", "--view", "leaks")["lines"] == []
    advice = query("advice", "--top", "2")
    assert [row["rule"] for row in advice["advice"]] == ["leak", "leak"] and "2 of 3" in advice["cut"]
    assert "main.py:6  T\n  E.\n  F.\n" in advice["printed"]


def test_compare(query, tmp_path):
    make(tmp_path / "old.json", step_s=9)
    answer = query("compare", "old.json", "heatline-profile.json")
    assert answer["verdict"].startswith("Faster") and answer["is_real"]
    assert [(row["line"], row["before_s"], row["after_s"]) for row in answer["lines"]] == [(6, 9, 3)]


@pytest.mark.parametrize(
    "words, sentence",
    [
        ([], "say what to ask"),
        (["sumary"], "did you mean 'summary'"),
        (["frobnicate"], "there is no question 'frobnicate'"),
        (["summary", "missing.json"], "missing.json"),
        (["summary", "p.json", "q.json"], "'q.json' is a second one"),
        (["compare", "p.json"], "compare takes two profiles"),
        (["source"], "say where: --at FILE"),
        (["source", "--at", "main.py:9999"], "'main.py' has no line 9999, only "),
        (["callers", "--at", "main.py:9999"], "'main.py' has no line 9999, only "),
        (["source", "--at", "other.py:3"], "no figures for a file 'other.py'"),
        (["source", "--at", "main.py:3-1"], "'3-1' is no line of 'main.py': a line is FILE:LINE"),
        (["callers", "--at", "main.py:0"], "'0' is no line of 'main.py'"),
        (["source", "--at", "nobody:x"], "no figures for a file or a function 'nobody:x'"),
        (["callers", "--at", "nobody"], "no figures for a file or a function 'nobody'"),
        (["hot-lines", "--by", "colour"], "line|function|file"),
        (["hot-lines", "--top", "0"], "--top"),
    ],
)
def test_bad_questions(heatline, tmp_path, words, sentence):
    make(tmp_path / "heatline-profile.json")
    done = run([heatline, "query", *words], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("heatline: ") and done.stderr.count("\n") == 1
    assert sentence.replace("|", ", ") in done.stderr or sentence in done.stderr


def test_hostile_names_are_harmless_in_a_terminal(heatline, tmp_path):
    lines = [profiles.line(1, "x = '\x1b[2J'", python_s=1, samples=100)]
    file = profiles.file(lines, [profiles.function("f\x1b]0;t\x07", 1, python_s=1)])
    file["reduced"], file["source"] = True, "x = '\x1b[2J'\n"
    path = profiles.write(tmp_path / "p.json", profiles.make({"/project/a\x1b[31m.py": file}))
    for words, shown in (
        (["summary"], "a\\x1b[31m.py:1"),
        (["hot-lines", "--by", "function"], "f\\x1b]0;t\\x07"),
        (["source", "--at", "a\x1b[31m.py"], "x = '\\x1b[2J'"),
    ):
        done = run([heatline, "query", *words, path], cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert shown in done.stdout and "\x1b" not in done.stdout and "\x07" not in done.stdout
    refused = run([heatline, "query", "source", "--at", "a\x1b[31m.py:9", path], cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "'a\\x1b[31m.py' has no line 9" in refused.stderr and "\x1b" not in refused.stderr


def test_as_many_samples_as_the_report_tells(heatline, tmp_path):
    """Looks at threads whose waiting is no part of the total are none of it."""
    path = make(tmp_path / "p.json")
    profile = json.loads(path.read_text())
    profile["heatline"]["quality"].update(samples=300, wait_samples=90, idle_samples=70)
    profiles.write(path, profile)
    told = [["query", "summary"], ["view", "--cli"], ["export", "-f", "markdown", "-o", "-"]]
    for words in told:
        assert "320 samples" in run([heatline, *words, path], check=True).stdout, words
    answer = run([heatline, "query", "summary", "--json", path], check=True).stdout
    assert json.loads(answer)["samples"] == 320
