"""Signals: none interrupts a blocked call, none is lost, and all reach the program."""

import ctypes
import os
import platform
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from support.paths import PROGRAMS, heatline_executable
from support.running import Running, is_running, state, wait_until
from support.stacks import stack_nodes

SIGNALS = PROGRAMS / "signals"


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    """Builds a C file of the programs folder into a shared library; gives its path."""
    folder = tmp_path_factory.mktemp("native")

    def build(name: str) -> Path:
        library = folder / f"{name}.so"
        if not library.exists():
            flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
            subprocess.run(
                ["gcc", *flags, "-o", library, SIGNALS / f"{name}.c", "-lpthread"], check=True
            )
        return library

    return build


@pytest.mark.parametrize(
    "options", [[], ["--cpu-sampling-rate", "0.0001"]], ids=["default", "fast"]
)
def test_no_system_call_is_interrupted(python, native, options):
    """A program that counts EINTR in C sees none, blocked beside busy threads or alone."""
    done = python.heatline_run(SIGNALS / "blocking.py", [native("blocking")], options=options)
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()
    assert len(lines) == 30, done
    assert not [line for line in lines if any(c in "123456789" for c in line)], done.stdout
    assert done.profile["heatline"]["quality"]["samples"] > 5


def test_a_signal_that_ends_a_blocked_call(python):
    """Ours, delivered together with it, had the call made again: one alarm in twenty was not heard."""
    done = python.heatline_run(SIGNALS / "blocked_late.py", options=["--quiet", "--cpu-only"])
    assert (done.returncode, done.stdout) == (0, "heard late: 0\nheard early: 0\n"), done


@pytest.mark.parametrize("way", ["default", "fast", "older"])
def test_native_library_with_signals_of_its_own(python, native, way):
    library = native("masks")
    plain = python.run_plain(SIGNALS / "masks.py", library)
    options = ["--quiet"] + ["--cpu-sampling-rate", "0.0001"] * (way == "fast")
    env = {"LD_PRELOAD": str(native("older_linux"))} if way == "older" else {}
    done = python.heatline_run(SIGNALS / "masks.py", [library], options=options, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")
    hot = [node for node in stack_nodes(done.profile) if node.function == "hot"]
    assert sum(node.samples for node in hot) > 8, "the thread is not sampled any more"  # some 30 in 0.3 s


def test_a_cancellation_that_comes_too_late(python, program, native):
    """The thread has returned, and its result stands: nothing that we do behind it is cancelled."""
    script = program(f"import ctypes; print(ctypes.CDLL({str(native('cancelled'))!r}).cancelled())")
    done = python.heatline_run(script, options=["--quiet"], timeout=30)
    assert (done.returncode, done.stdout) == (0, "14\n"), done


def has_traps() -> bool:
    """Whether perf events of this system send their signal by themselves, as from 6.11 on."""
    major, minor = platform.release().split(".")[:2]
    return (int(major), int(re.match(r"\d*", minor)[0] or 0)) >= (6, 11)


@pytest.mark.parametrize("is_older", [False, True], ids=["this", "older"])
def test_which_signal_is_taken(python, native, tmp_path, is_older):
    """One, the cheaper where there is a choice."""
    script = tmp_path / "caught.py"
    script.write_text(
        "import re\n"
        "status = open('/proc/self/status').read()\n"
        "print(int(re.search(r'SigCgt:\\s*(\\w+)', status)[1], 16))\n"
    )
    env = {"LD_PRELOAD": str(native("older_linux"))} if is_older else {}
    plain = int(python.run_plain(script, env=env).stdout)
    profiled = int(python.heatline_run(script, env=env).stdout)
    taken = signal.SIGTRAP if has_traps() and not is_older else 16
    assert profiled ^ plain == 1 << (taken - 1)


@pytest.fixture
def start(python, tmp_path):
    """start(script, *args): a run under way."""
    runs = []
    with open(tmp_path / "stderr", "w") as stderr:

        def begin(script: str, *args: Any) -> Running:
            command = [SIGNALS / script, *args]
            runs.append(Running(python, command, tmp_path / "p.json", stderr=stderr))
            return runs[-1]

        yield begin
    for run in runs:
        run.close()


def shell_status(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGINT"])
def test_signal_to_heatline_reaches_the_program(start, name):
    """A supervisor knows only heatline's process; what it sends is meant for the program."""
    number = getattr(signal, name)
    run = start("handlers.py")
    run.let_work(0.3)
    os.kill(run.heatline_pid(), number)
    assert f"received [{int(number)}]" in run.finish()
    assert run.process.returncode == 17
    assert run.profile()["heatline"]["quality"]["samples"] > 5


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT", "SIGUSR1"])
def test_deadly_signal_to_heatline_ends_both(start, name):
    run = start("endless.py")
    run.let_work(0.3)
    os.kill(run.heatline_pid(), getattr(signal, name))
    assert "end" not in run.finish()
    assert shell_status(run.process.returncode) == 128 + getattr(signal, name)
    assert run.profile()["heatline"]["quality"]["samples"] > 5
    assert not is_running(run.target)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGINT"])
def test_program_killed_from_outside(start, name):
    run = start("endless.py")
    run.let_work(0.3)
    os.kill(run.target, getattr(signal, name))
    assert "end" not in run.finish()
    assert shell_status(run.process.returncode) == 128 + getattr(signal, name)
    assert run.profile()["heatline"]["quality"]["samples"] > 5


def test_interrupt_of_the_group(start):
    """What is sent to the whole group reaches the program; heatline waits for its end."""
    run = start("handlers.py")
    run.let_work(0.3)
    os.killpg(os.getpgid(run.target), signal.SIGINT)
    assert f"received [{int(signal.SIGINT)}" in run.finish()
    assert run.process.returncode == 17
    assert run.profile()["files"]


@pytest.mark.parametrize("name", ["SIGUSR1", "SIGTERM", "SIGINT", "SIGHUP"])
def test_signal_to_the_group_comes_once(start, name):
    """Heatline got it too, and knows that the program has its own."""
    number = int(getattr(signal, name))
    run = start("handlers.py")
    run.let_work(0.2)
    os.killpg(os.getpgid(run.target), number)
    assert f"received [{number}]\n" in run.finish()
    assert run.process.returncode == 17


def test_signal_with_a_value_keeps_it(start):
    """Any signal is handed on, also those that nobody expects, with what they carry."""
    run = start("queued.py")
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.sigqueue(run.heatline_pid(), signal.SIGRTMIN + 3, ctypes.c_void_p(4711)) == 0
    assert "value 4711" in run.finish()
    assert run.process.returncode == 0


def test_stop_of_the_program_stops_both(start):
    """As a shell sees a job: stopped when the program stops, going on when it goes on."""
    run = start("endless.py", "2")
    run.let_work(0.2)
    os.kill(run.target, signal.SIGSTOP)
    wait_until(lambda: state(run.target) == "T" and state(run.heatline_pid()) == "T")
    os.kill(run.target, signal.SIGCONT)
    assert "end" in run.finish()
    assert run.process.returncode == 0


def test_stop_and_continue(start):
    """Both stop, both go on, and the pause is no work of any line."""
    run = start("endless.py", "1.5")
    group = os.getpgid(run.target)
    run.let_work(0.3)
    os.killpg(group, signal.SIGSTOP)
    time.sleep(0.5)
    assert state(run.target) == "T"
    os.killpg(group, signal.SIGCONT)
    assert "end" in run.finish()
    assert run.process.returncode == 0
    assert run.profile()["heatline"]["quality"]["samples"] > 5


@pytest.mark.parametrize("options", [[], ["-s", "INT"], ["--foreground"], ["-s", "KILL"]], ids=str)
def test_timeout(any_python, options, tmp_path):
    """timeout signals heatline, then its group; its own status says so, and there is a profile."""
    outfile = tmp_path / "p.json"
    run = [heatline_executable(), "run", "-q", "--python", any_python.executable, "-o", outfile]
    command = ["timeout", *options, "1.5", *run, SIGNALS / "endless.py", "60"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, start_new_session=True, timeout=60)
    assert shell_status(done.returncode) == (137 if "KILL" in options else 124)
    wait_until(outfile.exists)


def test_killed_heatline_loses_nothing(start):
    """The program goes on as if nothing had happened, and its profile is still written."""
    run = start("endless.py", "1.5")
    os.kill(run.heatline_pid(), signal.SIGKILL)
    assert "end" in run.process.stdout.read()
    wait_until(lambda: not is_running(run.target))
    wait_until(run.outfile.exists)
    assert run.total_s() > 0.9
    assert run.profile()["elapsed_time_sec"] > 1.2


def test_killed_collector_is_replaced(start):
    """What the next one finds is in the profile; the program's status is not lost."""
    run = start("endless.py", "2")
    run.let_work(0.3)
    os.kill(run.collector_pid(), signal.SIGKILL)
    assert "end" in run.finish()
    assert run.process.returncode == 0
    profile = run.profile()
    assert run.total_s() > 1.2
    assert sum(node.samples for node in stack_nodes(profile) if node.function == "hot") > 50
