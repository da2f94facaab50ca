"""Tasks with known waits: three of 1.2 s, one of 0.4 s, and one that waits for them all.

Prints how long the short one and all of them took."""

import asyncio
import sys
import time


async def short():
    begin = time.monotonic()
    for _ in range(4):
        await asyncio.sleep(0.1)  # SHORT
    return time.monotonic() - begin


async def nap(seconds):
    await asyncio.sleep(seconds)  # LONG


async def long():
    await nap(1.2)  # OUTER


def python_task(loop, coroutine, **named):
    return asyncio.tasks._PyTask(coroutine, loop=loop, **named)


async def main():
    loop = asyncio.get_running_loop()
    if "python" in sys.argv:
        loop.set_task_factory(python_task)
    tasks = [loop.create_task(short(), name="short")]
    tasks += [loop.create_task(long(), name="long-%d" % i) for i in range(3)]
    begin = time.monotonic()
    results = await asyncio.gather(*tasks)  # ALL
    print([results[0], time.monotonic() - begin])


if "uvloop" in sys.argv:
    import uvloop

    uvloop.install()
asyncio.run(main())  # RUN
