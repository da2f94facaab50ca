"""heatline.Profile: a profile file as Python objects, tables, a page."""

import html.parser
import json
import subprocess

import pytest

from support import package
from support.paths import REPO

package.import_here()
import heatline  # noqa: E402

PROGRAM = """
import time

def work():
    total = 0
    for i in range(1_500_000):
        total += i * i % 7
    return total

def hold():
    return bytearray(30 << 20)

work()
kept = hold()
time.sleep(0.2)
text = "</script><b>&amp;"
"""


@pytest.fixture(scope="module")
def measured(any_python, tmp_path_factory):
    """(script, path of its profile)"""
    script = tmp_path_factory.mktemp("measured") / "program.py"
    script.write_text(PROGRAM)
    done = any_python.heatline_run(script)
    assert done.returncode == 0, done
    return script, done.profile_path


@pytest.fixture
def executable_on_path(monkeypatch):
    monkeypatch.setenv("PATH", package.environment()["PATH"])


@pytest.fixture
def profile(measured, executable_on_path):
    return heatline.Profile(measured[1])


def line_number(text):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def test_lines_are_those_of_the_file(profile, measured):
    script, path = measured
    lines = {line.line: line for line in profile.lines}
    raw = {r["lineno"]: r for r in json.loads(path.read_text())["files"][str(script)]["lines"]}
    for number, line in lines.items():
        assert line.file == str(script) and line.text == raw[number]["line"].strip()
        kinds = line.python_s + line.native_s + line.system_s + line.wait_s
        assert line.seconds == pytest.approx(kinds)
        assert line.percent == pytest.approx(100 * line.seconds / profile.total_s)
        assert line.samples == raw[number]["n_samples"]
    assert lines[line_number("sleep(0.2)")].wait_s > 0.15
    assert lines[line_number("30 << 20")].peak_mb == pytest.approx(30, rel=0.05)
    assert lines[line_number("30 << 20")].kept_mb == pytest.approx(30, rel=0.05)
    assert line_number("def hold") not in lines or lines[line_number("def hold")].seconds < 0.05


def test_the_hottest_come_first(profile):
    for records in (profile.lines, profile.functions):
        times = [record.seconds for record in records]
        assert times == sorted(times, reverse=True) and times[0] > 0
    assert {"work", "hold", "<module>"} <= {function.name for function in profile.functions}


def test_totals(profile):
    assert profile.program.endswith("program.py") and profile.has_memory
    assert profile.peak_mb >= 29 and profile.total_s > 0.2 and profile.elapsed_s > 0.2
    assert sum(line.percent for line in profile.lines) <= 100.1


def test_summary_names_the_hot_lines(profile):
    text = profile.summary()
    assert "program.py" in text.splitlines()[0] and "time.sleep(0.2)" in text and "peak" in text
    assert repr(profile) == text
    assert len(profile.summary(top=1).splitlines()) < len(text.splitlines())


def test_a_summary_does_not_steer_the_terminal():
    line = {"lineno": 1, "line": 'x = "\x1b[2J\u202e\ud800"\tüber\u3000', "python_s": 1.0}
    warnings = ["a\nb\x07"]
    profile = heatline.Profile({
        "program": "\x1b]0;t\x07", "files": {"\x9bm.py": {"lines": [line]}},
        "heatline": {"time": {"total_s": 1.0}, "quality": {"warnings": warnings}},
    })
    text = profile.summary()
    assert all(row.isprintable() for row in text.splitlines())
    assert r'x = "\x1b[2J\u202e\ud800" über' in text and r"\x9bm.py:1" in text and r"a\nb\x07" in text


def test_the_whole_by_kind(profile):
    """Also what is on no line: the kinds add up to the total."""
    kinds = ("python_s", "native_s", "system_s", "wait_s")
    assert sum(map(profile.seconds_of, kinds)) == pytest.approx(profile.total_s, rel=0.01)


def test_advice():
    item = {"file": "Cell [2]", "line": 4, "title": "Searches a list", "rule": "x"}
    profile = heatline.Profile({"files": {}, "heatline": {"advice": [item]}})
    assert profile.advice == [(("Cell [2]", 4), "Searches a list")]
    assert "Advice: Cell [2] line 4  Searches a list" in profile.summary()


def test_saved_is_the_same_file(profile, measured, tmp_path):
    target = tmp_path / "again.json"
    target.write_text("old")
    profile.save(target)
    assert target.read_bytes() == measured[1].read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again.json"]


def test_from_a_dict_and_back(profile, measured, tmp_path):
    other = heatline.Profile(json.loads(measured[1].read_text()))
    assert other.lines == profile.lines
    other.save(tmp_path / "p.json")
    assert heatline.Profile(tmp_path / "p.json").lines == profile.lines


def test_a_failed_save_leaves_nothing(profile, tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError):
        profile.save(tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"{}", b'{"files": 3}', b'{"files": {"a.py": 3}}', b'{"files": {}, "heatline": [3]}', b"null",
     b"\x80\xff", b"[" * 200000],
)
def test_what_is_no_profile_is_refused(tmp_path, data):
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="bad.json is not a profile"):
        heatline.Profile(path)


def test_scalenes_file_opens(executable_on_path):
    [path] = list((REPO / "tests/golden").glob("**/scalene*.json"))[:1]
    profile = heatline.Profile(path)
    assert profile.lines and profile.lines[0].seconds > 0 and profile.summary()
    assert "&lt;" not in "".join(line.text for line in profile.lines)


def test_dataframe(profile):
    pandas = pytest.importorskip("pandas")
    frame = profile.to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(profile.lines)
    assert frame["seconds"].sum() == pytest.approx(sum(line.seconds for line in profile.lines))
    assert list(profile.to_dataframe("functions")["name"]) == [f.name for f in profile.functions]
    with pytest.raises(ValueError, match="lines"):
        profile.to_dataframe("files")


def test_without_pandas_it_says_so(profile, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        profile.to_dataframe()


class Elements(html.parser.HTMLParser):
    """Every start tag with its attributes, and the text of cells."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text.append(data)


def test_in_a_notebook(profile):
    shown = Elements(profile._repr_html_())
    names = [name for name, _ in shown.tags]
    assert names.index("table") < names.index("iframe") and "script" not in names
    assert "time.sleep(0.2)" in shown.text
    [frame] = [attributes for name, attributes in shown.tags if name == "iframe"]
    assert frame["srcdoc"] == profile.to_html() and "src" not in frame
    assert "allow-same-origin" not in frame["sandbox"] and "allow-scripts" in frame["sandbox"]
    assert frame["srcdoc"].startswith("<!doctype html") or frame["srcdoc"].startswith("<!DOCTYPE html")


def test_hostile_names_stay_text(executable_on_path):
    bad = "<img src=x onerror=alert(1)>\"'&"
    record = {"lineno": 1, "line": bad, "python_s": 1.0}
    data = {"program": bad, "files": {bad: {"lines": [record], "functions": []}}}
    data["heatline"] = {"time": {"total_s": 1.0}, "quality": {"warnings": [bad]}}
    shown = Elements(heatline.Profile(data)._repr_html_())
    assert "img" not in [name for name, _ in shown.tags]
    assert any(bad in text for text in shown.text)


def test_without_the_page_there_is_still_the_table(profile, monkeypatch, tmp_path):
    monkeypatch.setattr("heatline.results.command", lambda: str(tmp_path / "missing"))
    shown = Elements(profile._repr_html_())
    assert "iframe" not in [name for name, _ in shown.tags]
    assert "time.sleep(0.2)" in shown.text and any("cannot be shown" in text for text in shown.text)


def test_what_is_too_large_for_a_notebook_is_left_out(profile, monkeypatch):
    monkeypatch.setattr("heatline._show.FRAME_MAX_BYTES", 1000)
    shown = Elements(profile._repr_html_())
    assert "iframe" not in [name for name, _ in shown.tags]
    assert any("too large" in text for text in shown.text)


def test_compare(profile):
    assert "No difference in time" in profile.compare(profile)


def test_a_sentence_of_the_command_is_the_error(executable_on_path):
    profile = heatline.Profile({"files": {}, "heatline": {"schema": 99}})
    with pytest.raises(RuntimeError, match="^heatline: "):
        profile.to_html()


def test_on_every_python(python, measured):
    """The package is imported without its heavy parts, and opens a profile."""
    script = (
        "import sys, heatline\n"
        "assert not {'json', 'subprocess', 'heatline.results'} & set(sys.modules), 'imported too much'\n"
        "assert set(heatline.__all__) <= set(dir(heatline))\n"
        "profile = heatline.Profile(sys.argv[1])\n"
        "print(profile.lines[0].seconds > 0, profile.summary() != '', '<iframe' in profile._repr_html_())\n"
        "try: heatline.nothing\n"
        "except AttributeError: print('no such name')\n"
    )
    done = python.run_plain(["-c", script], measured[1], env=package.environment())
    assert done.stdout.splitlines() == ["True True True", "no such name"], done.stderr
    assert isinstance(done, subprocess.CompletedProcess)
