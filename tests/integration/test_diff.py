"""heatline diff and check: what changed, what is noise, and what fails a build."""

import json
import os
import re
import textwrap

import pytest

from support import profiles
from support.paths import REPO
from support.runs import run

SOURCE = ["def work():", "    first_step()", "    second_step()", "    last_step()"]


def make(times, *, source=SOURCE, samples_per_s=2000, root="/project", name="main.py", peaks=None):
    """A profile whose line i + 1 takes times[i] seconds."""
    lines = []
    for index, seconds in enumerate(times):
        memory = {}
        if peaks and peaks[index]:
            size = peaks[index]
            memory = {"n_peak_mb": size, "n_at_peak_mb": size, "n_malloc_mb": size, "n_mallocs": 1}
        if seconds or memory:
            lines.append(profiles.line(index + 1, source[index], 1, python_s=seconds,
                                       samples=round(seconds * samples_per_s), **memory))
    functions = [profiles.function("work", 1, python_s=sum(times))]
    whole = None
    if peaks:
        whole = {"peak_mb": sum(peaks), "allocated_mb": sum(peaks), "allocations": len(peaks)}
    files = {f"{root}/{name}": profiles.file(lines, functions)}
    return profiles.make(files, root=root, memory=whole)


@pytest.fixture
def compare(heatline, tmp_path):
    """compare(command, before, after, *options): the finished process."""

    def compare(command, before, after, *options, **env):
        old = profiles.write(tmp_path / "old.json", before)
        new = profiles.write(tmp_path / "new.json", after)
        words = [old, new] if command == "diff" else [new, "--baseline", old]
        return run([heatline, command, *words, *options], env=env, cwd=tmp_path)

    return compare


@pytest.fixture
def diff(compare):
    def diff(before, after):
        done = compare("diff", before, after, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    return diff


def changed(result, figure="time_s"):
    """{(line before, line after): change} of the lines that changed beyond noise."""
    return {
        (line["line_before"], line["line_after"]): line[figure]["after"] - line[figure]["before"]
        for line in result["lines"]
        if line[figure]["is_real"]
    }


def test_a_profile_against_itself(diff, compare):
    profile = make([0, 1, 2, 3], peaks=[0, 10, 20, 0])
    result = diff(profile, profile)
    assert changed(result) == {}
    assert all(line["time_s"]["before"] == line["time_s"]["after"] for line in result["lines"])
    text = compare("diff", profile, profile).stdout
    assert text.startswith("No difference in time beyond noise: 6.00 s instead of 6.00 s.\n")
    assert "Slower" not in text and "Faster" not in text


def test_the_slower_line_is_named_first(diff, compare):
    before, after = make([0, 1, 2, 3]), make([0, 1, 4, 3])
    assert changed(diff(before, after)) == {(3, 3): pytest.approx(2)}
    text = compare("diff", before, after, COLUMNS="120").stdout
    assert text.startswith("Slower: 8.00 s instead of 6.00 s (+33%); 1 line got slower.\n")
    row = r" +\+2\.00 s +2\.00 s → 4\.00 s +/project/main.py:3  second_step\(\)\n"
    assert re.search("Slower\n" + row, text)
    back = compare("diff", after, before).stdout
    assert back.startswith("Faster: 6.00 s instead of 8.00 s (-25%); 1 line got faster.\n")


def test_moved_and_renamed(diff):
    moved = ["", "", "def work():", "    last_step()", "        first_step()", "    second_step()"]
    result = diff(make([0, 1, 2, 3]), make([0, 0, 0, 3, 1, 4], source=moved, root="/elsewhere"))
    assert changed(result) == {(3, 6): pytest.approx(2)}
    assert len(result["lines"]) == 3
    result = diff(make([0, 1, 2, 3]), make([0, 1, 2, 3], name="renamed.py"))
    assert len(result["lines"]) == 3 and changed(result) == {}


def test_new_and_gone(diff, compare):
    after = make([0, 1, 2, 3], source=[*SOURCE[:3], "    quite_another()"])
    assert changed(diff(make([0, 1, 2, 3]), after)) == {
        (4, None): pytest.approx(-3), (None, 4): pytest.approx(3)}
    text = compare("diff", make([0, 1, 2, 3]), after).stdout
    assert "main.py:4 (new)  quite_another()" in text
    assert "main.py:4 (gone)  last_step()" in text


def test_noise_is_left_out(diff, compare):
    before, after = make([0, 1, 2, 3], samples_per_s=10), make([0, 1, 2.4, 3], samples_per_s=10)
    assert changed(diff(before, after)) == {}
    text = compare("diff", before, after).stdout
    assert text.startswith("No difference in time beyond noise")
    assert "within noise" in text and "1 line changed by no more than the noise" in text


def test_memory(diff, compare):
    before = make([0, 1, 1, 1], peaks=[0, 10, 20, 0])
    after = make([0, 1, 1, 1], peaks=[0, 10, 32, 0])
    assert changed(diff(before, after), "peak_bytes") == {(3, 3): 12 * profiles.MB}
    assert "; peak memory 12 MB more" in compare("diff", before, after).stdout


def test_golden(compare):
    """The whole report (written anew with HEATLINE_UPDATE_GOLDEN=1)."""
    before = make([0, 1, 2, 3], peaks=[0, 10, 20, 0])
    after = make([0, 1.01, 4, 0.5], peaks=[0, 10, 40, 0])
    for name, options, columns in (("100", (), "100"), ("60-color", ("--color=always",), "60")):
        text = compare("diff", before, after, *options, COLUMNS=columns).stdout
        path = REPO / "tests" / "golden" / f"diff-{name}.txt"
        if os.environ.get("HEATLINE_UPDATE_GOLDEN"):
            path.write_text(text)
        assert text == path.read_text()


@pytest.mark.parametrize("columns", [24, 40, 59, 60, 80, 133])
def test_lists_keep_to_the_width(compare, columns):
    before = make([0, 1, 2, 3], root="/a/rather/long/path/to/the/project", peaks=[0, 9, 9, 9])
    after = make([0, 4, 1, 9], root="/a/rather/long/path/to/the/project", peaks=[0, 40, 2, 9],
                 source=["", *[f"{line}  # {'long ' * 40}" for line in SOURCE]][:4])
    text = compare("diff", before, after, COLUMNS=str(columns)).stdout
    rows = [row for row in text.splitlines() if re.match(r" +[+-][\d.]+ (?:s|ms|MB|KB) ", row)]
    assert len(rows) > 3
    assert all(len(row) <= columns for row in rows), rows
    sentences = [row for row in text.splitlines() if row[:1].strip()]
    assert sentences and all(len(row) <= max(columns, 40) for row in sentences), text


def test_hostile_names(compare, heatline, tmp_path):
    source = ["def \x1b[31m():", "\x1b]0;title\x07", "a\u202eb", "'" * 5000]
    before, after = make([1, 1, 2, 3], source=source), make([2, 2, 4, 6], source=source)
    text = compare("diff", before, after).stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    golden = REPO / "tests" / "golden"
    run([heatline, "diff", golden / "scalene.json", golden / "heatline.json"], check=True)
    (tmp_path / "cut.json").write_bytes((golden / "heatline.json").read_bytes()[:999])
    for words in (["diff", "cut.json", golden / "heatline.json"], ["diff", "no.json", "cut.json"],
                  ["diff", golden / "heatline.json"], ["diff"],
                  ["check", golden / "heatline.json", "-b", "cut.json", "--max-slowdown", "5%"]):
        done = run([heatline, *words], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(r"heatline: [^\n]+\n", done.stderr)


def test_huge_figures(diff):
    huge = make([4e14, 4e14, 1e-9, 0], samples_per_s=1)
    small = make([1e-9, 0, 0, 4e14], samples_per_s=1)
    for result in (diff(huge, small), diff(small, huge)):
        assert result["lines"]


# ---- check ----


def test_check_passes_and_fails(compare):
    before, after = make([0, 1, 2, 3]), make([0, 1, 4, 3])
    done = compare("check", before, after, "--max-slowdown", "5%")
    assert done.returncode == 1
    assert "FAILED  time 6.00 s before, 8.00 s after (+33.3%), limit +5%\n" in done.stdout
    assert "main.py:3" in done.stdout and "main.py:2" not in done.stdout
    assert compare("check", before, after, "--max-slowdown=50").returncode == 0
    assert compare("check", after, before, "--max-slowdown=0%").returncode == 0
    assert compare("check", before, before, "--max-slowdown=0%").returncode == 0


def test_check_ignores_noise(compare):
    before = make([0, 1, 2, 3], samples_per_s=5)
    done = compare("check", before, make([0, 1, 2.6, 3], samples_per_s=5), "--max-slowdown", "5%")
    assert done.returncode == 0
    assert "within noise" in done.stdout
    # A length is known without samples.
    done = compare("check", before, make([0, 1, 4, 3], samples_per_s=5), "--max-slowdown", "5%")
    assert done.returncode == 1


def test_check_of_lines(compare):
    before, after = make([0, 1, 2, 3]), make([0, 1, 4, 1])  # the whole did not change
    assert compare("check", before, after, "--max-slowdown=5").returncode == 0
    done = compare("check", before, after, "--max-slowdown=5", "--line", "main.py:3")
    assert done.returncode == 1 and "main.py:3" in done.stdout
    kept = ["--line", "main.py:2", "--line=project/main.py:4"]
    assert compare("check", before, after, "--max-slowdown=5", *kept).returncode == 0


def test_check_of_memory_and_absolute_limits(compare):
    before = make([0, 1, 1, 1], peaks=[0, 10, 20, 0])
    after = make([0, 1, 1, 1], peaks=[0, 10, 32, 0])
    done = compare("check", before, after, "--max-memory-growth=10%")
    assert done.returncode == 1 and "main.py:3" in done.stdout
    assert compare("check", before, after, "--max-memory-growth=50%").returncode == 0
    assert compare("check", before, after, "--max-time", "2.5").returncode == 1
    assert compare("check", before, after, "--max-time", "3.5", "--max-peak", "50").returncode == 0
    assert compare("check", before, after, "--max-peak", "41").returncode == 1


def test_check_json(compare):
    done = compare("check", make([0, 1, 2, 3]), make([0, 1, 4, 3]), "--max-slowdown=5%", "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 1 and result["is_ok"] is False
    (finding,) = result["findings"]
    assert (finding["limit"], finding["is_broken"]) == ("max_slowdown", True)
    assert [line["line"] for line in result["slower_lines"]] == [3]


@pytest.mark.parametrize(
    "options, word",
    [
        (["--max-slowdown", "fast"], "fast"),
        (["--max-slowdown", "-5%"], "-5%"),
        (["--max-slowdown", "nan"], "nan"),
        (["--max-slowdown", "5%%"], "5%%"),
        (["--max-time", "-1"], "max-time"),
        (["--max-peak", "1GB"], "max-peak"),
        (["--max-slowdown=5", "--line", "main.py"], "main.py"),
        (["--max-slowdown=5", "--line", "main.py:0"], "main.py"),
        (["--max-slowdown=5", "--line", "none.py:3"], "none.py"),
        (["--line", "main.py:3"], "--line"),
        (["--max-memory-growth=5"], "memory"),
        ([], "--max-slowdown"),
    ],
)
def test_check_refuses(compare, options, word):
    profile = make([0, 1, 2, 3])
    done = compare("check", profile, profile, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"heatline: [^\n]+\n", done.stderr) and word in done.stderr


def test_a_limit_on_growth_needs_a_baseline(heatline, tmp_path):
    path = profiles.write(tmp_path / "p.json", make([0, 1, 2, 3]))
    done = run([heatline, "check", path, "--max-slowdown=5"])
    assert done.returncode == 2 and "--baseline" in done.stderr
    assert run([heatline, "check", path, "--max-time=60"]).returncode == 0


def test_real_slowdown(any_python, heatline, program, tmp_path):
    """A line made eight times as costly, and moved, is found in real profiles."""
    text = textwrap.dedent(
        """
        def steady():
            for i in range(1_500_000):
                pass

        def changing(n):
            return sum(i * i for i in range(n))

        steady()
        changing({n})
        """
    )
    before = program(text.format(n=500_000), "before/app.py")
    after = program("import os\n\n" + text.format(n=4_000_000), "after/app.py")
    for script, out in ((before, "before.json"), (after, "after.json")):
        any_python.heatline_run(script, outfile=tmp_path / out, options=["--cpu-only", "--cpu-sampling-rate=0.001"])
    result = json.loads(run([heatline, "diff", tmp_path / "before.json", tmp_path / "after.json",
                             "--json"], check=True).stdout)
    slower = [line["text"].strip() for line in result["lines"]
              if line["time_s"]["is_real"] and line["time_s"]["after"] > line["time_s"]["before"]]
    assert slower[0] == "return sum(i * i for i in range(n))"
    done = run([heatline, "check", tmp_path / "after.json", "-b", tmp_path / "before.json",
                "--max-slowdown=50%"])
    assert done.returncode == 1 and "return sum" in done.stdout
