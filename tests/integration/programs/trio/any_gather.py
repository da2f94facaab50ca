"""The same waits as gather.py, with anyio on the loop that is named."""

import sys

import anyio


async def short():
    for _ in range(4):
        await anyio.sleep(0.1)  # SHORT


async def nap(seconds):
    await anyio.sleep(seconds)  # LONG


async def long():
    await nap(1.2)  # OUTER


async def main():
    async with anyio.create_task_group() as group:
        group.start_soon(short, name="short")
        for i in range(3):
            group.start_soon(long, name="long-%d" % i)
        await anyio.sleep(1.2)  # ALL


anyio.run(main, backend=sys.argv[1])  # RUN
