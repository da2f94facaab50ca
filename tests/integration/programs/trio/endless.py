"""Tasks that wait for ever at known lines, one that holds up the loop, on asyncio or, when asked, trio."""

import sys
import time


async def nap():
    while True:
        await sleep(1.5)  # LONG


async def long():
    await nap()  # OUTER


async def short():
    while True:
        await sleep(0.02)  # SHORT


async def blocks():
    while True:
        await sleep(0.2)  # BETWEEN
        time.sleep(0.25)  # BLOCKS


async def with_asyncio():
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(long(), name="long-%d" % i) for i in range(3)]
    tasks += [loop.create_task(short(), name="short"), loop.create_task(blocks(), name="blocks")]
    print("ready")
    await asyncio.gather(*tasks)  # ALL


async def with_trio():
    async with trio.open_nursery() as nursery:
        for i in range(3):
            nursery.start_soon(long, name="long-%d" % i)
        nursery.start_soon(short, name="short")
        nursery.start_soon(blocks, name="blocks")
        print("ready")
        await trio.sleep_forever()  # ALL-TRIO


if "trio" in sys.argv:
    import trio

    sleep = trio.sleep
    trio.run(with_trio)  # RUN-TRIO
else:
    import asyncio

    sleep = asyncio.sleep
    asyncio.run(with_asyncio())  # RUN
