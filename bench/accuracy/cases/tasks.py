"""Tasks of an event loop: waits of known length, shared by those that wait, between turns of work."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, OffClock, seconds

import asyncio
import time

TURN_S = 0.06


async def napping():
    await asyncio.sleep(TURN_S)


async def dozing():
    await asyncio.sleep(TURN_S)


async def computing():
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


async def waiting():
    """Five tasks wait while the loop does: each has a fifth of its time."""
    off = OffClock()
    await asyncio.gather(napping(), napping(), napping(), dozing())
    idle = off.seconds()
    for part, tasks in ((naps, 3), (doze, 1), (wait, 1)):
        part.wall_s += idle * tasks / 5


async def working():
    wall = time.perf_counter()
    await computing()
    work.wall_s += time.perf_counter() - wall


async def main(total_s):
    end = time.perf_counter() + total_s
    while time.perf_counter() < end:
        await waiting()
        await working()


count = 300000
case = Case(clock="wall")
naps = case.part("napping", system=(0.95, 1))
doze = case.part("dozing", system=(0.95, 1))
wait = case.part("waiting", system=(0.9, 1))
work = case.part("computing", python=(0.85, 1))
asyncio.run(main(max(3, seconds())))
case.write()
