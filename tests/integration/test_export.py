"""heatline export: what other tools read is what the profile says.

Each format is opened with its own tool, or with what defines it: pstats, pprof's message as
PyPI has it, speedscope's schema as npm has it; the rest by their published structure.
"""

import csv
import gzip
import io
import json
import os
import pstats
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import profiles
from support.paths import REPO
from support.profiles import Node
from support.runs import run

SPEEDSCOPE_SCHEMA = REPO / ".test-env" / "speedscope" / "file-format-schema.json"
FORMATS = {
    "speedscope": ".speedscope.json",
    "pprof": ".pb.gz",
    "collapsed": ".collapsed.txt",
    "svg": ".svg",
    "gecko": ".gecko.json",
    "chrome": ".trace.json",
    "pstats": ".pstats",
    "csv": ".csv",
    "markdown": ".md",
}
STACK_METRICS = {"cpu": "cpu", "memory": "allocated", "peak": "at_peak", "kept": "kept",
                 "copied": "copied"}

HOSTILE = [
    "a;b;c",
    "two\nlines",
    "tab\tbell\x07escape\x1b[31m",
    "</script><img src=x onerror=alert(1)>",
    ']]><script>alert("x")</script>',
    '"quoted", \'twice\'',
    '=HYPERLINK("http://x","y")',
    "+1-2",
    "@sum | pipe ` tick `` ticks",
    "back\\slash\\|bar",
    "right\u202eto left\x85\u2028",
    "日本語 café \U0001f525",
    "\ufffe\uffff",
    "x" * 9000,
    "-1 2 3",
    "",
]


@pytest.fixture
def export(heatline, tmp_path):
    """export(profile, format, *options): the bytes that heatline export writes."""

    def export(profile, kind, *options):
        path = profiles.write(tmp_path / "profile.json", profile)
        argv = [heatline, "export", path, "--format", kind, "-o", "-", *options]
        done = run(argv, text=False)
        assert (done.returncode, done.stderr) == (0, b""), done
        return done.stdout

    return export


@pytest.fixture(scope="module")
def sample():
    """Recursion, two files, a line of native code, one thread without Python at the root."""
    nodes = [
        Node(0, "<module>", "/project/main.py", 9, samples=1, python=1000, cpu=1000),
        Node(1, "walk", "/project/main.py", 3, samples=4, python=4000, cpu=4000, allocated=500),
        Node(2, "walk", "/project/main.py", 3, samples=2, native=2500, cpu=2000, copied=77),
        Node(3, "walk", "/project/main.py", 4, samples=3, wait=30000),
        Node(1, "loads", "/usr/lib/python3.11/json/__init__.py", 346, samples=5, native=5000,
             system=250, cpu=5250, allocated=4 * profiles.MB, kept=900, at_peak=profiles.MB),
    ]
    files = {
        "/project/main.py": profiles.file(
            [
                profiles.line(3, "    return walk(n - 1)", 2, python_s=0.004, native_s=0.0025,
                              samples=6, n_malloc_mb=1.5, n_at_peak_mb=2),
                profiles.line(4, "    time.sleep(n)", 2, wait_s=0.03, samples=3),
                profiles.line(9, "walk(3)", 0, python_s=0.001, native_s=0.005, system_s=0.00025,
                              samples=6, n_peak_mb=4),
            ],
            [profiles.function("walk", 2, python_s=0.004, native_s=0.0025, wait_s=0.03),
             profiles.function("<module>", 1, python_s=0.001, native_s=0.005)],
        )
    }
    return profiles.make(files, nodes, memory={"peak_mb": 4, "allocated_mb": 5})


def nodes_of(profile):
    """(function, file, line, path of functions, {figure: value}) of each node but the root."""
    stacks = profile["heatline"]["stacks"]
    found = []
    for index, row in enumerate(stacks["nodes"]):
        name, file, _ = stacks["functions"][row[1]] if index else (0, -1, 0)
        figures = dict(zip(profiles.FIGURES, row[3:]))
        path = found[row[0]][3] + [stacks["strings"][name]] if index else []
        found.append((stacks["strings"][name] if index else "", file, row[2], path, figures))
    return found[1:]


def sum_of(profile, *figures):
    return sum(node[4].get(figure, 0) for node in nodes_of(profile) for figure in figures)


def time_of(profile):
    return sum_of(profile, "python", "native", "system", "wait")


# ---- each format, with its own reader ----


def read_collapsed(data):
    stacks = {}
    for text in data.decode().splitlines():
        stack, value = text.rsplit(" ", 1)
        stacks[stack] = stacks.get(stack, 0) + int(value)
    return stacks


def read_pprof(data):
    pb2 = pytest.importorskip("austin.format.pprof.profile_pb2")
    message = pb2.Profile()
    message.ParseFromString(gzip.decompress(data))
    return message


def pprof_sums(message):
    names = [message.string_table[kind.type] for kind in message.sample_type]
    return {name: sum(s.value[i] for s in message.sample) for i, name in enumerate(names)}


def replay_events(profile, frames):
    """Plays speedscope's events as the tool does: {frame: self} and the end."""
    selves, stack, last = {}, [], profile["startValue"]
    for event in profile["events"]:
        assert event["at"] >= last
        if stack:
            selves[stack[-1]] = selves.get(stack[-1], 0) + event["at"] - last
        else:
            assert event["at"] == last  # no hole between two stacks
        last = event["at"]
        if event["type"] == "O":
            assert 0 <= event["frame"] < len(frames)
            stack.append(event["frame"])
        else:
            assert stack.pop() == event["frame"]
    assert not stack
    assert last == profile["endValue"]
    return selves, last


def test_speedscope(export, sample):
    data = json.loads(export(sample, "speedscope"))
    frames = data["shared"]["frames"]
    by_name = {profile["name"]: profile for profile in data["profiles"]}
    assert list(by_name) == ["time", "cpu", "memory", "peak", "kept", "copied"]
    selves, end = replay_events(by_name["time"], frames)
    assert end == time_of(sample)
    hottest = frames[max(selves, key=selves.get)]
    assert hottest == {"name": "walk", "file": "/project/main.py", "line": 4}
    for metric, figure in STACK_METRICS.items():
        assert replay_events(by_name[metric], frames)[1] == sum_of(sample, figure)
    assert by_name["memory"]["unit"] == "bytes"


def test_speedscope_puts_the_asked_metric_first(export, sample):
    data = json.loads(export(sample, "speedscope", "-m", "memory"))
    assert data["profiles"][data["activeProfileIndex"]]["name"] == "memory"


def test_speedscope_keeps_to_its_schema(export, sample):
    jsonschema = pytest.importorskip("jsonschema")
    if not SPEEDSCOPE_SCHEMA.exists():
        pytest.skip("no npm to get speedscope's schema with")
    schema = json.loads(SPEEDSCOPE_SCHEMA.read_text())
    jsonschema.validate(json.loads(export(sample, "speedscope")), schema)


def test_pprof(export, sample):
    message = read_pprof(export(sample, "pprof", "-m", "memory"))
    text = message.string_table
    assert text[0] == ""
    sums = pprof_sums(message)
    assert sums["time"] == time_of(sample) * 1000
    assert sums["cpu"] == sum_of(sample, "cpu") * 1000
    assert sums["samples"] == sum_of(sample, "samples")
    assert sums["alloc_space"] == sum_of(sample, "allocated")
    assert sums["inuse_space"] == sum_of(sample, "kept")
    assert sums["copied"] == sum_of(sample, "copied")
    assert text[message.default_sample_type] == "alloc_space"
    locations = {location.id: location for location in message.location}
    functions = {function.id: function for function in message.function}
    index = [text[kind.type] for kind in message.sample_type].index("time")
    hottest = max(message.sample, key=lambda s: s.value[index])
    lines = [locations[id].line[0] for id in hottest.location_id]
    names = [text[functions[line.function_id].name] for line in lines]
    assert names == ["walk", "walk", "walk", "<module>"]  # innermost first
    assert [line.line for line in lines] == [4, 3, 3, 9]
    assert text[functions[lines[0].function_id].filename] == "/project/main.py"


def test_pprof_without_memory_has_no_memory_types(export, sample):
    profile = json.loads(json.dumps(sample))
    profile["memory"] = False
    del profile["heatline"]["memory"]
    assert "alloc_space" not in pprof_sums(read_pprof(export(profile, "pprof")))


def test_collapsed(export, sample):
    stacks = read_collapsed(export(sample, "collapsed"))
    assert sum(stacks.values()) == time_of(sample)
    deepest = "<module> (main.py:9);walk (main.py:3);walk (main.py:3);walk (main.py:4)"
    assert stacks[deepest] == 30000
    assert stacks["<module> (main.py:9);loads (json/__init__.py:346)"] == 5250


def test_gecko(export, sample):
    data = json.loads(export(sample, "gecko"))
    assert data["meta"]["preprocessedProfileVersion"] == 55
    (thread,) = data["threads"]
    check_gecko_thread(data, thread)
    assert sum(thread["samples"]["weight"]) == pytest.approx(time_of(sample) / 1000)
    assert thread["samples"]["weightType"] == "tracing-ms"
    data = json.loads(export(sample, "gecko", "-m", "memory"))
    assert sum(data["threads"][0]["samples"]["weight"]) == sum_of(sample, "allocated")
    assert data["threads"][0]["samples"]["weightType"] == "bytes"


def check_gecko_thread(data, thread):
    """Every column is as long as its table says, every index leads somewhere."""
    tables = ("samples stackTable frameTable funcTable resourceTable nativeSymbols markers").split()
    for name in tables:
        table = thread[name]
        for column, values in table.items():
            if isinstance(values, list):
                assert len(values) == table["length"], (name, column)
    stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
    assert all(stack < stacks["length"] for stack in thread["samples"]["stack"])
    assert thread["samples"]["time"] == sorted(thread["samples"]["time"])
    for index, prefix in enumerate(stacks["prefix"]):
        assert prefix is None or 0 <= prefix < index
    assert all(frame < frames["length"] for frame in stacks["frame"])
    assert all(function < functions["length"] for function in frames["func"])
    assert all(category < len(data["meta"]["categories"]) for category in frames["category"])
    strings = thread["stringArray"]
    assert all(name < len(strings) for name in functions["name"])
    assert all(name is None or name < len(strings) for name in functions["fileName"])


def test_chrome(export, sample):
    data = json.loads(export(sample, "chrome"))
    slices = [event for event in data["traceEvents"] if event["ph"] == "X"]
    check_nesting(slices)
    assert sum(event["args"]["self"] for event in slices) == time_of(sample)
    outermost = [event for event in slices if event["name"] == "<module>"]
    assert sum(event["dur"] for event in outermost) == time_of(sample)
    for event in data["traceEvents"]:
        assert {"ph", "name", "pid", "tid"} <= set(event)


def check_nesting(slices):
    """A slice ends before or with the one around it: else viewers drop it."""
    open_ends = []
    for event in slices:
        while open_ends and open_ends[-1] <= event["ts"]:
            open_ends.pop()
        assert not open_ends or event["ts"] + event["dur"] <= open_ends[-1]
        open_ends.append(event["ts"] + event["dur"])


def test_pstats(export, sample, tmp_path):
    (tmp_path / "p.pstats").write_bytes(export(sample, "pstats"))
    out = io.StringIO()
    stats = pstats.Stats(str(tmp_path / "p.pstats"), stream=out)
    assert stats.total_tt == pytest.approx(time_of(sample) / 1e6)
    by_name = {key[2]: value for key, value in stats.stats.items()}
    # calls (samples), self, cumulative, callers; recursion is counted once
    assert by_name["walk"][:2] == (9, 9)
    assert by_name["walk"][2] == pytest.approx(0.0365)
    assert by_name["walk"][3] == pytest.approx(0.0365)
    assert by_name["<module>"][3] == pytest.approx(time_of(sample) / 1e6)
    callers = {key[2]: value for key, value in by_name["walk"][4].items()}
    assert callers["<module>"][3] == pytest.approx(0.0365)
    assert callers["walk"][3] == pytest.approx(0.0325)
    stats.sort_stats("cumulative").print_stats().print_callers().print_callees()
    assert "main.py:1(walk)" in out.getvalue()
    stats.strip_dirs().add(str(tmp_path / "p.pstats"))


def test_pstats_is_read_by_every_python(export, sample, python, tmp_path):
    path = tmp_path / "p.pstats"
    path.write_bytes(export(sample, "pstats", "-m", "cpu"))
    code = f"import pstats; print(pstats.Stats({str(path)!r}).total_tt)"
    done = python.run_plain(["-c", code], check=True)
    assert float(done.stdout) == pytest.approx(sum_of(sample, "cpu") / 1e6)


def test_csv(export, sample):
    rows = list(csv.DictReader(io.StringIO(export(sample, "csv").decode(), newline="")))
    assert [int(row["line"]) for row in rows] == [3, 4, 9]
    assert [row["function"] for row in rows] == ["walk", "walk", "<module>"]
    assert sum(float(row["self_s"]) for row in rows) == pytest.approx(time_of(sample) / 1e6)
    assert rows[0]["allocated_bytes"] == str(3 * profiles.MB // 2)
    assert rows[1]["source"] == "    time.sleep(n)"
    assert export(sample, "csv").endswith(b"\r\n")


def test_markdown(export, sample):
    text = export(sample, "markdown").decode()
    table = [row for row in text.splitlines() if row.startswith("| ")]
    assert "`main.py:4`" in table[1] and "`time.sleep(n)`" in table[1]
    by_memory = export(sample, "markdown", "-m", "peak").decode()
    first = [row for row in by_memory.splitlines() if row.startswith("| ")][1]
    assert "`main.py:3`" in first


def test_svg(export, sample):
    root = ElementTree.fromstring(export(sample, "svg"))
    space = {"s": "http://www.w3.org/2000/svg"}
    boxes = root.findall("s:g", space)
    top = [box for box in boxes if box.find("s:rect", space).get("y") == "64"]
    assert sum(float(box.get("data-w")) for box in top) == pytest.approx(1)
    names = [box.get("data-n") for box in boxes]
    assert "walk (main.py:4)" in names
    assert len(root.findall("s:script", space)) == 1


def test_peak(export, sample):
    assert read_collapsed(export(sample, "collapsed", "-m", "peak")) == {
        "<module> (main.py:9);loads (json/__init__.py:346)": profiles.MB
    }
    without_stacks = json.loads(json.dumps(sample))
    del without_stacks["heatline"]["stacks"]
    assert read_collapsed(export(without_stacks, "collapsed", "-m", "peak")) == {
        "walk (main.py:3)": 2 * profiles.MB
    }


@pytest.fixture(scope="module")
def timed(sample):
    """The sample over four bins, its second thread waiting."""
    profile = json.loads(json.dumps(sample))
    heatline = profile["heatline"]
    heatline["processes"] = [{"pid": 77, "parent_pid": 1, "command": "x", "start_s": 0, "end_s": 1}]
    heatline["threads"] = [
        {"process": 0, "tid": 77, "name": "main", "is_main": True},
        {"process": 0, "tid": 78, "name": "a \u202e\x1b worker " * 20, "is_main": False},
    ]
    heatline["timeline"] = {
        "bin_s": 0.02,
        "bins": 4,
        "threads": [{"thread": 0, "python": [5, 0, 0, 8]}, {"thread": 1, "wait": [20, 20, 20, 20]}],
        "stacks": [[1, 0, 1000], [2, 3, 4000], [3, 0, 2500], [4, 1, 20000], [4, 2, 10000],
                   [5, 3, 5250]],
    }
    heatline["memory"]["timeline"] = [[0, 1, 10], [0.04, 4, 12], [0.08, 2, 12]]
    return profile


def test_gecko_has_the_time_axis(export, timed):
    data = json.loads(export(timed, "gecko"))
    (thread,) = data["threads"]
    check_gecko_thread(data, thread)
    assert sum(thread["samples"]["weight"]) == pytest.approx(time_of(timed) / 1000)
    strings, functions = thread["stringArray"], thread["funcTable"]
    found = [
        (time, strings[functions["name"][thread["frameTable"]["func"][stack_frame]]])
        for time, stack_frame in zip(
            thread["samples"]["time"],
            (thread["stackTable"]["frame"][stack] for stack in thread["samples"]["stack"]),
        )
    ]
    assert found == [(0, "<module>"), (10, "walk"), (20, "walk"), (40, "walk"), (60, "walk"),
                     (70, "loads")]
    (counter,) = data["counters"]
    assert counter["samples"]["time"] == [0, 40, 80]
    assert counter["samples"]["count"] == [profiles.MB, 3 * profiles.MB, -2 * profiles.MB]


def test_chrome_has_threads_and_memory_over_time(export, timed):
    events = json.loads(export(timed, "chrome"))["traceEvents"]
    counters = [event for event in events if event["ph"] == "C"]
    main = [event for event in counters if event["name"] == "main (77)"]
    assert [event["ts"] for event in main] == [0, 20000, 40000, 60000]
    assert [event["args"]["python"] for event in main] == [0.25, 0, 0, 0.4]
    memory = [event["args"]["live bytes"] for event in counters if event["name"] == "memory"]
    assert memory == [profiles.MB, 4 * profiles.MB, 2 * profiles.MB]


def test_chrome_names_a_row_of_many_threads(export, timed):
    """It has no thread's number; of several processes each has such a row."""
    profile = json.loads(json.dumps(timed))
    heatline = profile["heatline"]
    heatline["threads"][1] |= {"tid": 0, "name": "5 other threads", "joined": 5}

    def rows():
        events = json.loads(export(profile, "chrome"))["traceEvents"]
        return {event["name"] for event in events if event["ph"] == "C"} - {"memory"}

    assert rows() == {"main (77)", "5 other threads"}
    heatline["processes"].append({**heatline["processes"][0], "pid": 99})
    heatline["threads"].append({**heatline["threads"][1], "process": 1})
    heatline["timeline"]["threads"].append({"thread": 2, "wait": [20, 20, 20, 20]})
    assert rows() == {
        "main (77)", "5 other threads of process 77", "5 other threads of process 99"
    }


def test_markdown_escapes_a_bar_in_tables_alone(export, sample):
    profile = json.loads(json.dumps(sample))
    profile["program"] = "/project/a|b.py"
    profile["files"] = {"/project/a|b.py": profile["files"]["/project/main.py"]}
    text = export(profile, "markdown").decode()
    assert text.startswith("### Profile of `a|b.py`\n")
    assert "a\\|b.py:" in text and "a|b.py:" not in text


def test_profile_without_stacks_is_exported_by_line(export, sample):
    profile = json.loads(json.dumps(sample))
    del profile["heatline"]["stacks"]
    stacks = read_collapsed(export(profile, "collapsed"))
    assert stacks["walk (main.py:4)"] == 30000
    assert sum(stacks.values()) == time_of(sample)
    assert pprof_sums(read_pprof(export(profile, "pprof")))["time"] == time_of(sample) * 1000


def test_time_outside_of_python_is_kept(export, sample):
    profile = json.loads(json.dumps(sample))
    profile["heatline"]["stacks"]["nodes"][0] += [7, 0, 123456]
    stacks = read_collapsed(export(profile, "collapsed"))
    assert stacks["<no Python>"] == 123456
    assert pprof_sums(read_pprof(export(profile, "pprof")))["native"] == (123456 + 7500) * 1000


def test_real_profile(any_python, heatline, program, tmp_path):
    """Every format of a profile from a real run, written beside it."""
    script = program(
        """
        import json
        def work(n):
            return json.loads(json.dumps(list(range(n))))
        for i in range(60):
            work(20000)
        """
    )
    done = any_python.heatline_run(script, outfile=tmp_path / "p.json")
    total = time_of(done.profile)
    for kind, suffix in FORMATS.items():
        run([heatline, "export", tmp_path / "p.json", "-f", kind], check=True)
        assert (tmp_path / f"p{suffix}").stat().st_size > 0
    assert sum(read_collapsed((tmp_path / "p.collapsed.txt").read_bytes()).values()) == total
    assert pstats.Stats(str(tmp_path / "p.pstats")).total_tt == pytest.approx(total / 1e6)
    gecko = json.loads((tmp_path / "p.gecko.json").read_text())
    check_gecko_thread(gecko, gecko["threads"][0])
    ElementTree.parse(tmp_path / "p.svg")


# ---- whatever the stacks are, sums stay what they were ----


@st.composite
def random_profiles(draw):
    names = st.sampled_from(["f", "g", "Class.method", *HOSTILE])
    figures = st.dictionaries(
        st.sampled_from([name for name in profiles.FIGURES if name not in ("gil", "gc")]),
        st.integers(0, 10**7),
        max_size=4,
    )
    nodes = []
    for index in range(draw(st.integers(1, 15))):
        nodes.append(
            Node(
                draw(st.integers(0, index)),
                draw(names),
                draw(st.sampled_from(["/project/a.py", "/project/b;c.py", "<string>"])),
                draw(st.integers(0, 5)),
                **draw(figures),
            )
        )
    return profiles.make({}, nodes, memory={})


@settings(max_examples=30, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(profile=random_profiles())
def test_sums_of_exports_are_sums_of_the_profile(export, tmp_path, profile):
    total = time_of(profile)
    assert sum(read_collapsed(export(profile, "collapsed")).values()) == total
    assert pprof_sums(read_pprof(export(profile, "pprof")))["time"] == total * 1000
    data = json.loads(export(profile, "speedscope"))
    for item in data["profiles"]:
        figures = [STACK_METRICS[item["name"]]] if item["name"] in STACK_METRICS else (
            ["python", "native", "system", "wait"])
        assert replay_events(item, data["shared"]["frames"])[1] == sum_of(profile, *figures)
    slices = [e for e in json.loads(export(profile, "chrome"))["traceEvents"] if e["ph"] == "X"]
    check_nesting(slices)
    assert sum(event["args"]["self"] for event in slices) == total
    gecko = json.loads(export(profile, "gecko"))
    check_gecko_thread(gecko, gecko["threads"][0])
    assert sum(gecko["threads"][0]["samples"]["weight"]) == pytest.approx(total / 1000)
    (tmp_path / "p.pstats").write_bytes(export(profile, "pstats"))
    if total:
        # Two functions of one name in one file are one to pstats.
        keys = {(node[1], node[0]) for node in nodes_of(profile)}
        stats = pstats.Stats(str(tmp_path / "p.pstats"))
        assert len(stats.stats) <= len(keys)
        assert stats.total_tt == pytest.approx(total / 1e6)
    ElementTree.fromstring(export(profile, "svg"))


# ---- hostile names and figures ----


@pytest.fixture(scope="module")
def hostile():
    nodes, lines = [], []
    for index, name in enumerate(HOSTILE):
        nodes.append(Node(index, name, f"/project/{name}.py", index, python=1000, samples=1,
                          allocated=5))
        lines.append(profiles.line(index + 1, name.replace("\n", " "), 0, python_s=0.001,
                                   samples=1))
    functions = [profiles.function(name, i + 1, python_s=0.001) for i, name in enumerate(HOSTILE)]
    files = {f"/project/{HOSTILE[4]}\n.py": profiles.file(lines, functions)}
    return profiles.make(files, nodes, memory={})


def test_hostile_collapsed(export, hostile):
    lines = export(hostile, "collapsed").decode().split("\n")[:-1]
    assert len(lines) == len(HOSTILE)
    for index, text in enumerate(lines):
        assert re.fullmatch(r"[^\x00-\x1f\x7f]* 1000", text)
        assert text.count(";") == index


def test_hostile_csv(export, hostile):
    rows = list(csv.reader(io.StringIO(export(hostile, "csv").decode(), newline="")))
    assert len(rows) == len(HOSTILE) + 1
    assert len({len(row) for row in rows}) == 1
    for row in rows[1:]:
        for cell in (row[0], row[2], row[-1]):
            assert not re.match(r"\s*[=+@|-]", cell), cell


def test_hostile_svg(export, hostile):
    data = export(hostile, "svg")
    root = ElementTree.fromstring(data)  # well formed: nothing broke out of its place
    scripts = [element for element in root.iter() if element.tag.endswith("script")]
    assert len(scripts) == 1 and "alert(1)" not in scripts[0].text
    assert {element.tag.split("}")[1] for element in root.iter()} == {
        "svg", "style", "title", "text", "g", "rect", "script"}
    assert not re.search(rb"(?:href|src)=", re.sub(rb"&lt;img src=x", b"", data))
    assert b"@import" not in data and b"url(" not in data


def test_hostile_markdown(export, hostile):
    text = export(hostile, "markdown").decode()
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert "\x1b" not in text
    for row in rows:
        cells = re.split(r"(?<!\\)\|", re.sub(r"\\\\", "", row))
        assert len(cells) in (len(rows[0].split("|")), 6), row
        outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", row)
        assert "<" not in outside and "@" not in outside, row


def test_hostile_json_formats(export, hostile):
    for kind in ("speedscope", "gecko", "chrome"):
        data = export(hostile, kind)
        json.loads(data)
        assert b"\x1b" not in data and b"\x07" not in data


def test_hostile_pprof_and_pstats(export, hostile, tmp_path):
    message = read_pprof(export(hostile, "pprof"))
    assert "a;b;c" in list(message.string_table)
    (tmp_path / "p.pstats").write_bytes(export(hostile, "pstats"))
    assert pstats.Stats(str(tmp_path / "p.pstats")).total_tt == pytest.approx(0.016)


@pytest.mark.parametrize("kind", FORMATS)
def test_deep_recursion(export, kind):
    nodes = [Node(i, "f", "/project/a.py", 1, python=1, samples=1) for i in range(3000)]
    data = export(profiles.make({}, nodes), kind)
    assert len(data) < (50 << 20)
    if kind == "collapsed":
        assert sum(read_collapsed(data).values()) == 3000
    if kind == "chrome":
        json.loads(data)


@pytest.mark.parametrize("kind", FORMATS)
def test_huge_figures(export, kind):
    most = 2**63 - 1
    nodes = [Node(i, "f", "/project/a.py", 1, python=most, wait=most, samples=most,
                  allocated=most, copied=most) for i in range(3)]
    files = {"/project/a.py": profiles.file([profiles.line(1, "x", 0, python_s=1e15)])}
    data = export(profiles.make(files, nodes, memory={}), kind)
    for wrong in (b"nan", b"inf,", b":-"):
        assert kind in ("pprof", "pstats", "svg") or wrong not in data.lower()


@pytest.mark.parametrize("kind", FORMATS)
def test_empty_profile(export, kind):
    data = export(profiles.make({}), kind)
    if kind in ("speedscope", "gecko", "chrome"):
        json.loads(data)
    if kind == "svg":
        ElementTree.fromstring(data)


# ---- the command ----


@pytest.fixture
def refused(heatline, tmp_path):
    def refused(*argv, words=()):
        before = sorted(os.listdir(tmp_path))
        done = run([heatline, "export", *argv], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(r"heatline: [^\n]+\n", done.stderr)
        assert all(word in done.stderr for word in words), done.stderr
        assert sorted(os.listdir(tmp_path)) == before

    return refused


def test_bad_usage(refused, sample, tmp_path):
    path = profiles.write(tmp_path / "p.json", sample)
    refused(path, words=["--format", "speedscope"])
    refused(path, "-f", "xml", words=["xml"])
    refused(path, "-f", "svg", "-m", "weight", words=["weight"])
    refused(path, path, "-f", "svg", words=["second"])
    refused(path, "-f", "csv", "-m", "memory", words=["--metric"])
    refused(path, "-f", "pstats", "-m", "memory", words=["pstats"])
    refused("-f", "svg", words=["heatline-profile.json"])
    refused(tmp_path / "no.json", "-f", "svg", words=["no.json"])
    refused(path, "-f", "svg", "-o", tmp_path / "no" / "x.svg", words=["folder"])
    (tmp_path / "cut.json").write_bytes(path.read_bytes()[:500])
    refused(tmp_path / "cut.json", "-f", "svg", words=["cut.json", "cut off"])
    without = {**sample, "memory": False}
    profiles.write(tmp_path / "cpu.json", without)
    refused(tmp_path / "cpu.json", "-f", "svg", "-m", "memory", words=["--cpu-only"])


@pytest.mark.parametrize("kind", FORMATS)
def test_binary_formats_do_not_go_to_a_terminal(heatline, sample, tmp_path, kind):
    path = profiles.write(tmp_path / "p.json", sample)
    leader, follower = os.openpty()
    done = subprocess.run([heatline, "export", path, "-f", kind, "-o", "-"], stdout=follower,
                          stderr=subprocess.PIPE, timeout=60)
    os.close(follower)
    os.close(leader)
    is_refused = done.returncode == 2 and b"terminal" in done.stderr
    assert is_refused == (kind in ("pprof", "pstats"))


def test_full_disk(heatline, sample, tmp_path):
    path = profiles.write(tmp_path / "p.json", sample)
    for target in ("/dev/full", "-"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([heatline, "export", path, "-f", "svg", "-o", target],
                                  stdout=full, stderr=subprocess.PIPE, timeout=60)
        assert done.returncode == 2 and done.stderr.startswith(b"heatline: cannot write")


def test_default_file_and_names(heatline, sample, tmp_path):
    profiles.write(tmp_path / "heatline-profile.json", sample)
    run([heatline, "export", "--format=svg"], cwd=tmp_path, check=True)
    assert (tmp_path / "heatline-profile.svg").exists()
    profiles.write(tmp_path / "other", sample)
    run([heatline, "export", "other", "-f", "pprof"], cwd=tmp_path, check=True)
    assert Path(tmp_path / "other.pb.gz").exists()


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind not in ("pprof", "pstats")])
def test_golden(heatline, kind):
    """Byte for byte (written anew with HEATLINE_UPDATE_GOLDEN=1)."""
    golden = REPO / "tests" / "golden"
    done = run([heatline, "export", golden / "heatline.json", "-f", kind, "-o", "-"], text=False)
    written = re.sub(rb'"heatline [0-9.]+"', b'"heatline VERSION"', done.stdout)
    path = golden / f"export{FORMATS[kind]}"
    if os.environ.get("HEATLINE_UPDATE_GOLDEN"):
        path.write_bytes(written)
    assert written == path.read_bytes()


def test_scalene_profile(heatline, tmp_path):
    golden = REPO / "tests" / "golden" / "scalene.json"
    for kind in FORMATS:
        run([heatline, "export", golden, "-f", kind, "-o", tmp_path / kind], check=True)
        assert (tmp_path / kind).stat().st_size > 0
