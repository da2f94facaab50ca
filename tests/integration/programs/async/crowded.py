"""Steps of 40 ms of CPU time that take four times as long, because three others want the same CPU; one
that sleeps does block the loop."""

import asyncio
import os
import subprocess
import sys
import time

BUSY = "while True: pass"


def computes():
    end = time.thread_time() + 0.04
    while time.thread_time() < end:
        sum(range(2000))  # SHORT


def sleeps():
    time.sleep(0.5)  # SLEEPS


async def main():
    for _ in range(8):
        computes()
        await asyncio.sleep(0.02)
    sleeps()
    await asyncio.sleep(0.02)


os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
others = [subprocess.Popen([sys.executable, "-S", "-c", BUSY]) for _ in range(3)]
try:
    asyncio.run(main())
finally:
    for other in others:
        other.kill()
        other.wait()
