"""The walker, from outside: known stacks, and every instruction's stack."""

import json
import subprocess
from typing import Iterator, List

import pytest

from support import runs
from support.probes import PROBES, driver

FACTS = ("pid", "version", "runtime", "code_type", "thread")


class Target:
    """A process that says where its things are and then waits for a byte on its stdin."""

    def __init__(self, python, script: str, *args: object):
        self.process = subprocess.Popen(
            python.command([python.executable, PROBES / script, *args]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=runs.clean_environment({"PYTHONIOENCODING": "utf-8"}),
        )
        line = self.process.stdout.readline()
        assert line, "the target ended before it was ready"
        self.facts = json.loads(line)

    def go(self) -> None:
        self.process.stdin.write(b"x")
        self.process.stdin.close()

    def arguments(self) -> List[str]:
        return [str(self.facts[name]) for name in FACTS]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stdin.close()


@pytest.fixture
def target(python) -> Iterator:
    made = []

    def make(script: str, *args: object) -> Target:
        made.append(Target(python, script, *args))
        return made[-1]

    yield make
    for one in made:
        one.end()


STACKS = [
    "plain",
    "generators",
    "mixed",
    "init",
    "coroutines",
    "deep",
    "chunks",
    "thread",
    "names",
]


@pytest.mark.parametrize("kind", STACKS)
def test_known_stack(target, kind):
    """Names, files, lines and instruction offsets of a stack, as the process sees it itself."""
    process = target("stack_target.py", kind)
    command = [driver("python_probe"), "walk", *process.arguments()]
    result, *frames = runs.run(command, check=True).stdout.splitlines()
    assert result == "ok"
    found = [frame.split("\t") for frame in frames]
    assert all(len(frame) == 7 for frame in found), frames
    stack = process.facts["stack"]
    assert [(name, file) for *_, name, file in found] == [(name, file) for name, file, *_ in stack]
    # The innermost frame has gone on since it described itself.
    lines = [(int(line), int(offset)) for _, offset, line, *_ in found[1:]]
    assert lines == [(line, offset) for _, _, line, offset in stack[1:]]
    assert found[-1][0] == "1", "the outermost frame is entered from C"


def _step(process: Target, steps: int) -> dict:
    command = [driver("step_probe"), *process.arguments(), steps]
    probe = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    try:
        assert probe.stdout.readline() == "attached\n"
        process.go()
        output = probe.stdout.read()
        assert probe.wait() == 0
    finally:
        probe.kill()
        probe.wait()
        probe.stdout.close()
    *lies, summary = output.split("steps ")
    values = dict(line.split() for line in ("steps " + summary).splitlines())
    return {"output": output, **{name: int(value) for name, value in values.items()}}


@pytest.mark.slow
@pytest.mark.parametrize("calls", ["plan", "chance"])
@pytest.mark.parametrize("rounds", [0, 50], ids=["cold", "warm"])
def test_every_instruction(target, python, rounds, calls):
    """The stack between any two machine instructions is the one before, give or take a frame.

    This is every state that the sampling signal can see.  Warm: after the interpreter has
    specialised its instructions.  Plan: each way of making frames; chance: all within each other.
    """
    found = _step(target("step_target.py", rounds, calls), 60_000)
    assert found["lies"] == 0, found["output"]
    assert found["changes"] > 20
    # What is torn is lost; it must stay rare even where nothing is done but make frames.
    assert found["torn"] <= (0.02 if python.version < (3, 13) else 0.002) * found["steps"]
