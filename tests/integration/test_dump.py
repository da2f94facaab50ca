"""heatline dump: every thread's stack, from outside."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.paths import PROGRAMS
from support.pythons import all_pythons
from support.running import wait_until
from support.targets import Target, dump, functions, heatline, thread_of

THREADS = """
    import os, sys, threading, time

    class Own:
        pass

    def innermost(count, text):
        number = -12345678901
        big = 10 ** 40
        real = 2.5
        items = [1, "a", None, True, (1, 2), 3, 4]
        table = {"a": 1}
        few = {1, 2, 3}
        one = (1,)
        raw = b"abc"
        own = Own()
        def closure():
            return shared
        shared = count
        print("ready")
        time.sleep(1000)  # here

    def generator():
        yield innermost(7, "größe" + "x" * 300)

    def wait_for_lock(lock):
        lock.acquire()  # lock

    def read_pipe(fd):
        os.read(fd, 1)  # read

    lock = threading.Lock()
    lock.acquire()
    ends = os.pipe()
    threading.Thread(target=wait_for_lock, args=(lock,), name="wäiter", daemon=True).start()
    threading.Thread(target=read_pipe, args=ends[:1], name="reader", daemon=True).start()
    for _ in generator():
        pass
"""


def line_of(source, mark):
    return 1 + [line.endswith("# " + mark) for line in source.splitlines()].index(True)


def test_threads_and_their_states(target, python):
    it = target(THREADS)
    found = wait_until(lambda: sleeping(dump(it.pid)))
    assert found["pid"] == it.pid and found["python"].startswith("%d.%d." % python.version)
    main = thread_of(found, "MainThread")
    assert main is found["threads"][0] and main["is_main"] and main["tid"] == it.pid
    assert functions(main) == ["<module>", "generator", "innermost"]
    last = main["frames"][-1]
    assert last["line"] == line_of(THREADS, "here")
    assert last["source"] == "time.sleep(1000)  # here"
    waiter, reader = thread_of(found, "wäiter"), thread_of(found, "reader")
    assert (waiter["state"], waiter["waiting_for"]) == ("waiting", "lock")
    assert waiter["frames"][-1]["line"] == line_of(THREADS, "lock")
    assert (reader["state"], reader["waiting_for"], reader["waiting_on"]) == ("waiting", "read", "pipe")
    assert not any(thread["has_gil"] for thread in found["threads"])
    assert all(thread["stack"] == "whole" for thread in found["threads"])
    assert len({thread["tid"] for thread in found["threads"]}) == 3


def sleeping(found):
    """The dump, once all three threads of the program wait."""
    waits = {thread["name"]: thread["waiting_for"] for thread in found["threads"]}
    return found if waits == {"MainThread": "sleep", "wäiter": "lock", "reader": "read"} else None


def test_locals(target):
    it = target(THREADS)
    found = wait_until(lambda: sleeping(dump(it.pid, "--locals")))
    values = thread_of(found, "MainThread")["frames"][-1]["locals"]
    assert values["count"] == "7" and values["shared"] == "7"
    assert values["number"] == "-12345678901" and values["real"] == "2.5"
    assert values["big"].startswith("<int of some ")
    assert values["text"].startswith("'größexxx") and values["text"].endswith("(305 characters)")
    assert values["items"] == "[1, 'a', None, True, (1, 2), …] (7 items)"
    assert values["table"] == "<dict of 1 item>" and values["few"] == "<set of 3 items>"
    assert values["one"] == "(1,)"
    assert values["raw"] == "b'abc'" and values["own"] == "<Own object>"


def test_text(target):
    it = target(THREADS)
    wait_until(lambda: sleeping(dump(it.pid)))
    done = heatline("dump", it.pid)
    assert done.returncode == 0 and done.stderr == ""
    assert f'Thread {it.pid} "MainThread": sleeping\n' in done.stdout
    assert f'line {line_of(THREADS, "here")}, in innermost\n    time.sleep(1000)' in done.stdout
    assert '"wäiter": waiting for a lock\n' in done.stdout


def test_sockets_by_their_peers(target):
    """A program that hangs does so at somebody: who it is stands there."""
    it = target(
        """
        import socket, threading, time

        def listening(family, address):
            made = socket.socket(family)
            made.bind(address)
            made.listen()
            return made

        def start(name, call):
            threading.Thread(target=call, name=name, daemon=True).start()

        server = listening(socket.AF_INET, ("127.0.0.1", 0))
        plain = socket.create_connection(server.getsockname())
        patient = socket.create_connection(server.getsockname(), timeout=1000)
        kept = [server.accept(), server.accept()]
        start("plain", lambda: plain.recv(1))
        start("patient", lambda: patient.recv(1))
        start("accepts", server.accept)
        print(server.getsockname()[1])
        time.sleep(1000)
        """
    )
    address = f"127.0.0.1:{it.ready}"

    def all_wait():
        found = {thread["name"]: thread for thread in dump(it.pid)["threads"]}
        waits = [found[name]["waiting_for"] for name in ("plain", "patient", "accepts")]
        return found if waits == ["receive", "poll", "accept"] else None

    found = wait_until(all_wait)
    assert found["plain"]["waiting_on"] == found["patient"]["waiting_on"] == f"socket to {address}"
    assert found["accepts"]["waiting_on"] == f"socket at {address}"
    text = heatline("dump", it.pid).stdout
    assert f'"plain": receiving, socket to {address}\n' in text
    assert f'"patient": waiting for events, socket to {address}\n' in text


def test_waiting_for_the_gil(target):
    it = target(
        """
        import threading
        def spin():
            while True:
                pass
        for i in range(3):
            threading.Thread(target=spin, name="spin%d" % i, daemon=True).start()
        print("ready")
        threading.Event().wait()
        """
    )

    def both():
        states = [thread["state"] for thread in dump(it.pid)["threads"] if thread["name"][:4] == "spin"]
        return "waiting for the GIL" in states

    wait_until(both)
    wait_until(lambda: any(thread["has_gil"] for thread in dump(it.pid)["threads"]))


def test_deep_stack(target):
    it = target(
        """
        import sys, threading, time
        sys.setrecursionlimit(20000)
        threading.stack_size(512 << 20)
        def deep(n):
            if n:
                deep(n - 1)
            else:
                print("ready")
                time.sleep(1000)
        threading.Thread(target=deep, args=(10000,), name="deep", daemon=True).start()
        time.sleep(1000)
        """
    )
    thread = thread_of(wait_until(lambda: dump(it.pid)), "deep")
    assert thread["stack"] == "whole"
    assert thread["elided_frames"] + len(thread["frames"]) == 10001 + 3
    assert functions(thread)[:3] == ["_bootstrap", "_bootstrap_inner", "run"]
    assert set(functions(thread)[3:]) == {"deep"}
    assert len(thread["frames"]) == 400


def test_hundreds_of_threads(target):
    it = target(
        """
        import threading, time
        stop = threading.Event()
        for i in range(200):
            threading.Thread(target=stop.wait, name="worker %d" % i, daemon=True).start()
        print("ready")
        stop.wait()
        """
    )

    def all_wait():
        found = dump(it.pid)
        return found if all(functions(thread)[-1:] == ["wait"] for thread in found["threads"]) else None

    found = wait_until(all_wait)
    assert len(found["threads"]) == 201
    assert {thread["name"] for thread in found["threads"]} >= {"worker %d" % i for i in range(200)}


def test_subinterpreter(python, target):
    it = target(
        """
        import threading, time
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        made = interpreters.create()
        code = "def inside():\\n    import time\\n    print('ready')\\n    time.sleep(1000)\\ninside()"
        def enter():
            if hasattr(interpreters, "exec"):
                interpreters.exec(made, code)
            else:
                interpreters.run_string(made, code)
        def outside():
            enter()
        worker = threading.Thread(target=outside, name="a worker")
        worker.start()
        worker.join()
        """
    )
    found = wait_until(lambda: inside(dump(it.pid)))
    assert found["interpreter"] != 0
    if python.version < (3, 11):
        return  # the state says which thread has made it, and nothing tells which one runs it
    # It is one thread, with the stack of its own interpreter and, called from there, of the other's.
    names = functions(found)
    assert names.index("outside") < names.index("enter") < names.index("inside") == len(names) - 1
    assert found["name"] == "a worker" and found["waiting_for"] == "sleep"
    assert len(dump(it.pid)["threads"]) == 2


def test_subinterpreter_of_the_only_thread(target):
    """Also where the state does not tell which thread runs it."""
    it = target(PROGRAMS / "threads" / "interpreters.py", "forever")

    def working():
        (only,) = dump(it.pid)["threads"]
        return only if functions(only)[-1:] == ["work"] and only["stack"] == "whole" else None

    found = wait_until(working)
    names = functions(found)
    assert names[0] == "<module>" and names[1] == "run" and names[-1] == "work"
    assert (found["name"], found["interpreter"], found["stack"]) == ("MainThread", 1, "whole")


def inside(found):
    for thread in found["threads"]:
        if "inside" in functions(thread):
            return thread
    return None


def shared_library(python):
    """The file of its interpreter, where that is not the executable itself."""
    ask = "import sysconfig as s; print(s.get_config_var('LIBDIR') + '/' + s.get_config_var('INSTSONAME'))"
    path = Path(python.run_plain(["-c", ask]).stdout.strip())
    return path if not python.is_in_sid and path.suffix != ".a" and path.exists() else None


@pytest.fixture(scope="session")
def shared_pythons():
    """Those whose interpreter is a library."""
    found = [python for python in all_pythons() if shared_library(python)]
    if len(found) < 2:
        pytest.skip("less than two Pythons here have their interpreter in a library")
    return found


SLEEPER = """
    import ctypes, sys, time
    for path in sys.argv[1:]:
        ctypes.CDLL(path)
    def innermost():
        print("ready")
        time.sleep(1000)
    innermost()
"""


def test_interpreter_that_was_replaced(shared_pythons, program, tmp_path):
    """As an upgrade does it: another file has the library's name now."""
    for python, other in zip(shared_pythons, shared_pythons[1:]):
        library = tmp_path / shared_library(python).name
        shutil.copy(shared_library(python), library)
        it = Target(python, program(SLEEPER), env={"LD_LIBRARY_PATH": str(tmp_path)})
        try:
            assert str(library) in Path(f"/proc/{it.pid}/maps").read_text()
            shutil.copy(shared_library(other), tmp_path / "new")
            (tmp_path / "new").rename(library)
            done = heatline("dump", "--json", it.pid)
            if done.returncode == 0:
                assert functions(thread_of(json.loads(done.stdout), "MainThread")) == ["<module>", "innermost"]
            else:  # not permitted here: then it is not said to be no Python
                refused(done, f"process {it.pid} runs Python from '{library}', which has been replaced")
        finally:
            it.end()


def test_an_interpreter_that_is_only_loaded(shared_pythons, program):
    """The loader puts later libraries at lower addresses, so that the idle one comes first."""
    for python, other in zip(shared_pythons, shared_pythons[1:]):
        it = Target(python, program(SLEEPER), shared_library(other))
        try:
            assert functions(thread_of(dump(it.pid), "MainThread")) == ["<module>", "innermost"]
        finally:
            it.end()


LOADS_PYTHON = """
#include <dlfcn.h>
int main(int count, char **words)
{
	void *python = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
	if (count != 3 || !python)
		return 3;
	((void (*)(void))dlsym(python, "Py_Initialize"))();
	return ((int (*)(const char *, void *))dlsym(python, "PyRun_SimpleStringFlags"))(words[2], 0);
}
"""


def test_a_program_that_loads_python_by_itself(shared_pythons, tmp_path):
    """What is preloaded does not see it; from outside it is seen."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on this machine")
    (tmp_path / "host.c").write_text(LOADS_PYTHON)
    subprocess.run(["gcc", "-o", tmp_path / "host", tmp_path / "host.c", "-ldl"], check=True)
    python = shared_pythons[-1]
    home = {"PYTHONHOME": str(shared_library(python).parents[1])}
    command = [tmp_path / "host", shared_library(python)]
    done = heatline("run", *command, "pass", env=home, cwd=tmp_path)
    assert done.returncode == 0 and "heatline attach PID" in done.stderr, done
    sleeper = "def innermost(): print('ready', flush=True); __import__('time').sleep(1000)\ninnermost()"
    with subprocess.Popen([*command, sleeper], stdout=subprocess.PIPE, env=home) as process:
        assert process.stdout.readline() == b"ready\n"
        found = dump(process.pid)
        process.kill()
    assert functions(thread_of(found, "MainThread")) == ["<module>", "innermost"]


def test_asyncio_tasks(target):
    it = target(
        """
        import asyncio

        async def inner(event):
            await event.wait()  # awaits

        async def outer(event):
            await inner(event)

        async def main():
            event = asyncio.Event()
            tasks = [asyncio.ensure_future(outer(event)) for _ in range(3)]
            await asyncio.sleep(0.1)
            print("ready")
            await asyncio.gather(*tasks)

        asyncio.run(main())
        """
    )

    def waiting():
        tasks = thread_of(dump(it.pid), "MainThread")["tasks"]
        chains = [functions(task) for task in tasks]
        return tasks if sum(chain[:2] == ["outer", "inner"] for chain in chains) == 3 else None

    tasks = wait_until(waiting)
    assert any(functions(task)[0] == "main" for task in tasks)
    frame = [task for task in tasks if functions(task)[0] == "outer"][0]["frames"][1]
    assert frame["source"] == "await event.wait()  # awaits"
    text = heatline("dump", it.pid).stdout
    assert '  Task "' in text and ', in inner\n      await event.wait()  # awaits\n' in text


# ---- what goes wrong, one sentence each ----


def refused(done, *words):
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("heatline: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


def test_no_such_process():
    process = subprocess.Popen(["true"])
    process.wait()
    refused(heatline("dump", process.pid), f"there is no process {process.pid}")


def test_a_process_that_has_ended():
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    refused(heatline("dump", process.pid), f"process {process.pid} has ended")
    process.wait()


def test_not_python():
    process = subprocess.Popen(["sleep", "100"])
    try:
        refused(wait_until(lambda: ready_to_refuse(process.pid)), f"process {process.pid} is not Python", "sleep")
    finally:
        process.kill()
        process.wait()


def ready_to_refuse(pid):
    """Before its exec the child still is the test's own Python."""
    done = heatline("dump", pid)
    return done if done.returncode == 2 else None


@pytest.mark.parametrize("words", [["x1"], [], ["1", "2"], ["-1"], ["0"], ["99999999999"]])
def test_bad_words(words):
    refused(heatline("dump", *words))


def test_a_thread_stands_for_its_process(any_python, program):
    it = Target(any_python, program(THREADS))
    try:
        tid = thread_of(dump(it.pid), "reader")["tid"]
        assert dump(tid)["pid"] == it.pid
    finally:
        it.end()
