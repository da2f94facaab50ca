"""Tasks with known waits: three of 1.2 s, one of 0.4 s, and one that waits for them all."""

import asyncio
import sys


async def short():
    for _ in range(4):
        await asyncio.sleep(0.1)  # SHORT


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
    await asyncio.gather(*tasks)  # ALL


if "uvloop" in sys.argv:
    import uvloop

    uvloop.install()
asyncio.run(main())  # RUN
