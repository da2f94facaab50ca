"""Check what Heatline reads of this interpreter's tasks against what it says itself.

    task_facts.py PROBE

Makes tasks that wait in every way, asks PROBE (python_probe tasks) for them, and
prints a line for each that differs, then how many were compared.
"""

import asyncio
import ctypes
import os
import subprocess
import sys
import threading
import types


async def plain(gate):
    await gate.wait()


async def nested(gate):
    await plain(gate)


class Wrapped:
    """Awaited through a coroutine's own wrapper."""

    def __init__(self, coroutine):
        self.coroutine = coroutine

    def __await__(self):
        return self.coroutine.__await__()


class Generated:
    """Awaited through a generator."""

    def __init__(self, coroutine):
        self.coroutine = coroutine

    def __await__(self):
        return (yield from self.coroutine.__await__())


# Behind a wrapper the interpreter itself does not tell what is awaited.
BEHIND = {}


async def wrapped(gate):
    BEHIND["wrapped"] = plain(gate)
    await Wrapped(BEHIND["wrapped"])


async def generated(gate):
    BEHIND["generated"] = plain(gate)
    await Generated(BEHIND["generated"])


@types.coroutine
def bare():
    yield


async def spinning():
    """Suspended by a bare yield, with something else on its stack."""
    while True:
        for _ in [1]:
            await bare()


async def items(gate):
    await gate.wait()
    yield 1


async def iterating(gate):
    BEHIND["iterating"] = items(gate)
    async for _ in BEHIND["iterating"]:
        pass


async def entering(gate):
    async with gate_held(gate):
        pass


class gate_held:
    def __init__(self, gate):
        self.gate = gate

    async def __aenter__(self):
        await self.gate.wait()

    async def __aexit__(self, *exc):
        pass


async def many(gate, a, b, c, d, e, f, g, h):
    x = [a, b, c, d, e, f, g, h, await gate.wait()]
    return x


class OwnTask(asyncio.Task):
    pass


class PythonTask(asyncio.tasks._PyTask):
    """The type that is written in Python, with more attributes than it has itself."""

    def __init__(self, *args, **named):
        self.extra = self.another = None
        super().__init__(*args, **named)


def expected_frames(coroutine):
    """(function, line) of the chain, innermost first, as the interpreter tells it."""
    found = []
    while coroutine is not None:
        if hasattr(coroutine, "cr_frame"):
            frame, inner = coroutine.cr_frame, coroutine.cr_await
        elif hasattr(coroutine, "gi_frame"):
            frame, inner = coroutine.gi_frame, coroutine.gi_yieldfrom
        elif hasattr(coroutine, "ag_frame"):
            frame, inner = coroutine.ag_frame, coroutine.ag_await
        else:
            break
        found.append((frame.f_code.co_name, frame.f_lineno))
        coroutine = inner
    return found[::-1]


def ask():
    runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    version = sys.version_info[0] << 8 | sys.version_info[1]
    numbers = [os.getpid(), version, runtime, threading.get_ident()]
    command = [sys.argv[1], "tasks", *map(str, numbers)]
    lines = subprocess.check_output(command).decode("utf-8").splitlines()
    tasks = {}
    for line in lines[1:]:
        if line.startswith("task "):
            frames = tasks.setdefault(line[5:], [])
        else:
            fields = line.split("\t")
            frames.append((fields[5].split(".")[-1], int(fields[2])) if len(fields) > 5 else line)
    return lines[0], tasks


async def main():
    gate, wrong = asyncio.Event(), []
    loop = asyncio.get_running_loop()
    made = {
        "plain": plain(gate),
        "größe 测试": nested(gate),
        "wrapped": wrapped(gate),
        "generated": generated(gate),
        "spinning": spinning(),
        "many": many(gate, 1, 2, 3, 4, 5, 6, 7, 8),
        "entering": entering(gate),
        "iterating": iterating(gate),
    }
    tasks = [loop.create_task(coroutine, name=name) for name, coroutine in made.items()]
    tasks.append(OwnTask(plain(gate), loop=loop, name="own"))
    made["own"] = tasks[-1].get_coro()
    tasks.append(asyncio.tasks._PyTask(nested(gate), loop=loop, name="python"))
    tasks.append(PythonTask(plain(gate), loop=loop, name="python subclass"))
    tasks[-1].__dict__["later"] = 1
    made.update((task.get_name(), task.get_coro()) for task in tasks[-2:])
    unnamed = loop.create_task(plain(gate))
    made[unnamed.get_name()] = unnamed.get_coro()
    done = loop.create_task(asyncio.sleep(0), name="done")
    for _ in range(3):
        await asyncio.sleep(0)
    loop.create_task(plain(gate), name="not begun")

    head, found = ask()
    if "loop, a task runs" not in head:
        wrong.append(head)
    if set(found) != set(made):
        wrong.append("found %r, expected %r" % (sorted(found), sorted(made)))
    for name, coroutine in made.items():
        expected = expected_frames(coroutine)
        frames = found.get(name, [])
        if name in BEHIND:
            expected = expected_frames(BEHIND[name]) + expected
        if frames != expected:
            wrong.append("%s: found %r, expected %r" % (name, frames, expected))
    gate.set()
    tasks[4].cancel()
    await asyncio.gather(*tasks, unnamed, done, return_exceptions=True)
    print("\n".join(wrong + ["compared %d" % len(made)]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(asyncio.new_event_loop().run_until_complete(main()))
