"""Programs, children, heatline and its collector are killed at random moments.

No hang, no orphan, nothing left over, no invalid profile, no lost exit status.  The seed is
printed; HEATLINE_STRESS_SEED repeats a run, HEATLINE_STRESS_SECONDS makes it longer.
"""

import json
import os
import random
import signal
import subprocess
import threading
import time
import uuid
from pathlib import Path

import pytest

from support.paths import PROGRAMS, heatline_executable
from support.running import wait_until
from support.runs import clean_environment

CHAOS = PROGRAMS / "control" / "chaos.py"
SECONDS = float(os.environ.get("HEATLINE_STRESS_SECONDS", "0") or 0)
VICTIMS = ["nobody", "program", "child", "front", "collector", "heatline", "everybody", "group"]
KINDS = ["work", "forks", "threads", "pool", "execs", "daemon", "abort", "exit"]
MARK = "CHAOS_MARK"


def marked(mark):
    """The processes of a run, by what is in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark in (entry / "environ").read_bytes():
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                if state not in "ZX":
                    found.append(int(entry.name))
        except OSError:
            pass
    return found


def heatline_words(*words):
    done = subprocess.run(
        [str(heatline_executable()), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=clean_environment(),
        timeout=60,
    )
    return done


def kill(pid):
    try:
        if pid > 1:
            os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Round:
    """One run, one victim."""

    def __init__(self, python, folder, chance):
        self.kind = chance.choice(KINDS)
        self.victim = chance.choice(VICTIMS)
        if (self.kind, self.victim) == ("pool", "child"):
            self.victim = "collector"  # a pool waits for a lost worker for ever
        self.seconds = round(chance.uniform(0.1, 0.9), 2)
        self.moment = chance.choice([0.01, 0.05, 0.1, chance.uniform(0, self.seconds + 0.4)])
        self.status = chance.randrange(1, 100)
        self.options = chance.choice([[], ["--cpu-only"], ["--no-children"], ["--off"]])
        self.chance = chance
        self.mark = uuid.uuid4().hex
        self.outfile = folder / f"{self.mark}.json"
        self.python = python
        self.killed = set()

    def __repr__(self):
        return (
            f"{self.kind} for {self.seconds} s, {self.victim} killed after {self.moment:.3f} s"
            f" ({self.killed}), options {self.options}, profile {self.outfile}"
        )

    def entry(self):
        done = heatline_words("status", "--json")
        assert done.returncode == 0, done
        return next((e for e in json.loads(done.stdout) if e["outfile"] == str(self.outfile)), None)

    def kill_victim(self, front):
        """Whoever is there at that moment; somebody may have ended already."""
        entry = self.entry() or {}
        roles = {
            "front": front,
            "collector": entry.get("collector_pid", 0),
            "program": entry.get("pid", 0),
        }
        wanted = {
            "nobody": [],
            "heatline": ["front", "collector"],
            "everybody": ["front", "collector", "program"],
            "group": [],
        }.get(self.victim, [self.victim])
        for role in wanted:
            if role == "child":
                others = [p for p in marked(self.mark.encode()) if p not in roles.values()]
                kill(self.chance.choice(others or [0]))
            elif roles[role] > 1 and roles[role] != os.getpid():
                kill(roles[role])
                self.killed.add(role)
        if self.victim == "group":
            os.killpg(front, signal.SIGKILL)
            self.killed |= {"front", "program"}

    def run(self):
        words = [heatline_executable(), "run", "-q", "--python", self.python.executable]
        program = [CHAOS, self.kind, self.seconds, self.status]
        process = subprocess.Popen(
            [str(word) for word in [*words, "-o", self.outfile, *self.options, *program]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=clean_environment({MARK: self.mark}),
            start_new_session=True,
        )
        time.sleep(self.moment)
        self.kill_victim(process.pid)
        process.wait(timeout=60)
        self.check_status(process)
        wait_until(self.is_quiet, 60)
        self.check_profile()

    def check_status(self, process):
        if "front" in self.killed:
            assert process.returncode in (-9, *self.ends()), process.returncode
        elif "program" in self.killed:
            assert process.returncode in (-9, *self.ends()), process.returncode
        elif self.victim == "child":
            # A child can be the shell in between, or a worker that its pool waits for.
            assert process.returncode is not None
        else:
            assert process.returncode in self.ends(), process.returncode

    def ends(self):
        return {"abort": (-6,)}.get(self.kind, (self.status,))

    def is_quiet(self):
        """Nobody runs any more, and nothing is left in shared memory."""
        entry = self.entry()
        if entry is not None and entry["state"] == "lost":
            heatline_words("recover")
        if self.victim in ("child", "program", "everybody", "front", "heatline"):
            # Its own children may wait for a parent or a worker for ever, as without heatline.
            for pid in marked(self.mark.encode()) if self.kind == "pool" else []:
                kill(pid)
        return entry is None and not marked(self.mark.encode())

    def check_profile(self):
        if not self.outfile.exists():
            return
        profile = json.loads(self.outfile.read_text())
        assert profile["heatline"]["processes"]
        assert not profile["heatline"]["is_partial"] or "collector" in self.killed
        done = heatline_words("view", "--cli", "-r", self.outfile)
        assert done.returncode == 0, done


@pytest.mark.alone
def test_chaos(any_python, tmp_path):
    seed = int(os.environ.get("HEATLINE_STRESS_SEED", "0") or 0) or random.randrange(1 << 30)
    seconds = SECONDS or 30
    print("seed", seed, "for", seconds, "s")
    failures, rounds = [], []
    end = time.monotonic() + seconds

    def worker(number):
        chance = random.Random(seed * 10 + number)
        while time.monotonic() < end and not failures:
            one = Round(any_python, tmp_path, chance)
            rounds.append(one)
            try:
                one.run()
            except BaseException as error:  # noqa: BLE001: told with its round, below
                failures.append((one, repr(error), one.entry(), marked(one.mark.encode())))

    workers = [threading.Thread(target=worker, args=(number,)) for number in range(3)]
    for thread in workers:
        thread.start()
    for thread in workers:
        thread.join()
    assert not failures, f"seed {seed}: {failures}"
    assert len(rounds) >= 6
    profiles = [one for one in rounds if one.outfile.exists()]
    assert len(profiles) > len(rounds) / 3, (len(profiles), len(rounds))
