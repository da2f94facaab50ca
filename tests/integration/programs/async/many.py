"""Fifty thousand tasks: four of five wait at one line, the others at another.

Prints how many there were on average: on a busy machine it takes long to make them."""

import asyncio
import time

COUNT = 50000


async def often(gate):
    await gate.wait()  # OFTEN


async def seldom(gate):
    await gate.wait()  # SELDOM


async def main():
    gate = asyncio.Event()
    kinds = (often, often, often, often, seldom)
    begin = time.monotonic()
    tasks = [asyncio.ensure_future(kinds[i % 5](gate)) for i in range(COUNT)]
    made = time.monotonic()
    await asyncio.sleep(3)
    end = time.monotonic()
    gate.set()
    await asyncio.wait(tasks)
    print(COUNT * ((made - begin) / 2 + end - made) / (end - begin))


asyncio.run(main())
