"""heatline attach: a profile of a process that already runs, from outside."""

import json
import os
import signal
import subprocess
import time

import pytest

from support import runs
from support.paths import REPO, heatline_executable
from support.running import wait_until
from support.targets import Target, heatline

pytestmark = pytest.mark.measures

PROGRAMS = REPO / "tests" / "integration" / "programs"
BENCHED = REPO / "bench" / "attach" / "programs"
RATIO = BENCHED / "ratio.py"


@pytest.fixture
def profile_of(tmp_path):
    """Attaches and gives the profile."""

    def attach(pid, *options, duration=1):
        outfile = tmp_path / "attached.json"
        done = heatline("attach", "-d", duration, "-o", outfile, *options, pid)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        return json.loads(outfile.read_text(encoding="utf-8"))

    return attach


def inclusive(profile):
    """The share of all time by function."""
    found = {}
    for file in profile["files"].values():
        for function in file["functions"]:
            found[function["line"]] = function["n_inclusive_percent"]
    return found


def lines(profile):
    return {line["lineno"]: line for file in profile["files"].values() for line in file["lines"]}



@pytest.mark.alone
def test_shares(target, profile_of):
    profile = profile_of(target(RATIO).pid, duration=2)
    share = inclusive(profile)
    quality = profile["heatline"]["quality"]
    assert quality["samples"] > 50
    # On a busy machine it is mostly the program's reading of the clock, a call of the system, at which the
    # kernel takes the CPU away from it; that is not in burn().
    assert share["burn"] > 40
    of_burn = {name: 100 * share[name] / share["burn"] for name in ("seventy", "twenty", "ten")}
    # Four times the spread of a quarter as many: on a busy machine looks close together are alike.
    spread = 400 * (0.21 / (quality["samples"] * share["burn"] / 100 / 4)) ** 0.5
    assert abs(of_burn["seventy"] - 70) < spread, share
    assert abs(of_burn["twenty"] - 20) < spread and abs(of_burn["ten"] - 10) < spread, share
    assert sum(reason["count"] for reason in quality["lost"]) < 0.05 * quality["samples"]
    assert any("from outside" in text for text in quality["warnings"])


@pytest.mark.alone
def test_the_beginning_of_a_burst(target, profile_of):
    # A thread that waits is looked at more rarely, but not too late when it works again.
    it = target(
        """
        import time

        def spin(seconds):
            end = time.thread_time() + seconds
            while time.thread_time() < end:
                pass

        def first():
            spin(0.003)

        def second():
            spin(0.003)

        print("ready", flush=True)
        while True:
            time.sleep(0.02)
            first()
            second()
        """
    )

    def share_of_first():
        functions = {
            function["line"]: function["inclusive_s"]
            for file in profile_of(it.pid, "--rate", 1000, duration=2)["files"].values()
            for function in file["functions"]
        }
        return functions["first"] / (functions["first"] + functions["second"])

    # Half of it; a busy machine takes the CPU from us when the thread wakes up, so the best of
    # three counts.  It was 0.28 to 0.36.
    assert max(share_of_first() for _ in range(3)) > 0.42


def test_what_is_waited_for(target, profile_of):
    it = target(
        """
        import concurrent.futures, os, queue, select, socket, threading, time

        def nap():
            time.sleep(1000)  # sleep

        def wait():
            threading.Event().wait()  # lock

        def poll():
            select.epoll().poll()  # events

        def take():
            queue.Queue().get()  # queue

        def listen(one):
            one.recv(1)  # socket

        def read(fd):
            os.read(fd, 1)  # pipe

        ends = socket.socketpair()
        for call, args in ((take, ()), (listen, ends[:1]), (read, os.pipe()[:1]), (poll, ())):
            threading.Thread(target=call, args=args, daemon=True).start()
        concurrent.futures.ThreadPoolExecutor(1).submit(wait)
        print("ready")
        nap()
        """
    )
    profile = profile_of(it.pid)
    (file,) = profile["files"].values()
    seen = {line["line"].split("#")[-1].strip(): line["waits_for"] for line in file["lines"] if "waits_for" in line}
    assert seen == {word: word for word in ("sleep", "lock", "queue", "socket", "pipe", "events")}


@pytest.mark.measures(False)
def test_stacks_are_possible(target, profile_of):
    """Callers that alternate every microsecond never get mixed up; nor is a mix learned, once seen."""
    it = target(BENCHED / "alternate.py")
    profile = profile_of(it.pid, "--rate", 20000)
    possible = {
        ("<module>",),
        ("<module>", "hot_a"),
        ("<module>", "hot_b"),
        ("<module>", "hot_a", "leaf_a"),
        ("<module>", "hot_b", "leaf_b"),
    }
    seen = stacks(profile)
    total = sum(seen.values())
    assert total > 50
    wrong = sum(count for stack, count in seen.items() if stack not in possible)
    assert wrong <= max(1, 0.001 * total), seen
    lost = sum(reason["count"] for reason in profile["heatline"]["quality"]["lost"])
    assert lost <= max(5, 0.03 * total), f"{lost} of {total}"
    assert {stack[-1] for stack in seen} & {"leaf_a", "leaf_b"}


@pytest.mark.measures(False)
def test_what_lies_between_does_not_mix_sides(target, profile_of):
    """Two sides that call through the same frames in turns of some microseconds."""
    it = target(BENCHED / "alternate_deep.py")
    profile = profile_of(it.pid, "--rate", 4000)
    total = wrong = 0
    for stack, count in stacks(profile).items():
        sides = {name[-1] for name in stack if name.startswith(("side_", "hot_", "leaf_"))}
        total += count
        wrong += count * (len(sides) > 1)
    assert total > 20
    assert wrong <= max(2, 0.002 * total), stacks(profile)


def stacks(profile):
    """Samples by stack of functions, outermost first."""
    tree = profile["heatline"]["stacks"]
    found = {}
    for at, node in enumerate(tree["nodes"]):
        names, samples = [], node[3] if len(node) > 3 else 0
        while at:
            names.append(tree["strings"][tree["functions"][tree["nodes"][at][1]][0]])
            at = tree["nodes"][at][0]
        if samples:
            key = tuple(reversed(names))
            found[key] = found.get(key, 0) + samples
    return found


def test_threads_waiting_and_gil(target, profile_of):
    it = target(
        """
        import threading, time
        def spin():
            while True:
                pass
        def sleep():
            while True:
                time.sleep(0.5)
        for name in ("spin one", "spin two"):
            threading.Thread(target=spin, name=name, daemon=True).start()
        threading.Thread(target=sleep, name="sleeper", daemon=True).start()
        print("ready")
        while True:
            time.sleep(0.3)
        """
    )
    profile = profile_of(it.pid)
    threads = {thread["name"]: thread for thread in profile["heatline"]["threads"]}
    assert {"MainThread", "spin one", "spin two", "sleeper"} <= set(threads)
    assert threads["MainThread"]["is_main"]
    timeline = profile["heatline"]["timeline"]
    rows = {profile["heatline"]["threads"][row["thread"]]["name"]: row for row in timeline["threads"]}

    def ms(names, kind):
        return sum(sum(rows[name].get(kind, [])) for name in names)

    spinners = ["spin one", "spin two"]
    assert ms(spinners, "gil") > 0.1 * ms(spinners, "python") > 0
    assert ms(["sleeper"], "wait") > 5 * ms(["sleeper"], "gil")
    assert ms(["sleeper"], "wait") > 5 * (ms(["sleeper"], "python") + ms(["sleeper"], "native"))


def test_a_second_interpreter(target, profile_of):
    """The thread that runs its code is one thread, and what called it does not work meanwhile."""
    source = PROGRAMS / "threads" / "interpreters.py"
    profile = profile_of(target(source, "forever").pid, "--profile-all")
    threads = profile["heatline"]["threads"]
    assert len(threads) == 1 and threads[0]["is_main"], threads
    time = profile["heatline"]["time"]
    assert time["total_s"] < 1.2 * time["elapsed_s"]
    inside, outside = (profile["files"].get(f"{source}{end}", {"lines": []}) for end in ("-inside", ""))

    def worked(file):
        return sum(line["n_cpu_percent_python"] + line["n_cpu_percent_c"] for line in file["lines"])

    assert worked(inside) > 20 * worked(outside)


def test_native(target, profile_of):
    it = target(
        """
        import hashlib
        data = b"x" * (4 << 20)
        print("ready")
        while True:
            hashlib.sha256(data).digest()  # native
        """
    )
    line = max(lines(profile_of(it.pid)).values(), key=lambda line: line["n_cpu_percent_c"])
    assert line["line"].strip().endswith("# native") and line["n_cpu_percent_c"] > 90


def test_waiting_for_a_cpu_is_no_work(any_python, program, profile_of):
    """A thread that has woken up and gets no CPU stands where it slept; that is not native code."""
    it = Target(
        any_python,
        program(
            """
            import os, time
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            parent = os.getpid()
            for _ in range(6):
                if os.fork() == 0:  # rivals on the same CPU
                    while os.getppid() == parent:
                        for _ in range(10000):
                            pass
                    os._exit(0)
            print("ready")
            while True:
                time.sleep(0.002)  # nap
                for _ in range(40000):
                    pass
            """
        ),
    )
    try:
        line = next(line for line in lines(profile_of(it.pid, duration=2)).values() if "# nap" in line["line"])
    finally:
        it.end()
    assert line["n_cpu_percent_c"] < line["n_wait_percent"], line  # it was two to three times as much


def test_the_end_of_the_target(target, tmp_path):
    end = tmp_path / "end"
    it = target("import os, sys\nprint('ready')\nwhile not os.path.exists(sys.argv[1]):\n    sum(range(10000))\n", end)
    outfile = tmp_path / "p.json"
    command = [heatline_executable(), "attach", "-o", outfile, str(it.pid)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        wait_until(lambda: opened(process.pid, it.pid))
        time.sleep(0.7)
        end.touch()
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 0, said
    assert "looks a second), taken with" in said and "overhead" not in said
    assert json.loads(outfile.read_text())["heatline"]["quality"]["samples"] > 10


@pytest.mark.parametrize(
    "options", [["-c"], ["-uc"], ["-Wignore", "-c"], ["-W", "ignore", "-OX", "dev", "-c"]], ids=" ".join
)
def test_a_program_without_a_script(any_python, profile_of, program, options):
    """What is in the current folder is its own, whatever the text of the program has in it."""
    script = program("""
        def work():
            print("ready", flush=True)
            while True:
                sum(range(1000))
        """, "own.py")
    text = "import sys; sys.path.insert(0, '.'); import own; own.work()  # /a/b.py"
    process = subprocess.Popen(
        any_python.command([any_python.executable, *options, text]), cwd=script.parent, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout.readline() == b"ready\n"
        profile = profile_of(process.pid)
    finally:
        process.kill()
        process.communicate()
    assert str(script) in profile["files"]
    assert "/a/b.py" not in profile["program"]


EXECUTES = """
    import os, sys, time

    def before():
        print("ready")
        while not os.path.exists(sys.argv[1]):
            sum(range(1000))

    if len(sys.argv) > 2:
        before()
        os.execvp(sys.argv[2], sys.argv[2:])

    def after():
        end = time.monotonic() + 1
        while time.monotonic() < end:
            sum(range(1000))

    after()
    """


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_target_that_becomes_another_program(oldest_or_newest, program, tmp_path, goes_on):
    """It is followed into another Python; of what is none there is nothing to be told."""
    script, end, outfile = program(EXECUTES), tmp_path / "end", tmp_path / "p.json"
    following = [oldest_or_newest.executable, script, end] if goes_on else ["sleep", "600"]
    it = Target(oldest_or_newest, script, end, *following)
    process = subprocess.Popen([heatline_executable(), "attach", "-o", outfile, str(it.pid)])
    try:
        wait_until(lambda: opened(process.pid, it.pid))
        time.sleep(0.5)
        end.touch()
        assert process.wait(60) == 0
    finally:
        process.kill()
        it.end()
    profile = json.loads(outfile.read_text())
    assert ("after" in inclusive(profile)) == goes_on and "before" in inclusive(profile)
    said = any("another program (exec)" in text for text in profile["heatline"]["quality"]["warnings"])
    assert said == (not goes_on)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(any_python, tmp_path, number):
    it = Target(any_python, RATIO)
    outfile = tmp_path / "p.json"
    process = subprocess.Popen([heatline_executable(), "attach", "-o", outfile, str(it.pid)])
    try:
        wait_until(lambda: opened(process.pid, it.pid))
        time.sleep(0.5)
        process.send_signal(number)
        assert process.wait(30) == 0
        assert json.loads(outfile.read_text())["heatline"]["quality"]["samples"] > 10
        assert it.process.poll() is None
    finally:
        process.kill()
        it.end()


def opened(pid, target):
    """Whether heatline has begun to look: it has a file of the target open."""
    try:
        files = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return False
    return any(f"/proc/{target}/" in name for name in files)


def test_children(target, profile_of):
    it = target(
        """
        import os, sys
        def work():
            while True:
                sum(range(1000))
        if os.fork() == 0:
            work()
        print("ready")
        try:
            os.wait()
        except KeyboardInterrupt:
            pass
        """
    )
    try:
        profile = profile_of(it.pid, "--children", duration=1.5)
        assert len(profile["heatline"]["processes"]) == 2
        assert inclusive(profile)["work"] > 20
    finally:
        subprocess.run(["pkill", "-KILL", "-P", str(it.pid)], check=False)


def test_deep_stacks(target, profile_of):
    it = target(
        """
        import sys, threading
        sys.setrecursionlimit(20000)
        threading.stack_size(512 << 20)
        def deep(n):
            if n:
                deep(n - 1)
            print("ready")
            while True:
                innermost()
        def innermost():
            sum(range(500))
        threading.Thread(target=deep, args=(5000,), daemon=True).start()
        threading.Event().wait()
        """
    )
    profile = profile_of(it.pid)
    share = inclusive(profile)
    assert share["innermost"] > 0.7 * share["deep"] > 5, share
    assert any("deep" in text for text in profile["heatline"]["quality"]["warnings"])


def test_bad_input(tmp_path):
    for words in (["x"], [], ["--rate", "0", "1"], ["-d", "-1", "1"], ["-o", tmp_path / "no" / "p.json", "1"]):
        done = heatline("attach", *words)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert runs.run([heatline_executable(), "attach", "--help"]).returncode == 0
