"""Nothing is lost, however the program, heatline or both of them end."""

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.running import Running, is_running, wait_until
from support.stacks import stack_nodes

pytestmark = pytest.mark.alone


@pytest.fixture
def recover(steer):
    return lambda *words: steer("recover", *words)


def kill_heatline(run):
    """Front and collector at once; the program does not notice."""
    pids = [run.heatline_pid(), run.collector_pid()]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(is_running(pid) for pid in pids))


def samples_of(profile, function):
    return sum(node.samples for node in stack_nodes(profile) if node.function == function)


@pytest.mark.parametrize("how", ["segfault", "kill", "killed child"])
def test_program_that_ends_badly(begin, how):
    run = begin("control/ends.py", how)
    run.finish()
    least = 0.7 if how == "killed child" else 0.35
    assert run.cpu_s() > least
    assert run.process.returncode != 0
    assert not run.folder.exists()


def test_everything_is_killed(begin, recover):
    run = begin("signals/endless.py", "60")
    run.let_work(1)
    kill_heatline(run)
    run.let_work(0.3)
    os.kill(run.target, signal.SIGKILL)
    wait_until(lambda: not is_running(run.target))
    assert not run.outfile.exists()
    assert recover("--list", run.outfile).stdout.endswith(f"endless.py > {run.outfile}\n")
    done = recover(run.outfile)
    assert done.returncode == 0, done
    assert "endless.py:" in done.stderr
    profile = run.profile()
    assert samples_of(profile, "hot") > 20
    assert run.total_s() > 0.5
    assert profile["elapsed_time_sec"] < 30
    assert not run.folder.exists()
    assert str(run.outfile) not in recover("--list").stdout
    again = recover(run.outfile)
    assert again.returncode == 2
    assert f"has its profile in '{run.outfile}'" in again.stderr


def test_program_goes_on_and_is_recovered(begin, recover):
    """Another collector takes over; what was sampled in between is in the profile."""
    run = begin("signals/endless.py", "3")
    run.let_work(0.5)
    kill_heatline(run)
    run.let_work(0.4)
    done = recover(run.outfile)
    assert done.returncode == 0, done
    assert "1 of its processes is still running" in done.stderr
    wait_until(run.outfile.exists)
    assert not is_running(run.target)
    wait_until(lambda: not run.folder.exists())
    profile = run.profile()
    assert 2.6 < profile["elapsed_time_sec"] < 120
    assert run.total_s() > 2.2
    assert profile["heatline"]["quality"]["lost"] == []


@pytest.mark.parametrize("goes_on", [False, True], ids=["ended", "goes on"])
def test_waiting_that_nobody_saw_is_on_no_line(begin, recover, tmp_path, goes_on):
    """It stood where the program had been seen last, which computed there."""
    run = begin("control/waits_later.py", tmp_path / "end")
    run.let_work(0.5)
    kill_heatline(run)
    run.let_work(0.3)
    (tmp_path / "end").touch()
    if goes_on:
        wait_until(lambda: Path(f"/proc/{run.target}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S")
        time.sleep(0.6)
    else:
        wait_until(lambda: not is_running(run.target))
    assert recover(run.outfile).returncode == 0
    wait_until(lambda: not run.folder.exists())
    profile = run.profile()
    functions = {
        function["line"]: function for file in profile["files"].values() for function in file["functions"]
    }
    assert functions["compute"]["wait_s"] < 1
    assert functions["compute"]["cpu_s"] > 0.6
    assert functions.get("wait", {"wait_s": 0})["wait_s"] < (1.7 if goes_on else 1)
    assert any("until another one went on" in text for text in profile["heatline"]["quality"]["warnings"])


def test_discard(begin, recover):
    run = begin("signals/endless.py", "60")
    kill_heatline(run)
    os.kill(run.target, signal.SIGKILL)
    wait_until(lambda: not is_running(run.target))
    assert recover("--discard", run.outfile.parent / "other.json").returncode == 2
    assert run.folder.exists()
    assert recover("--discard", run.outfile).returncode == 0
    assert not run.folder.exists()
    assert not run.outfile.exists()


def test_full_ring_does_not_hold_up_the_program(begin, recover):
    """Without a collector the ring fills; the program works on at its pace."""
    run = begin("signals/endless.py", "2.5", options=["--cpu-sampling-rate", "0.0001"])
    run.let_work(0.3)
    kill_heatline(run)
    wait_until(lambda: not is_running(run.target))
    assert recover(run.outfile).returncode == 0
    assert samples_of(run.profile(), "hot") > 1000


LONG = """
import os, sys
names = {}
exec("def long():\\n" + "    a = 1\\n" * 8000, names)
def other(number):  # a code object that has not been seen, of some 70 KB
    names["long"].__code__ = names["long"].__code__.replace(co_name="long%d" % number)
    names["long"]()
def work():
    number = 0
    while not os.path.exists(sys.argv[1]):
        for _ in range(20000):
            pass
        number = min(number + 1, 2000)
        other(number)
print("ready", os.getpid(), flush=True)
work()
"""


def test_journal_that_is_full(any_python, program, tmp_path):
    """A run that is too long for it: the profile until the kill is kept beside the other."""
    end = tmp_path / "end"
    options = ["--cpu-only", "--cpu-sampling-rate", "0.0001"]
    run = Running(any_python, [program(LONG), end], tmp_path / "p.json", options)
    try:
        wait_until((run.folder / "checkpoint.json").exists, 100)
        os.kill(run.collector_pid(), signal.SIGKILL)
        wait_until((tmp_path / "p-before.json").exists)
        end.touch()
        run.finish()
    finally:
        run.close()
    assert run.process.returncode == 0
    warnings = run.profile()["heatline"]["quality"]["warnings"]
    assert any("p-before.json" in text for text in warnings)
    before = json.loads((tmp_path / "p-before.json").read_text())
    assert before["heatline"]["is_partial"]
    assert samples_of(before, "work") > 50


def test_reminder(begin, recover, steer, heatline, tmp_path):
    """The next command says so, to somebody at a terminal only."""
    run = begin("signals/endless.py", "60")
    kill_heatline(run)
    os.kill(run.target, signal.SIGKILL)
    wait_until(lambda: not is_running(run.target))
    told = {check["name"]: check for check in json.loads(steer("doctor", "--json").stdout)["checks"]}["left_behind"]
    assert told["facts"]["runs"] >= 1 and told["fix"] == "heatline recover"
    command = [heatline, "view", tmp_path / "none.json"]
    assert "recover" not in subprocess.run(command, stderr=subprocess.PIPE).stderr.decode()
    leader, follower = pty.openpty()
    subprocess.run(command, stderr=follower)
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert shown.count("heatline recover --list") == 1
    assert recover("--discard", run.outfile).returncode == 0
