"""Threads: the timeline, and whose stack is whose."""

import pytest

from support import runs
from support.paths import REPO

pytestmark = pytest.mark.measures

PROGRAMS = REPO / "tests" / "integration" / "programs" / "threads"
KINDS = ("python", "native", "system", "wait")


def run(python, name, *args, options=()):
    result = python.heatline_run(PROGRAMS / name, args, options)
    assert result.returncode == 0, result
    return result


def line_number(name, marker):
    """The line of a program that ends in the comment ``# marker``."""
    lines = (PROGRAMS / name).read_text().splitlines()
    (found,) = [i for i, line in enumerate(lines, 1) if line.endswith(f"  # {marker}")]
    return found


def milliseconds(row, kinds=KINDS):
    return sum(sum(row.get(kind, [])) for kind in kinds)


def test_timeline_adds_up_to_the_total(python):
    heatline = run(python, "phases.py").profile["heatline"]
    timeline, time = heatline["timeline"], heatline["time"]
    assert 0 < timeline["bins"] <= 200
    assert timeline["bins"] * timeline["bin_s"] == pytest.approx(time["elapsed_s"], rel=0.25)
    for row in timeline["threads"]:
        assert all(len(row[kind]) == timeline["bins"] for kind in row if kind != "thread")
    main, helper = timeline["threads"]
    assert heatline["threads"][main["thread"]]["is_main"]
    total_ms = milliseconds(main) + milliseconds(helper, KINDS[:3])
    assert total_ms == pytest.approx(time["total_s"] * 1e3, abs=5)
    microseconds = sum(us for _, _, us in timeline["stacks"])
    assert microseconds == pytest.approx(time["total_s"] * 1e6, rel=1e-3)
    # The helper works while the main thread waits, after that has worked.
    first = next(i for i, ms in enumerate(helper["python"]) if ms)
    assert sum(main["python"][:first]) > 0.6 * sum(main["python"])
    assert sum(main["wait"][first:]) > 0.75 * sum(main["wait"])


def test_stacks_know_their_threads_and_the_peak(python):
    result = run(python, "phases.py")
    stacks, threads = result.profile["heatline"]["stacks"], result.profile["heatline"]["threads"]
    seconds = [0.0] * len(threads)
    for node, thread, us in stacks["threads"]:
        assert 0 <= node < len(stacks["nodes"])
        seconds[thread] += us / 1e6
    for thread, got in zip(threads, seconds):
        if not thread["is_main"]:
            assert got == pytest.approx(thread["cpu_s"], rel=0.02, abs=1e-3)
    peak_line = line_number("phases.py", "peak")
    held = sum(row[13] for row in stacks["nodes"] if len(row) > 13 and row[2] == peak_line)
    assert held == pytest.approx(12 << 20, rel=0.01)


def test_threads_have_their_names(python):
    threads = run(python, "names.py").profile["heatline"]["threads"]
    names = [thread["name"] for thread in threads]
    assert threads[0]["is_main"] and names[0] == "MainThread"
    for name in ("näme of more than 15 letters", "renamed", "sleeper", "pool_0", "pool_1",
                 "of-the-system"):
        assert names.count(name) == 1, names
    assert len(names) == 8, names


def test_work_of_a_thread_that_c_made(oldest_or_newest):
    """It calls into Python: its time is on the lines that it ran, and as much as the main thread's."""
    done = run(oldest_or_newest, "from_c.py")
    main, other = done.profile["heatline"]["threads"]
    assert main["is_main"] and not other["is_main"]
    assert other["cpu_s"] == pytest.approx(0.4, rel=0.25)
    called = done.lines_of(PROGRAMS / "from_c.py")[line_number("from_c.py", "CALLED")]
    total_s = done.profile["heatline"]["time"]["total_s"]
    assert called["n_inclusive_percent"] == pytest.approx(100 * 0.4 / total_s, rel=0.3)


def test_a_second_interpreter(python):
    """What a thread does in it is on its lines, and what it waits for when it has left it on its own."""
    done = run(python, "interpreters.py", options=["--profile-all"])
    inside = done.lines_of(f"{PROGRAMS / 'interpreters.py'}-inside")
    own = done.lines_of(PROGRAMS / "interpreters.py")
    enter, leave = (own.get(line_number("interpreters.py", mark), {}) for mark in ("enter", "leave"))

    def worked(line):
        return line.get("n_cpu_percent_python", 0) + line.get("n_cpu_percent_c", 0)

    assert sum(map(worked, inside.values())) > 20 * worked(enter), done
    allocated = {number: line["n_malloc_mb"] for number, line in inside.items()}
    assert allocated[7] > 10 * enter.get("n_malloc_mb", 0)
    assert leave["wait_s"] >= 0.45


def test_names_of_threads_that_run_other_interpreters(newest_python):
    names = [thread["name"] for thread in run(newest_python, "interpreter_pool.py").profile["heatline"]["threads"]]
    assert sorted(names) == ["InterpreterPoolExecutor-0_0", "InterpreterPoolExecutor-0_1", "MainThread"]


def test_a_hundred_threads_at_once(python):
    result = run(python, "many.py", 120, 0.01, 120)
    heatline = result.profile["heatline"]
    names = {thread["name"] for thread in heatline["threads"]}
    assert len(names & {f"worker {number}" for number in range(120)}) > 100, names
    assert len(heatline["threads"]) == 121
    assert len(heatline["timeline"]["threads"]) <= 64
    worked = sum(thread["cpu_s"] for thread in heatline["threads"] if not thread["is_main"])
    assert worked == pytest.approx(float(result.stdout), rel=0.25)


def test_a_quiet_program_is_left_alone(any_python):
    """The collector looks the less often the longer nothing happens, and misses nothing."""
    result = run(any_python, "quiet.py")
    quality = result.profile["heatline"]["quality"]
    assert quality["wait_samples"] <= 3.1 / 0.024 * 0.7  # at a steady pace it would be 130 at most
    lines = {line["lineno"]: line for line in result.profile["files"][str(PROGRAMS / "quiet.py")]["lines"]}
    total_s = result.profile["heatline"]["time"]["total_s"]
    waited = {
        name: lines[line_number("quiet.py", name)]["n_wait_percent"] / 100 * total_s
        for name in ("first", "second")
    }
    # One pause of the collector, a twentieth of the quiet before it, may be booked to the other.
    assert waited["first"] >= 1.5
    assert 2.7 <= waited["first"] + waited["second"] <= float(result.stdout) + 0.3


def test_threads_that_live_a_millisecond(python):
    """More than are listed: their time is there, in a thread that stands for many."""
    result = run(python, "many.py", 600, 0.001, 4)
    heatline = result.profile["heatline"]
    threads = heatline["threads"]
    assert len(threads) < 300
    (rest,) = [thread for thread in threads if thread["name"].endswith("other threads")]
    assert rest["joined"] == int(rest["name"].split()[0])
    assert rest["joined"] + len(threads) - 1 == 601
    report = python.heatline(["view", "--cli", "--no-pager", result.profile_path]).stdout
    assert "601 threads" in report
    worked = sum(thread["cpu_s"] for thread in threads if not thread["is_main"])
    assert worked == pytest.approx(float(result.stdout), rel=0.4)
    hot = result.lines_of("many.py")[line_number("many.py", "hot")]
    assert hot["n_samples"] > 2
    by_thread = sum(us for _, _, us in heatline["stacks"]["threads"]) / 1e6
    assert by_thread == pytest.approx(heatline["time"]["total_s"], rel=0.02)


def by_name(profile):
    return {thread["name"]: thread for thread in profile["heatline"]["threads"]}


def test_waiting_for_the_gil_is_told_apart(python):
    result = run(python, "gil.py", 0.5)
    assert "for the GIL" in result.stdout + result.stderr
    threads = by_name(result.profile)
    for name in ("busy 0", "busy 1"):
        thread = threads[name]
        # Each has the GIL about half of the time.
        assert thread["gil_s"] > 0.3 * thread["cpu_s"], threads
        assert thread["gil_s"] > 0.6 * thread["off_cpu_s"], threads
    native = threads["native"]
    assert native.get("gil_s", 0) < 0.5 * threads["busy 0"]["gil_s"], threads
    total = result.profile["heatline"]["time"]["gil_s"]
    shares = result.lines_of("gil.py")[line_number("gil.py", "shares")]
    assert shares["waits_for"] == "GIL"
    assert 0 < shares["n_gil_wait_percent"] <= 100
    (file,) = result.profile["files"].values()
    (function,) = [record for record in file["functions"] if record["line"] == "busy"]
    assert function["gil_s"] > 0.6 * total
    timeline = result.profile["heatline"]["timeline"]["threads"]
    assert sum(sum(row.get("gil", [])) for row in timeline) == pytest.approx(total * 1e3, abs=9)
    nodes = result.profile["heatline"]["stacks"]["nodes"]
    assert sum(row[14] for row in nodes if len(row) > 14) == pytest.approx(total * 1e6, rel=1e-3)


def test_waits_are_told_apart(python):
    result = run(python, "waits.py")
    lines = result.lines_of("waits.py")
    # The word, and which of several that wait for it.
    markers = ("sleep", "sleep forked", "lock", "lock pooled", "queue", "socket", "socket too", "socket timed")
    markers += ("events", "pipe", "pipe too", "child", "child forked")
    seen = {marker: lines[line_number("waits.py", marker)].get("waits_for") for marker in markers}
    # On a busy machine the collector can miss a wait altogether, but not mistake it.
    assert all(word in (marker.split()[0], None) for marker, word in seen.items()), seen
    assert list(seen.values()).count(None) <= 2, seen
    waits = result.profile["heatline"]["time"]["waits_s"]
    assert {word for word in seen.values() if word} <= set(waits)


def test_a_queue_is_one_whatever_is_in_scope(newest_python):
    time = run(newest_python, "waits.py", options=["--profile-all"]).profile["heatline"]["time"]
    assert time["waits_s"]["queue"] > 0.15


def test_a_thread_of_a_library_waits_for_nobody(python):
    """It is among the threads, with its waiting; no line waits for it."""
    profile = run(python, "library.py").profile["heatline"]
    assert profile["time"]["waits_s"].get("sleep", 0) > 0.5
    assert "lock" not in profile["time"]["waits_s"]
    assert profile["time"].get("idle_s", 0) == 0
    (other,) = [thread for thread in profile["threads"] if not thread["is_main"]]
    assert other["off_cpu_s"] > 0.3


def test_waiting_for_a_library_that_computes_is_no_waiting(python):
    """It is the line's native time, not counted twice; a sleep beside it stays one."""
    result = run(python, "helped.py")
    joined_s, cpu_s = map(float, result.stdout.split())
    lines = result.lines_of("helped.py")
    joins, sleeps = (lines[line_number("helped.py", mark)] for mark in ("joins", "sleeps"))
    computed_s = joins["native_s"] + joins["system_s"]
    assert computed_s > 0.7 * cpu_s
    assert computed_s + joins["wait_s"] == pytest.approx(joined_s, rel=0.1)
    assert sleeps["wait_s"] == pytest.approx(1, rel=0.15)
    heatline = result.profile["heatline"]
    (main,) = [thread for thread in heatline["threads"] if thread["is_main"]]
    assert main["off_cpu_s"] > 0.9 * joined_s
    microseconds = sum(us for _, _, us in heatline["timeline"]["stacks"])
    assert microseconds == pytest.approx(heatline["time"]["total_s"] * 1e6, rel=1e-3)


def test_garbage_collection_is_told_apart(python):
    result = run(python, "garbage.py", "on", 1.5)
    assert "Garbage collection took" in result.stdout + result.stderr
    time = result.profile["heatline"]["time"]
    assert time["gc_s"] > 0.5 * time["cpu_s"]
    line = result.lines_of("garbage.py")[line_number("garbage.py", "collects")]
    assert line["gc_s"] > 0.6 * time["gc_s"]
    assert line["gc_s"] > 0.7 * (line["python_s"] + line["native_s"] + line["system_s"])
    assert line["n_gc_percent"] > 20
    (row,) = result.profile["heatline"]["timeline"]["threads"]
    assert sum(row["gc"]) == pytest.approx(time["gc_s"] * 1e3, abs=3)


def test_garbage_collection_is_the_interpreter_s_whatever_sets_it_off(python, program):
    """Which allocation of a line does is chance: an instruction's, a C function's, the program's call."""
    script = program(
        """
        import gc, time
        keep = []
        until = time.thread_time() + 0.8
        while time.thread_time() < until:
            del keep[500000:]
            for i in range(1000):
                keep.append(list((i,)))  # a function
        until = time.thread_time() + 0.8
        while time.thread_time() < until:
            del keep[500000:]
            for i in range(1000):
                keep.append([i])  # an instruction
        until = time.thread_time() + 0.4
        while time.thread_time() < until:
            gc.collect()  # the program
        """
    )
    lines = python.heatline_run(script).lines_of(script.name)
    for text in ("a function", "an instruction", "the program"):
        (line,) = [line for line in lines.values() if text in line["line"]]
        assert line["python_s"] + line["system_s"] > 0.9 * line.get("gc_s", 0), text
    assert line["gc_s"] > 0.3


def test_no_garbage_collection_is_none(python):
    time = run(python, "garbage.py", "off", 0.3).profile["heatline"]["time"]
    assert time.get("gc_s", 0) < 0.02 * time["cpu_s"]


def test_a_thread_without_the_gil_does_not_collect(python, program):
    """Another thread's collection is not booked to one that hashes meanwhile."""
    script = program(
        """
        import gc, hashlib, threading, time
        keep = [[] for _ in range(100000)]
        data = b"x" * (64 << 20)

        is_over = threading.Event()

        def hashes():
            while not is_over.is_set():
                hashlib.sha256(data).digest()

        thread = threading.Thread(target=hashes, name="hashes")
        thread.start()
        until = time.thread_time() + 0.6
        while time.thread_time() < until:
            gc.collect()
        is_over.set()
        """
    )
    result = python.heatline_run(script)
    threads = by_name(result.profile)
    assert threads["MainThread"]["gc_s"] > 0.5 * threads["MainThread"]["cpu_s"]
    assert threads["hashes"].get("gc_s", 0) < 0.1 * threads["hashes"]["cpu_s"]


def test_one_thread_in_the_terminal(any_python, heatline):
    result = run(any_python, "gil.py", 0.2)

    def view(name):
        return runs.run([heatline, "view", "--thread", name, "-s", result.profile_path])

    shown = view("native")
    assert shown.returncode == 0, shown.stderr
    listing = shown.stdout.split("\nOther threads waited")[0].splitlines()
    (hashing,) = [line for line in listing if line.endswith("# releases")]
    assert " s " in hashing.split("│")[0].split("|")[0]
    (shares,) = [line for line in listing if line.endswith("# shares")]
    assert " s " not in shares.split("│")[0].split("|")[0]
    wrong = view("nobody")
    assert wrong.returncode == 2
    assert "there are 'MainThread'" in wrong.stderr


def test_perf_clock_goes_when_switches_come(any_python):
    """A perf clock costs at each switch; a server has none, also if it has worked before.

    By CPU time: another look comes after 10 ms of it, the next sample's renewal after some 200."""
    result = run(any_python, "switches.py", options=["--cpu-only"])
    had, kept_s = result.stdout.split()
    if had == "False":
        pytest.skip("no perf events here")
    assert float(kept_s) < 0.1


def test_what_no_sample_has_told_is_the_threads_own(python):
    # One sample each, of 0.1 s; what they worked after it was the next thread's, or lost, as was
    # that of a thread that had not quite ended when the program did.
    result = run(python, "rest.py", options=["--cpu-only", "--cpu-sampling-rate", "0.1"])
    threads = {t["name"]: t["cpu_s"] for t in result.profile["heatline"]["threads"]}
    lines = result.lines_of("rest.py")
    for name, seconds in (("first", 0.14), ("second", 0.13), ("third", 0.15)):
        assert threads[name] == pytest.approx(seconds, abs=0.01)
        assert lines[line_number("rest.py", name)]["inclusive_s"] == pytest.approx(seconds, abs=0.01)


def test_waiting_of_threads_that_are_soon_gone(python, program):
    """A look meets about half of them: those stand for the others."""
    script = program("""
        import threading, time

        def long_lived():
            began = time.monotonic()
            stop.wait()
            print(time.monotonic() - began)

        def work():
            time.sleep(0.02)

        stop = threading.Event()
        helper = threading.Thread(target=long_lived)
        helper.start()
        for i in range(60):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        stop.set()
        helper.join()
        """)
    result = python.heatline_run(script, options=["--cpu-only"])
    profile, waited_s = result.profile, float(result.stdout)
    lines = {line["line"].strip(): line for line in profile["files"][str(script)]["lines"]}
    assert lines["time.sleep(0.02)"]["idle_s"] == pytest.approx(1.2, rel=0.1)
    assert lines["time.sleep(0.02)"]["waits_for"] == "sleep"
    assert lines["stop.wait()"]["idle_s"] == pytest.approx(waited_s, rel=0.1)
    waited = [t["off_cpu_s"] for t in profile["heatline"]["threads"] if not t["is_main"]]
    assert sum(waited) == pytest.approx(1.2 + waited_s, rel=0.1)


def test_who_waited_of_threads_that_are_soon_gone(python, program):
    """All that is on lines is somebody's, and no thread waited on lines for longer than it waited.
    (Of so many threads not all are kept, so some have been joined.)"""
    script = program("""
        import threading, time

        for i in range(10):
            threads = [threading.Thread(target=time.sleep, args=(0.02,)) for n in range(30)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        """)
    heatline = python.heatline_run(script, options=["--cpu-only"]).profile["heatline"]
    tree = heatline["stacks"]
    on_lines_s = sum(node[9] for node in tree["nodes"] if len(node) > 9) / 1e6
    of_threads = [0] * len(heatline["threads"])
    for node, thread, us in tree["idle_threads"]:
        of_threads[thread] += us / 1e6
    assert sum(of_threads) == pytest.approx(on_lines_s, abs=0.01)
    for thread, waited_s in zip(heatline["threads"], of_threads):
        assert waited_s <= thread["off_cpu_s"] + 0.001


WAITING = """
    import threading, time

    def use():
        with lock:
            time.sleep(0.3)

    lock = threading.Lock()
    for i in range(2):
        threading.Thread(target=use, name="user-%d" % i).start()
    """


def test_where_other_threads_waited_is_shown(python, program, heatline):
    """The main thread has ended by then: of the total the file has nothing."""
    script = program(WAITING)
    result = python.heatline_run(script, options=["--cpu-only"])
    (file,) = result.profile["files"].values()
    lines = {line["line"].strip(): line for line in file["lines"]}
    assert lines["time.sleep(0.3)"]["idle_s"] == pytest.approx(0.6, rel=0.15)
    assert lines["with lock:"]["idle_s"] == pytest.approx(0.3, rel=0.15)
    shown = runs.run([heatline, "view", "--cli", result.profile_path]).stdout
    table = shown[shown.index("Other threads waited"):].split("\n\n")[0]
    assert "no part of the total" in table
    assert ["sleep", "lock"] == [line.split()[2] for line in table.splitlines()[1:]]
    assert "with lock:" in table and "time.sleep(0.3)" in table


def test_a_thread_that_only_waited_in_the_terminal(any_python, program, heatline):
    result = any_python.heatline_run(program(WAITING), options=["--cpu-only"])
    view = [heatline, "view", "--thread", "user-0", result.profile_path]
    shown = runs.run(view)
    assert shown.returncode == 0, shown.stderr
    table = shown.stdout[shown.stdout.index("Other threads waited"):]
    assert "time.sleep(0.3)" in table
    assert "with lock:" not in table
