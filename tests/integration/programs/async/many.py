"""Fifty thousand tasks: four of five wait at one line, the others at another."""

import asyncio

COUNT = 50000


async def often(gate):
    await gate.wait()  # OFTEN


async def seldom(gate):
    await gate.wait()  # SELDOM


async def main():
    gate = asyncio.Event()
    kinds = (often, often, often, often, seldom)
    tasks = [asyncio.ensure_future(kinds[i % 5](gate)) for i in range(COUNT)]
    await asyncio.sleep(3)
    gate.set()
    await asyncio.wait(tasks)


asyncio.run(main())
