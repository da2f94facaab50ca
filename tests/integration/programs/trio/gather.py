"""The same waits as gather.py, with trio; and a step that blocks its loop."""

import time

import trio


async def short():
    for _ in range(4):
        await trio.sleep(0.1)  # SHORT


async def nap(seconds):
    await trio.sleep(seconds)  # LONG


async def long():
    await nap(1.2)  # OUTER


async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(short, name="short")
        for i in range(3):
            nursery.start_soon(long, name="long-%d" % i)
        await trio.sleep(1.2)  # ALL
    time.sleep(0.4)  # BLOCKS
    await trio.sleep(0.05)


trio.run(main)  # RUN
