"""One profile for all processes of a program, in which each is one entry."""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from support.again import Kept
from support.paths import PROGRAMS, heatline_executable
from support.running import wait_until
from support.runs import clean_environment

pytestmark = pytest.mark.measures

PROCESSES = PROGRAMS / "processes"
LATE_CHILD = Path(__file__).parent / "doubles" / "late_child.c"


TREES = Kept()


@pytest.fixture
def tree(python):
    """(name of each process to its entry, profile) of a program that has all kinds of children."""
    done = TREES.get(python, lambda: python.heatline_run(PROCESSES / "kinds.py", options=["--quiet"]))
    assert done.returncode == 0, done
    pids = {name: int(pid) for name, pid in (line.split() for line in done.stdout.splitlines())}
    entries = {}
    for name, pid in pids.items():
        found = [p for p in done.profile["heatline"]["processes"] if p["pid"] == pid]
        assert len(found) == 1, (name, found)
        entries[name] = found[0]
    return entries, done.profile


def cpu_s(profile, pid):
    processes = profile["heatline"]["processes"]
    return sum(
        thread["cpu_s"]
        for thread in profile["heatline"]["threads"]
        if processes[thread["process"]]["pid"] == pid
    )


def test_every_kind_of_child_is_there(tree):
    entries, profile = tree
    wanted = "main subprocess below_shell exec killed left light heavy spawn forkserver executor"
    assert set(wanted.split()) <= set(entries)
    main = entries["main"]["pid"]
    children = ["subprocess", "exec", "killed", "left", "light", "heavy", "spawn"]
    for name in children:
        assert entries[name]["parent_pid"] == main, name
    assert entries["below_shell"]["parent_pid"] != main


FORKED_TWICE = """\
import os, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
while time.process_time() < 0.3:
    pass
"""


def test_a_daemon_whose_parents_are_gone_before_it_runs(any_python, program, tmp_path):
    library = tmp_path / "late_child.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, LATE_CHILD], check=True)
    script = program(FORKED_TWICE)
    done = any_python.heatline_run(script, options=["--quiet"], env={"LD_PRELOAD": str(library)})
    assert done.returncode == 0, done.describe()

    def has_all():
        """The profile is written again when the daemon has ended."""
        threads = json.loads(done.profile_path.read_text())["heatline"]["threads"]
        return len(threads) == 3 and max(thread["cpu_s"] for thread in threads) > 0.2

    wait_until(has_all)


def test_what_a_thread_did_before_exec_is_not_counted_again(python, program):
    """The kernel goes on counting: half a second of work would hide as much waiting."""
    script = program("""\
        import os, sys, time
        if len(sys.argv) == 1:
            while time.process_time() < 0.5:
                pass
            os.execv(sys.executable, [sys.executable, __file__, "again"])
        time.sleep(0.7)
        """)
    done = python.heatline_run(script, options=["--quiet"])
    waited_s = sum(thread["off_cpu_s"] for thread in done.profile["heatline"]["threads"])
    assert waited_s >= 0.6


def test_the_line_that_starts_a_worker_is_not_the_programs(any_python, program):
    """execnet's, whose workers (pytest-xdist) get what to run by their input."""
    text = """\
import time


while time.process_time() < 0.3:
    pass
"""
    script = program(f"""\
        import subprocess, sys
        line = "import sys;exec(eval(sys.stdin.readline()))"
        text = repr({text!r}) + "\\n"
        subprocess.run([sys.executable, "-c", line], input=text.encode(), check=True)
        """)
    done = any_python.heatline_run(script, options=["--quiet"])
    assert done.returncode == 0, done.describe()
    assert list(done.profile["files"]) == [str(script)]


def test_children_with_an_environment_of_their_own(python):
    """They are profiled too, and find what they were given."""
    script = PROCESSES / "environments.py"
    done = python.heatline_run(script, options=["--quiet"])
    assert (done.returncode, done.stdout) == (0, python.run_plain(script).stdout), done.describe()
    processes = done.profile["heatline"]["processes"]
    assert {process["ended"] for process in processes} == {"exit status 0"}, processes
    commands = [process["command"] for process in processes]
    assert len(commands) == 11 and len([c for c in commands if "range" in c]) == 10, commands


def test_children_that_are_soon_gone_have_their_command(any_python, program):
    """After a calm time the collector looks ten times a second; a child may last a fifth of that."""
    script = program("""\
        import subprocess, sys, time
        end = time.process_time() + 2.5
        while time.process_time() < end:
            sum(range(1000))
        for i in range(6):
            subprocess.check_call([sys.executable, "-S", "-c", "child = %d" % i])
        """)
    done = any_python.heatline_run(script, options=["--quiet"])
    assert done.returncode == 0, done.describe()
    commands = [p["command"] for p in done.profile["heatline"]["processes"]]
    assert sorted(c[-9:] for c in commands[1:]) == ["child = %d" % i for i in range(6)], commands


@pytest.mark.skipif(os.geteuid() != 0, reason="changes its root")
@pytest.mark.parametrize("how", ["os.execv('/it', ['/it'])", "os.execve('/it', ['/it'], {'A': '1'})"])
def test_program_below_another_root(any_python, program, tmp_path, how):
    """The loader does not complain that it does not find the agent."""
    root = tmp_path / "root"
    for line in subprocess.check_output(["ldd", "/usr/bin/env"], text=True).splitlines():
        for word in line.split():
            if word.startswith("/"):
                (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(word, root / word[1:])
    shutil.copy("/usr/bin/env", root / "it")
    script = program(f"""\
        import os, sys
        if os.fork() == 0:
            os.chroot({str(root)!r})
            {how}
        sys.exit(os.WEXITSTATUS(os.wait()[1]))
        """)
    done = any_python.heatline_run(script, options=["--quiet"])
    assert done.returncode == 0, done.describe()
    assert "LD_PRELOAD" not in done.stdout and "HEATLINE_RUN" not in done.stdout
    assert "preloaded" not in done.stderr


def test_pid_namespace_of_its_own(any_python, program):
    """There it is process 1, which here is another: one that never ends."""
    script = program("""\
        import os, threading, time
        def wait():
            time.sleep(0.6)
        thread = threading.Thread(target=wait)
        thread.start()
        while time.process_time() < 0.3:
            pass
        thread.join()
        time.sleep(0.5)
        if os.fork() == 0:
            while time.process_time() < 0.6:
                pass
            os._exit(3)
        os.wait()
        print(os.getpid())
        """)
    command = ["unshare", "--pid", "--fork", "--kill-child", any_python.executable, str(script)]
    done = any_python.heatline(["run", "-o", script.parent / "out.json", *command])
    if "unshare" in done.stderr and done.returncode:
        pytest.skip("there may be no such namespace here")
    assert done.stdout == "1\n", done
    assert "still running" not in done.stderr
    profile = json.loads((script.parent / "out.json").read_text())
    process, child = sorted(profile["heatline"]["processes"], key=lambda process: process["start_s"])
    assert process["pid"] != 1 and str(script) in process["command"]
    assert (process["ended"], child["ended"]) == ("exit status 0", "exit status 3")
    assert child["parent_pid"] == process["pid"]
    assert profile["heatline"]["time"]["wait_s"] > 0.4
    assert cpu_s(profile, child["pid"]) == pytest.approx(0.6, abs=0.2)


def test_how_each_ended(tree):
    entries, _ = tree
    assert entries["main"]["ended"] == "exit status 0"
    assert entries["killed"]["ended"] == "killed"
    assert entries["left"]["ended"] == "exit status 9"
    for name in ("subprocess", "exec", "heavy", "spawn"):
        assert entries[name]["ended"] == "exit status 0", name


def test_a_child_that_starts_another_program_is_one_process(tree):
    """It was there twice: as the copy of its parent, and as what it became."""
    entries, profile = tree
    assert " -c import time" in entries["exec"]["command"]
    assert cpu_s(profile, entries["exec"]["pid"]) > 0.05
    pids = [process["pid"] for process in profile["heatline"]["processes"]]
    assert len(pids) == len(set(pids))


def test_programs_without_python_that_processes_become(python, program):
    """They were killed, it said, and lasted as long as what they had become if that computed.  An exec
    that fails is none."""
    script = program("""
        import os, sys, time
        def fork(run):
            pid = os.fork()
            if pid == 0:
                run()
            os.waitpid(pid, 0)
            print(pid)
        def fail():
            try:
                os.execv("/no/such/program", ["program"])
            except OSError:
                os._exit(3)
        count = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
        fork(lambda: os.execvp("sleep", ["sleep", "0.5"]))
        fork(lambda: os.execv("/bin/sh", ["sh", "-c", count]))
        fork(lambda: os.execve(os.open("/bin/sleep", os.O_RDONLY), ["sleep", "0"], os.environ))
        fork(fail)
        fork(lambda: os.kill(os.getpid(), 9))
        fork(lambda: os.execv(sys.executable, [sys.executable, "-c", ""]))
        """)
    done = python.heatline_run(script, options=["--quiet", "--cpu-only"])
    assert done.returncode == 0, done
    entries = {entry["pid"]: entry for entry in done.profile["heatline"]["processes"]}
    children = [entries[int(pid)] for pid in done.stdout.split()]
    assert [child["ended"] for child in children] == [
        "other program", "other program", "other program", "exit status 3", "killed",
        "exit status 0"]
    assert children[0]["end_s"] < children[1]["start_s"] - 0.45
    assert children[1]["end_s"] < children[2]["start_s"] - 0.05
    assert not any("became" in warning for warning in done.profile["heatline"]["quality"]["warnings"])


def test_a_program_that_becomes_one_without_python(any_python, program):
    """It is said what there is nothing of: a launcher ran for 3 ms, the rest was not mentioned."""
    done = any_python.heatline_run(program("import os; os.execvp('sleep', ['sleep', '0.4'])"))
    assert done.returncode == 0, done
    (warning,) = [text for text in done.profile["heatline"]["quality"]["warnings"] if "became" in text]
    assert "exec" in warning
    assert done.profile["heatline"]["time"]["wait_s"] < 0.2
    assert done.profile["heatline"]["processes"][0]["ended"] == "exit status 0"


def test_names_that_multiprocessing_gives(oldest_or_newest, heatline):
    """The line with which it starts Python is none of the program's, nor what those that only serve wait."""
    done = oldest_or_newest.heatline_run(PROCESSES / "named.py", options=["--quiet", "--cpu-only"])
    assert done.returncode == 0, done
    names = [process.get("name") for process in done.profile["heatline"]["processes"]]
    assert {"the forked one", "SpawnProcess-2", "ForkServerProcess-3", "fork server"} <= set(names)
    assert names[0] is None
    assert not any(name.startswith("<") for name in done.profile["files"])
    threads = done.profile["heatline"]["threads"]
    serve = [i for i, name in enumerate(names) if name in ("fork server", "resource tracker")]
    assert sum(thread["off_cpu_s"] for thread in threads if thread["process"] in serve) > 1
    assert done.profile["heatline"]["time"].get("idle_s", 0) < 0.2
    report = oldest_or_newest.run([heatline, "view", "--cli", done.profile_path]).stdout
    assert "the forked one  " in report


def test_a_pool_without_work_is_no_waiting(python):
    """What its processes wait for work is told of them; what they wait in their work counts."""
    done = python.heatline_run(PROCESSES / "idle_pools.py", options=["--quiet", "--cpu-only"])
    assert done.returncode == 0, done
    profile = done.profile["heatline"]
    workers = [thread["off_cpu_s"] for thread in profile["threads"] if thread["process"] > 0]
    slept_s = profile["time"]["waits_s"]["sleep"]
    assert 0.5 < slept_s < 1.5
    assert sum(workers) > 3
    assert sum(workers) - slept_s > 2 * (profile["time"]["wait_s"] - slept_s)


def test_a_manager_without_work_is_no_waiting(python):
    """It was half of the total; what one of its clients makes it wait for counts, as that thread's."""
    done = python.heatline_run(PROCESSES / "idle_manager.py", options=["--quiet", "--cpu-only"])
    assert done.returncode == 0, done
    profile = done.profile["heatline"]
    served = [thread["off_cpu_s"] for thread in profile["threads"] if thread["process"] > 0]
    assert max(served) > 1.2
    main = next(thread for thread in profile["threads"] if thread["process"] == 0 and thread["is_main"])
    assert abs(profile["time"]["wait_s"] - main["off_cpu_s"]) < 0.1
    assert 0.2 < profile["time"]["waits_s"]["queue"] < 0.7
    assert profile["time"]["waits_s"]["socket"] < main["off_cpu_s"] + 0.1


def test_pre_fork_server(newest_python):
    """Workers that are told to end by a signal: what each has done is there, on one line."""
    done = newest_python.heatline_run(PROCESSES / "prefork.py", options=["--quiet", "--cpu-only"])
    assert done.returncode == 0, done
    workers = [int(pid) for pid in done.stdout.split()]
    processes = {entry["pid"]: entry for entry in done.profile["heatline"]["processes"]}
    assert len(processes) == 1 + len(workers)
    main = next(pid for pid in processes if pid not in workers)
    assert {processes[pid]["parent_pid"] for pid in workers} == {main}
    assert {processes[pid]["ended"] for pid in workers} == {"killed"}
    work = sum(cpu_s(done.profile, pid) for pid in workers)
    assert work > 3 * cpu_s(done.profile, main)
    lines = done.lines_of(PROCESSES / "prefork.py").values()
    on_work = sum(line["cpu_s"] for line in lines if line["line"].strip().startswith(("total +=", "for i")))
    assert on_work > 0.7 * work


def test_unequal_work(tree):
    entries, profile = tree
    light = cpu_s(profile, entries["light"]["pid"])
    heavy = cpu_s(profile, entries["heavy"]["pid"])
    assert 1.8 < heavy / light < 5
    assert entries["heavy"]["peak_resident_mb"] > 3


def test_what_a_fork_does_is_no_time_of_the_line_that_starts_it(python, program):
    """The frames below are the parent's; where the fork runs a library alone, they say whose it is."""
    script = program("""\
        import multiprocessing, time

        def sleeper():
            time.sleep(0.6)

        def main():
            fork = multiprocessing.get_context("fork").Process
            for process in fork(target=sleeper), fork(target=time.sleep, args=(0.6,)):
                process.start()
                process.join()

        main()
        """)
    done = python.heatline_run(script, options=["--quiet", "--cpu-only"])
    assert done.returncode == 0, done
    lines = done.lines_of(script)
    assert lines[4]["wait_s"] == pytest.approx(0.6, abs=0.15)
    assert lines[9]["inclusive_s"] == pytest.approx(0.6, abs=0.2)
    assert lines[12]["inclusive_s"] == pytest.approx(1.8, abs=0.3)
    assert lines[4]["waits_for"] == lines[9]["waits_for"] == "sleep"


def test_table_in_the_report(tree, heatline, tmp_path):
    entries, profile = tree
    path = tmp_path / "p.json"
    path.write_text(json.dumps(profile))
    report = subprocess.run(
        [heatline, "view", "--cli", "-r", path], stdout=subprocess.PIPE, encoding="utf-8"
    ).stdout
    table = report[report.index("Processes") :]
    for name in ("main", "killed", "heavy"):
        assert f"{entries[name]['pid']} " in table


RUN = """
import subprocess, sys
seen = set()
for _ in range(100):  # its threads may be in each other's way
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen.add((done.returncode, done.stdout, done.stderr))
for one in seen:
    print(*one)
"""


@pytest.mark.parametrize("options", [[], ["--cpu-only"]], ids=["memory", "cpu"])
@pytest.mark.parametrize("compiler", [["gcc"], ["gcc", "-static"], ["musl-gcc"]], ids=" ".join)
def test_child_that_is_no_python(any_python, program, compiler, options, tmp_path):
    """Also with another C library, whose loader would refuse what it does not know."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no {compiler[0]} on this machine")
    child = tmp_path / "other"
    subprocess.run([*compiler, "-O1", "-o", child, PROCESSES / "other.c", "-lpthread"], check=True)
    done = any_python.heatline_run(program(RUN), [child], options=["-q", *options])
    assert done.stdout == "5 b'1 0 0 1\\n' b''\n", done


MANY = """
import os, time
children = []
for _ in range(24):
    child = os.fork()
    if child == 0:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        time.sleep(1)
        os._exit(0)
    children.append(child)
print(sum(os.waitpid(child, 0)[1] for child in children))
"""


def run_with_little_shared_memory(any_python, program, heatline, outfile, size):
    """The folder for temporary files is as small; what it had before is below /mnt."""
    words = [heatline, "run", "-q", "--cpu-only", "--python", any_python.executable, "-o", outfile, program(MANY)]
    little = f"mount -t tmpfs -o size={size} tmpfs"
    inner = f'mount --rbind /tmp /mnt && {little} /tmp && {little} /dev/shm || exit 77; cd /; exec "$@"'
    moved = [re.sub("^/tmp/", "/mnt/", str(word)) for word in words]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", inner, "sh", *moved],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=clean_environment({"TMPDIR": None}),
        timeout=60,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("needs the right to mount")
    assert (done.returncode, done.stdout) == (0, "0\n"), done
    return json.loads(outfile.read_text())["heatline"]


SHARES = """
import mmap, os
place = "/dev/shm/array"
with open(place, "wb") as array:
    os.posix_fallocate(array.fileno(), 0, 40 << 20)
os.unlink(place)
"""


def test_shared_memory_of_a_container_is_the_programs(any_python, program, heatline, tmp_path):
    """It has 64 MB of it, as a rule; what is measured goes elsewhere."""
    words = [heatline, "run", "-q", "--python", any_python.executable, "-o", tmp_path / "p.json"]
    show = program(SHARES + 'print([name for name in os.listdir("/dev/shm")], end="")')
    inner = 'mount -t tmpfs -o size=64m tmpfs /dev/shm || exit 77; exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", inner, "sh", *map(str, words), str(show)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=clean_environment(),
        timeout=60,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("needs the right to mount")
    assert (done.returncode, done.stdout) == (0, "[]"), done
    assert json.loads((tmp_path / "p.json").read_text())["heatline"]["processes"]


def test_little_shared_memory_is_enough(any_python, program, heatline, tmp_path):
    """Of a ring only what is used has to be there: 25 of them are 50 MB."""
    if tuple(map(int, os.uname().release.split(".")[:2])) < (5, 14):
        pytest.skip("an old kernel: rings have all their pages at once")
    profile = run_with_little_shared_memory(any_python, program, heatline, tmp_path / "p.json", "10m")
    assert len(profile["processes"]) == 25
    assert not any("no room" in text for text in profile["quality"]["warnings"])


def test_no_room_in_shared_memory(any_python, program, heatline, tmp_path):
    """As in a container with little of it: those without a ring run on unprofiled.

    The least that a ring takes is 44 KB, the journal takes 256."""
    profile = run_with_little_shared_memory(any_python, program, heatline, tmp_path / "p.json", "900k")
    assert 2 <= len(profile["processes"]) < 25
    assert any("no room for more in shared memory" in text for text in profile["quality"]["warnings"])


DAEMON = """
import os, sys, time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.02)
        work(0.5)
    os._exit(0)
os.wait()
work(0.1)
"""


def test_what_the_program_leaves_running(python, program, tmp_path):
    """Nobody waits for a daemon; its profile comes when it has ended."""
    go = tmp_path / "go"
    outfile = tmp_path / "p.json"
    words = [heatline_executable(), "run", "--python", python.executable, "-o", outfile]
    done = subprocess.run(
        [str(part) for part in python.command([*words, program(DAEMON), go])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=clean_environment(),
        timeout=60,
    )
    assert done.returncode == 0
    assert "1 of its processes is still running" in done.stderr
    first = json.loads(outfile.read_text())
    assert first["heatline"]["is_partial"]
    assert [process["ended"] for process in first["heatline"]["processes"]].count(None) == 1
    time.sleep(0.3)
    go.touch()
    wait_until(lambda: not json.loads(outfile.read_text())["heatline"]["is_partial"])
    last = json.loads(outfile.read_text())
    daemon = next(p for p in first["heatline"]["processes"] if p["ended"] is None)
    assert cpu_s(last, daemon["pid"]) > 0.3
    assert os.path.exists(outfile)


@pytest.mark.measures
def test_waiting_of_children_that_are_soon_gone(python, program):
    """A look meets about half of them: those stand for the others."""
    script = program("""
        import os, time

        for i in range(60):
            pid = os.fork()
            if pid == 0:
                time.sleep(0.02)
                os._exit(0)
            os.waitpid(pid, 0)
        """)
    profile = python.heatline_run(script, options=["--cpu-only"]).profile
    lines = {line["line"].strip(): line for line in profile["files"][str(script)]["lines"]}
    assert lines["time.sleep(0.02)"]["wait_s"] == pytest.approx(1.2, rel=0.12)
    heatline = profile["heatline"]
    lived = sum(p["end_s"] - p["start_s"] for p in heatline["processes"][1:])
    waited = lines["os.waitpid(pid, 0)"]["wait_s"]
    assert heatline["time"]["total_s"] == pytest.approx(waited + lived, rel=0.1)


SPIN = """\
import time
while time.process_time() < 0.4:
    pass
"""


def run_and_leave(python, tmp_path, *words):
    """heatline run of something that goes on behind it; what it printed, and its profile's place."""
    outfile = tmp_path / "p.json"
    command = [heatline_executable(), "run", "-o", outfile, *words]
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=tmp_path,
        env=clean_environment({"PYTHON": str(python.executable)}),
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done, outfile


def has_spun(outfile, script):
    """The whole profile is there, and has the script's time."""
    profile = json.loads(outfile.read_text()) if outfile.exists() else {"files": {}}
    return str(script) in profile["files"] and not profile["heatline"]["is_partial"]


def test_python_that_a_shell_leaves_behind(any_python, program, tmp_path):
    """The shell ends before its child is Python at all."""
    script = program(SPIN)
    shell = 'exec >/dev/null 2>&1; { sleep 0.05; exec "$PYTHON" "$0"; } &'
    done, outfile = run_and_leave(any_python, tmp_path, "sh", "-c", shell, script)
    assert "started no Python" not in done.stderr
    wait_until(lambda: has_spun(outfile, script), 20)


LAUNCHER = """\
import subprocess, sys
shell = 'exec >/dev/null 2>&1; sleep 0.6; exec "$PYTHON" "$0"'
subprocess.Popen(["sh", "-c", shell, sys.argv[1]], start_new_session=True)
"""


def test_python_that_is_started_after_the_last_has_ended(any_python, program, tmp_path):
    """The user does not wait for it; the profile gets it when it has come."""
    script = program(SPIN)
    launcher = program(LAUNCHER, "launcher.py")
    done, outfile = run_and_leave(
        any_python, tmp_path, "--python", any_python.executable, launcher, script
    )
    assert "What it left behind" in done.stderr
    first = json.loads(outfile.read_text())
    assert len(first["heatline"]["processes"]) == 1 and not first["heatline"]["is_partial"]
    wait_until(lambda: has_spun(outfile, script), 20)


def test_what_is_left_behind_without_python_changes_nothing(any_python, program, tmp_path):
    """Another run's profile may stand where this one's was written."""
    script = program("import subprocess\nsubprocess.Popen(['sleep', '0.8'])\n")
    done, outfile = run_and_leave(any_python, tmp_path, "--python", any_python.executable, script)
    assert "What it left behind (1 process)" in done.stderr
    outfile.write_text("another run's")
    time.sleep(2)
    assert outfile.read_text() == "another run's"
