"""A ``heatline run`` under way: who takes part in it, and how it ends."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, List, Sequence

from support.paths import heatline_executable
from support.runs import clean_environment


def state(pid: int) -> str:
    """Its state as ps shows it ("R", "S", "T" …); empty when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_running(pid: int) -> bool:
    return state(pid) not in ("", "Z")


def wait_until(holds: Callable[[], Any], seconds: float = 60) -> Any:
    """Waits until this holds, and fails when it never does."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = holds()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError(f"still not so after {seconds:.0f} s")


def run_folders(pid: int) -> List[Path]:
    """The folders in shared memory of runs that this process takes part in."""
    marker = b"HEATLINE_RUN="
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
    return [Path(os.fsdecode(word[len(marker) :])) for word in words if word.startswith(marker)]


class Running:
    """A run in a session of its own, whose program says "ready PID" in its first line."""

    def __init__(
        self,
        python: Any,
        program: Sequence[Any],
        outfile: Path,
        options: Sequence[Any] = (),
        stderr: Any = subprocess.DEVNULL,
    ):
        words = [heatline_executable(), "run", "--python", python.executable, "-o", outfile]
        self.process = subprocess.Popen(
            [str(part) for part in python.command([*words, *options, *program])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=clean_environment(),
            encoding="utf-8",
            start_new_session=True,
        )
        self.outfile = outfile
        self.target = int(self.process.stdout.readline().split()[1])
        self.folder = (run_folders(self.target) or [None])[0]

    def heatline_pid(self) -> int:
        """The process that started the program (in another tree, not the one we started)."""
        with open(f"/proc/{self.target}/stat") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[1])

    def collector_pid(self) -> int:
        """The process in another session among those that heatline has started."""
        front = self.heatline_pid()
        children = Path(f"/proc/{front}/task/{front}/children").read_text().split()
        return next(int(child) for child in children if os.getsid(int(child)) == int(child))

    def let_work(self, seconds: float) -> None:
        """Waits until the program has used so much CPU time: on a busy machine it takes longer."""

        def used() -> float:
            with open(f"/proc/{self.target}/stat") as stat:
                user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
            return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

        begun = used()
        wait_until(lambda: used() >= begun + seconds)

    def finish(self) -> str:
        output = self.process.communicate(timeout=120)[0]
        return output

    def profile(self) -> dict:
        return json.loads(self.outfile.read_text())

    def cpu_s(self) -> float:
        """CPU time of all its threads."""
        return sum(thread["cpu_s"] for thread in self.profile()["heatline"]["threads"])

    def total_s(self) -> float:
        """The time that all percentages are of; on a busy machine more than the CPU time."""
        return self.profile()["heatline"]["time"]["total_s"]

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
