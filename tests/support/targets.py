"""Programs that run while a test looks at them from outside."""

import json
import signal
import subprocess
from typing import Any, Dict, List, Optional

from support import runs
from support.paths import heatline_executable


class Target:
    """A program that prints a line once it is ready, and then goes on until it is ended."""

    def __init__(self, python: Any, script: Any, *args: Any, env: Optional[Dict[str, str]] = None):
        self.process = subprocess.Popen(
            python.command([python.executable, "-u", script, *args]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=runs.clean_environment({"PYTHONIOENCODING": "utf-8", **(env or {})}),
        )
        self.ready = self.process.stdout.readline().decode().strip()
        assert self.ready, "the program ended before it was ready"

    @property
    def pid(self) -> int:
        return self.process.pid

    def end(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def heatline(*argv: Any, **options: Any) -> subprocess.CompletedProcess:
    """Run ``heatline`` where the tests run, whatever tree the target lives in."""
    return runs.run([heatline_executable(), *argv], **options)


def dump(pid: int, *options: Any) -> dict:
    """What ``heatline dump --json`` says of a process."""
    done = heatline("dump", "--json", *options, pid)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def thread_of(found: dict, name: str) -> dict:
    threads = [thread for thread in found["threads"] if thread["name"] == name]
    assert len(threads) == 1, [thread["name"] for thread in found["threads"]]
    return threads[0]


def functions(thread: dict) -> List[str]:
    """The stack by the functions' last names, outermost first."""
    return [frame["function"].split(".")[-1] for frame in thread["frames"]]
