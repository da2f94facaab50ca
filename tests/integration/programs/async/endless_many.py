"""Fifty thousand tasks for ever: four of five wait at one line, the others at another."""

import asyncio

COUNT = 50000


async def often(gate):
    await gate.wait()  # OFTEN


async def seldom(gate):
    await gate.wait()  # SELDOM


async def turns():
    print("ready")
    while True:
        await asyncio.sleep(0.01)


async def main():
    gate = asyncio.Event()
    kinds = (often, often, often, often, seldom)
    tasks = [asyncio.ensure_future(kinds[i % 5](gate)) for i in range(COUNT)]
    await asyncio.wait(tasks + [asyncio.ensure_future(turns())])


asyncio.run(main())
