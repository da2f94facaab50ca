"""heatline attach: Python, native and system time told apart by perf events on the threads,
where the kernel permits them; where not, the profile says how, and why."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support import runs
from support.paths import REPO, heatline_executable
from support.pythons import all_pythons
from support.seccomp import without
from support.targets import Target

pytestmark = pytest.mark.measures

KINDS = REPO / "bench" / "attach" / "programs" / "kinds.py"
ALL = all_pythons()
SOME = sorted({ALL[0], ALL[len(ALL) // 2], ALL[-1]}, key=lambda python: python.version)

PYTHON, NATIVE, SYSTEM = KEYS = ("n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent")


@pytest.fixture
def start():
    made = []

    def make(python, script=KINDS):
        made.append(Target(python, script))
        return made[-1]

    yield make
    for one in made:
        one.end()


def read_profile(outfile, said):
    """The profile, and the sentence in it that says how kinds of time were told apart."""
    profile = json.loads(outfile.read_text(encoding="utf-8"))
    (how,) = [text for text in profile["heatline"]["quality"]["warnings"] if "looked at from outside" in text]
    assert " ".join(how.split()) in " ".join(said.split()), said  # the lines of the text are wrapped
    return profile, how


def attach(command, tmp_path, *pids):
    outfile = tmp_path / "attached.json"
    done = runs.run([*command, "-o", outfile, *pids])
    assert done.returncode == 0, done.stderr
    return read_profile(outfile, done.stderr)


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def attach_for_cpu(tmp_path, pid, wanted_s, most_s=40):
    """Attached until the program has had so much CPU time, however busy the machine is; says how much of
    a CPU that was.  The looks are rare: where no CPU is idle each of them takes the program's away."""
    outfile = tmp_path / "attached.json"
    command = [heatline_executable(), "attach", "--rate", "200", "-o", outfile, str(pid)]
    start, start_cpu = time.monotonic(), cpu_s(pid)
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        while cpu_s(pid) - start_cpu < wanted_s and time.monotonic() - start < most_s:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 0, said
    part_of_cpu = (cpu_s(pid) - start_cpu) / (time.monotonic() - start)
    return (*read_profile(outfile, said), part_of_cpu)


def kinds(profile):
    """Time by kind of the lines that say what they do, and of all."""
    marked, whole = {}, dict.fromkeys(KEYS, 0.0)
    for file in profile["files"].values():
        for line in file["lines"]:
            for key in KEYS:
                whole[key] += line[key]
            if "#" in line["line"]:
                marked[line["line"].split("#")[-1].strip()] = {key: line[key] for key in KEYS}
    return marked, whole


def part(line, key):
    return line[key] / sum(line.values())


@pytest.mark.alone
@pytest.mark.parametrize("chosen", SOME, ids=lambda python: python.name)
def test_kinds(chosen, start, tmp_path):
    it = start(chosen)
    profile, how, part_of_cpu = attach_for_cpu(tmp_path, it.pid, 2)
    if "there are no perf events" in how or "may not be watched" in how:
        pytest.skip(f"perf events are not permitted here: {how}")
    os.kill(it.pid, signal.SIGUSR1)
    taken = [float(word) for word in it.process.stdout.readline().split()]
    marked, whole = kinds(profile)
    assert "Python, native and system time are told apart by perf events" in how
    assert profile["heatline"]["quality"]["clock"] == "looks from outside and perf events"
    assert part(marked["Python"], PYTHON) > 0.8, marked
    assert part(marked["native"], NATIVE) > 0.7, marked
    assert part(marked["system"], SYSTEM) > 0.7, marked
    # Where a thread is met that has no CPU is the machine's business, so all lines together
    # are right only if it mostly had one.
    truth = 100 * taken[2] / sum(taken)
    assert abs(whole[SYSTEM] - truth) < 15 or part_of_cpu < 0.7, (whole, taken)


def test_forbidden(any_python, start, tmp_path):
    command = without("perf_event_open", [heatline_executable(), "attach", "-d", "1"])
    profile, how = attach(command, tmp_path, start(any_python).pid)
    marked, whole = kinds(profile)
    assert "by the current instruction" in how and "time in the kernel counts as one of them" in how
    assert "no perf events on the threads (" in how
    assert "perf_event_paranoid is" in how or "seccomp" in how
    assert profile["heatline"]["quality"]["clock"] == "looks from outside"
    assert whole[SYSTEM] == 0 and whole[NATIVE] > 0
    assert part(marked["Python"], PYTHON) > 0.8, marked


def test_not_wanted(any_python, start, tmp_path):
    command = [heatline_executable(), "attach", "-d", "0.7", "--no-perf"]
    profile, how = attach(command, tmp_path, start(any_python).pid)
    assert "by the current instruction" in how and "perf" not in how
    assert kinds(profile)[1][SYSTEM] == 0


def test_an_idle_program_needs_none(any_python, start, program, tmp_path):
    it = start(any_python, program("import time\nprint('ready')\ntime.sleep(1000)\n"))
    command = [heatline_executable(), "attach", "-d", "0.5"]
    profile, how = attach(command, tmp_path, it.pid)
    assert "by the current instruction" in how and "too few" in how
    assert profile["heatline"]["quality"]["clock"] == "looks from outside"


THREADS = """
    import os, threading

    room = bytearray(400_000)
    zeroes = os.open("/dev/zero", os.O_RDONLY)

    def read():
        os.readv(zeroes, [room, room])  # system

    def burn():
        for _ in range(2000):
            pass  # Python

    def both():
        for _ in range(20):
            read()
            burn()

    print("ready")
    while True:
        threads = [threading.Thread(target=both) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
"""


def test_threads_that_come_and_go(any_python, start, program, tmp_path):
    """Not one lives long enough to be sampled for long: nothing is lost or made up for it."""
    it = start(any_python, program(THREADS))
    command = [heatline_executable(), "attach", "-d", "1.5", "--rate", "200"]
    profile, _ = attach(command, tmp_path, it.pid)
    marked, whole = kinds(profile)
    assert it.process.poll() is None
    assert sum(whole.values()) > 90, whole
    assert all(line[key] >= 0 for line in marked.values() for key in KEYS)


def test_few_descriptors(any_python, start, program, tmp_path):
    """Without a descriptor for it there is no event: the profile is made all the same."""
    it = start(any_python, program(MANY))
    limit = ["prlimit", "--nofile=24:24", heatline_executable(), "attach", "-d", "1.5"]
    profile, how = attach(limit, tmp_path, it.pid)
    _, whole = kinds(profile)
    assert sum(whole.values()) > 90, whole
    assert "looked at from outside" in how


MANY = """
    import threading

    def burn():
        while True:
            pass  # Python

    for _ in range(12):
        threading.Thread(target=burn, daemon=True).start()
    print("ready")
    burn()
"""


def test_the_program_ends_meanwhile(any_python, start, tmp_path):
    it = start(any_python)
    outfile = tmp_path / "attached.json"
    process = subprocess.Popen([heatline_executable(), "attach", "-o", outfile, str(it.pid)], stderr=subprocess.PIPE)
    time.sleep(1.5)
    it.process.kill()
    _, said = process.communicate(timeout=30)
    assert process.returncode == 0, said
    _, whole = kinds(json.loads(outfile.read_text(encoding="utf-8")))
    assert sum(whole.values()) > 90, whole
