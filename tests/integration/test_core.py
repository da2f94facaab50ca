"""heatline dump of core files: what a live process shows, and the crash."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from support import runs
from support.paths import SID_TREE
from support.pythons import all_pythons
from support.running import wait_until
from support.targets import Target, dump, functions, heatline, thread_of

ALL = all_pythons()
DIRECT = [python for python in ALL if not python.is_in_sid]
# The oldest, one in the middle, the newest outside and inside of the sid tree.
SOME = sorted({ALL[0], DIRECT[len(DIRECT) // 2], DIRECT[-1], ALL[-1]}, key=lambda python: python.version)

GCORE = shutil.which("gcore")
needs_gcore = pytest.mark.skipif(GCORE is None, reason="no gcore here (Debian's package gdb)")

# The kernel writes a core where the process stands.
CORES_HERE = """
    import os, resource
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
"""

WAITS = CORES_HERE + """
    import asyncio, threading, time

    async def inner(event):
        await event.wait()

    async def outer(event):
        await inner(event)

    def wait_for_lock(lock):
        lock.acquire()

    def sleep(count, text):
        items = [1, "a", None]
        time.sleep(1000)  # here

    async def main():
        event = asyncio.Event()
        tasks = [asyncio.ensure_future(outer(event)) for _ in range(3)]
        await asyncio.sleep(0.05)
        print("ready")
        await asyncio.gather(*tasks)

    threading.stack_size(1 << 20)
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=wait_for_lock, args=(lock,), name="wäiter", daemon=True).start()
    threading.Thread(target=sleep, args=(7, "größe"), name="sleeper", daemon=True).start()
    asyncio.run(main())
"""

CRASHES = CORES_HERE + """
    import ctypes, threading, time

    def boom(depth):
        if depth:
            boom(depth - 1)
        ctypes.string_at(0x18)  # boom

    sleeper = threading.Thread(target=time.sleep, args=(1000,), name="sleeper", daemon=True)
    sleeper.start()
    sleeps = ("23", "35", "230", "270", "72", "101", "115")  # the calls, on two kinds of machines
    while open("/proc/self/task/%d/syscall" % sleeper.native_id).read().split()[0] not in sleeps:
        time.sleep(0.01)
    bomber = threading.Thread(target=boom, args=(3,), name="bomber")
    bomber.start()
    bomber.join()
"""


def by_debugger(it, folder: Path) -> Path:
    """The core that a debugger writes; the process lives on."""
    done = runs.run([GCORE, "-o", folder / "core", it.pid])
    assert done.returncode == 0, done.stderr
    return folder / f"core.{it.pid}"


def by_kernel(it, folder: Path) -> Path:
    """The core that the kernel writes when the process is told to die of it."""
    check_kernel_writes()
    it.process.send_signal(signal.SIGABRT)
    return found_core(it.process, folder)


def check_kernel_writes() -> None:
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith("|") or "/" in pattern:
        pytest.skip(f"cores go elsewhere on this machine (core_pattern {pattern})")
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
        pytest.skip("cores are forbidden on this machine (ulimit -c)")


def found_core(process, folder: Path) -> Path:
    process.wait(timeout=60)
    cores = list(folder.glob("core*"))
    if not cores:
        pytest.skip("the kernel wrote no core")
    return cores[0]


def root_of(python):
    """The sid tree is seen from outside, as a container would be."""
    return ["--root", SID_TREE] if python.is_in_sid else []


def what_matters(found):
    """The parts of a dump that a core has as well; a core does not know descriptors."""
    return [
        {key: value for key, value in thread.items() if key not in ("waiting_on", "has_crashed")}
        for thread in found["threads"]
    ]


def at_rest(found):
    states = {thread["name"]: thread["waiting_for"] for thread in found["threads"]}
    return states == {"MainThread": "poll", "wäiter": "lock", "sleeper": "sleep"}


WAYS = [pytest.param(by_kernel, python, id=f"kernel-{python}") for python in SOME] + [
    # Debuggers miss the C stacks of newer C libraries, so none in the sid tree.
    pytest.param(by_debugger, python, id=f"gcore-{python}", marks=needs_gcore)
    for python in SOME
    if not python.is_in_sid
]


def test_core_of_a_program_that_is_profiled(any_python, program, tmp_path):
    """It is the program's, as without heatline, which ends as it did and leaves none itself."""
    check_kernel_writes()
    run = any_python.heatline_run(program(CRASHES), options=["--quiet"], cwd=tmp_path)
    assert run.returncode == -signal.SIGSEGV, run
    cores = list(tmp_path.glob("core*"))
    if not cores:
        pytest.skip("the kernel wrote no core")
    assert len(cores) == 1
    assert "bomber" in [thread["name"] for thread in dump(cores[0])["threads"]]
    assert run.profile["heatline"]


@pytest.mark.parametrize("write_core, some_python", WAYS)
def test_core_shows_what_the_process_showed(write_core, some_python, program, tmp_path):
    it = Target(some_python, program(WAITS))
    try:
        wait_until(lambda: at_rest(dump(it.pid)))
        alive = dump(it.pid, "--locals")
        core = write_core(it, tmp_path)
    finally:
        it.end()
    dead = dump(core, "--locals", *root_of(some_python))
    assert dead["pid"] == it.pid and dead["python"] == alive["python"]
    assert what_matters(dead) == what_matters(alive)
    assert dead["core"]["file"] == str(core)
    assert dead["core"]["signal"] == (signal.SIGABRT if write_core is by_kernel else 0)
    assert dead["core"]["sender_pid"] == (os.getpid() if write_core is by_kernel else 0)
    assert dead["core"]["cut_bytes"] == 0 and alive["core"] is None
    sleeper = thread_of(dead, "sleeper")
    assert sleeper["frames"][-1]["source"] == "time.sleep(1000)  # here"
    assert sleeper["frames"][-1]["locals"] == {"count": "7", "text": "'größe'", "items": "[1, 'a', None]"}
    chains = [functions(task) for task in thread_of(dead, "MainThread")["tasks"]]
    assert sum(chain[:2] == ["outer", "inner"] for chain in chains) == 3


@pytest.mark.parametrize("some_python", SOME, ids=[python.name for python in SOME])
def test_crash(some_python, program, tmp_path):
    check_kernel_writes()
    command = some_python.command([some_python.executable, program(CRASHES)])
    core = found_core(subprocess.Popen(command, env=runs.clean_environment()), tmp_path)
    options = root_of(some_python)
    found = dump(core, *options)
    assert (found["core"]["signal"], found["core"]["address"]) == (signal.SIGSEGV, 0x18)
    bomber = thread_of(found, "bomber")
    assert bomber["has_crashed"] and bomber["tid"] == found["core"]["crashed_tid"]
    assert [thread["has_crashed"] for thread in found["threads"]].count(True) == 1
    assert functions(bomber)[-6:] == ["run", "boom", "boom", "boom", "boom", "string_at"]
    assert thread_of(found, "sleeper")["waiting_for"] == "sleep"
    text = heatline("dump", *options, core).stdout
    assert f'Segmentation fault) at address 0x18 in thread {bomber["tid"]} "bomber"\n' in text
    assert text.index('"bomber": crashed') < text.index('"MainThread"')
    if some_python.is_in_sid:
        refused(heatline("dump", core), "is not on this machine", "--root")


# ---- what goes wrong, one sentence each ----


def refused(done, *words):
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith("heatline: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "is empty"),
        (b"hello", "is no core file"),
        (b"\x28\xb5\x2f\xfdpacked", "unzstd"),
        (Path("/bin/sleep").read_bytes(), "is a program or a library"),
    ],
)
def test_no_core(tmp_path, content, words):
    path = tmp_path / "core"
    path.write_bytes(content)
    refused(heatline("dump", path), str(path), words)


def test_no_file(tmp_path):
    refused(heatline("dump", tmp_path / "core"), "neither a process id nor a file")
    refused(heatline("dump", tmp_path), "is no core file")


@needs_gcore
def test_core_of_something_else(tmp_path):
    process = subprocess.Popen(["sleep", "100"])
    try:
        wait_until(lambda: "sleep" in Path(f"/proc/{process.pid}/comm").read_text())
        core = by_debugger(process, tmp_path)
    finally:
        process.kill()
        process.wait()
    refused(heatline("dump", core), "does not come from Python", "sleep")


@needs_gcore
def test_cut_and_damaged(any_python, program, tmp_path):
    it = Target(any_python, program(WAITS))
    try:
        core = by_debugger(it, tmp_path)
        mapped = Path(f"/proc/{it.pid}/maps").read_text()
    finally:
        it.end()
    good = dump(core, "--locals")
    # Its interpreter has gone.
    files = {line.split()[-1] for line in mapped.splitlines() if "/" in line}
    missing = core.read_bytes()
    for name in (name for name in files if re.search("/(lib)?python[^/]*$", name)):
        missing = missing.replace(name.encode() + b"\0", b"/gone" + name[5:].encode() + b"\0")
    (tmp_path / "missing").write_bytes(missing)
    refused(heatline("dump", tmp_path / "missing"), "is not on this machine")
    size = len(missing)
    for parts in (100000, 1000, 100, 13, 5, 3, 2, 1):
        os.truncate(core, size - size // parts)
        done = heatline("dump", "--json", "--locals", core)
        if done.returncode == 2:
            refused(done, str(core))
        else:
            found = json.loads(done.stdout)
            assert found["core"]["cut_bytes"] > 0 or found["threads"] == good["threads"]
