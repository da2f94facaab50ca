"""When the kernel says no: one sentence with the cause, and the line that permits it; and
processes that are looked at although they live elsewhere."""

import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from support import runs
from support.paths import heatline_executable
from support.running import wait_until
from support.seccomp import NUMBERS, without
from support.targets import Target, dump, functions, thread_of

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="takes away rights, so it needs some")

NOBODY = 65534

WAITS = """
    import os, threading, time
    {before}
    def inner():
        print("ready")
        time.sleep(1000)
    threading.Thread(target=inner, name="other", daemon=True).start()
    time.sleep(1000)
"""

# From then on the kernel protects it from others of its user.
AS_NOBODY = f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})"

# Shows the command a Yama with this setting, and runs it as nobody.
WITH_YAMA = """
mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama &&
echo "$1" > /proc/sys/kernel/yama/ptrace_scope && shift && exec setpriv --reuid 65534 --clear-groups "$@"
"""


def refused(done, *words):
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith("heatline: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def at_rest(found):
    """The dump, once both threads of the program sleep."""
    waits = [thread["waiting_for"] for thread in found["threads"]]
    return found if waits == ["sleep", "sleep"] else None


@pytest.fixture
def anyones_heatline():
    """The executable where every user can run it."""
    folder = tempfile.mkdtemp(prefix="heatline-anyone-")
    os.chmod(folder, 0o755)
    yield Path(shutil.copy(heatline_executable(), folder))
    shutil.rmtree(folder)


@pytest.fixture
def target(any_python, program):
    made = []

    def make(before=""):
        made.append(Target(any_python, program(WAITS.format(before=before))))
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_seccomp(target):
    for words in (["dump"], ["attach", "-d", "1", "-o", "/dev/null"], ["top", "--once"]):
        done = runs.run(without("process_vm_readv", [heatline_executable(), *words, target().pid]))
        refused(done, "a seccomp filter of this container forbids", "docker run --cap-add SYS_PTRACE")


@pytest.mark.parametrize(
    "scope, words",
    [
        ("1", ["only at its children (yama ptrace_scope 1)", "sudo sysctl kernel.yama.ptrace_scope=0"]),
        ("2", ["only root look at other processes (yama ptrace_scope 2)", "sudo heatline dump"]),
        ("3", ["nobody look at other processes", "yama ptrace_scope 3", "/etc/sysctl.conf"]),
        ("0", ["it has protected itself", "sudo heatline dump"]),
    ],
)
def test_yama(target, anyones_heatline, scope, words):
    it = target(AS_NOBODY)
    command = ["unshare", "--mount", "sh", "-c", WITH_YAMA, "sh", scope, anyones_heatline, "dump", it.pid]
    done = runs.run(command)
    if "mount" in done.stderr:
        pytest.skip("nothing may be mounted here: " + done.stderr)
    refused(done, *words)


@pytest.mark.parametrize(
    "options, words",
    [
        (["--reuid", str(NOBODY), "--clear-groups"], ["belongs to another user, root", "sudo heatline dump"]),
        (["--bounding-set", "-sys_ptrace"], ["CAP_SYS_PTRACE", "docker run --cap-add SYS_PTRACE"]),
    ],
)
def test_another_user_and_no_capability(target, anyones_heatline, options, words):
    refused(runs.run(["setpriv", *options, anyones_heatline, "dump", target().pid]), *words)


def test_root_sees_what_protects_itself(target):
    it = target(AS_NOBODY)
    found = wait_until(lambda: at_rest(dump(it.pid)))
    assert functions(thread_of(found, "other"))[-1] == "inner"


def test_a_pid_namespace_of_its_own(any_python, program):
    """In a container the process counts its threads from 1 on; we see ours."""
    script = program(WAITS.format(before=""))
    command = ["unshare", "--pid", "--fork", "--kill-child", any_python.executable, "-u", script]
    outer = subprocess.Popen(command, stdout=subprocess.PIPE, env=runs.clean_environment())
    try:
        if outer.stdout.readline() != b"ready\n":
            pytest.skip("there may be no such namespace here")
        pid = int(Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text())
        found = wait_until(lambda: at_rest(dump(pid)))
        tids = {int(name) for name in os.listdir(f"/proc/{pid}/task")}
        assert {thread["tid"] for thread in found["threads"]} == tids
        assert found["threads"][0]["is_main"]
        assert functions(thread_of(found, "other"))[-1] == "inner"
    finally:
        outer.kill()
        outer.wait()
        outer.stdout.close()


def test_children_of_a_program_that_gave_up_its_rights_are_said_to_be_missing(any_python, program):
    script = program(f"""\
        import os
        {AS_NOBODY}
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        """)
    done = any_python.heatline_run(script)
    assert done.returncode == 0, done.describe()
    assert "1 process is missing: once a program has changed its user" in done.stderr


def test_program_that_may_make_no_large_files(any_python, program):
    """To try would be the end of what it starts: SIGXFSZ."""
    script = program("""\
        import resource, subprocess, sys
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        sys.exit(subprocess.run([sys.executable, "-c", "import sys; sys.exit(7)"]).returncode)
        """)
    done = any_python.heatline_run(script)
    assert done.returncode == 7, done.describe()
    assert "1 process is missing: once a program has changed its user, its root or its limits" in done.stderr


def test_user_that_may_make_no_large_files(any_python, program, tmp_path):
    script = program("print('ran')")
    command = [heatline_executable(), "run", "-o", tmp_path / "out.json", any_python.executable, script]
    limited = ["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", *map(str, command)]
    done = subprocess.run(limited, capture_output=True, text=True, env=runs.clean_environment(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
    assert "could make no file" in done.stderr and "File too large" in done.stderr


@pytest.mark.parametrize("env", ["None", "{}"])
def test_python_that_another_user_executes_is_said_to_be_missing(any_python, program, env):
    script = program(f"""\
        import os, sys
        def give_up():
            {AS_NOBODY}
        import subprocess
        python = "/usr/bin/python3"
        subprocess.run([python, "-c", "pass"], preexec_fn=give_up, env={env}, check=True)
        """)
    done = any_python.heatline_run(script)
    assert done.returncode == 0, done.describe()
    assert "1 process is missing: once a program has changed its user" in done.stderr
    kept = any_python.heatline_run(script, options=["--no-children"])
    assert "missing" not in kept.stderr


FORBIDS_ITSELF = """
import ctypes, os, struct, sys, threading, time
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(50))
spin(0.1)
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[1])), (0x06, 0, 0, 0x50000 | 1), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
program = struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0
threads = [threading.Thread(target=spin, args=(0.2,)) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if os.fork() == 0:
    spin(0.3)
    os._exit(0)
os.wait()
"""


def test_a_program_that_forbids_itself_to_read(python, program):
    """By a filter that it installs when it is well under way: another way to read is found."""
    number = NUMBERS["process_vm_readv"][platform.machine()]
    done = python.heatline_run(program(FORBIDS_ITSELF), [str(number)], ["--cpu-only"])
    assert done.returncode == 0, done.describe()
    quality = done.profile["heatline"]["quality"]
    assert quality["samples"] > 50 and sum(lost["count"] for lost in quality["lost"]) <= 10, done.describe()
    assert len(done.profile["heatline"]["processes"]) == 2
