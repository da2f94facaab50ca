"""Tasks that have no line of the program's: what is awaited is asyncio's own, but the awaits are not.

With "endless" nine of them wait for ever."""

import asyncio
import sys


async def main():
    await asyncio.gather(*(asyncio.sleep(0.8) for _ in range(9)))  # GATHER
    await asyncio.wait_for(asyncio.sleep(0.4), 5)  # TIMEOUT
    task = asyncio.ensure_future(asyncio.sleep(0.4))
    await task  # AWAIT
    await asyncio.gather(*(asyncio.sleep(1.2) for _ in range(100)))  # MANY


async def endless():
    print("ready", flush=True)
    await asyncio.gather(*(asyncio.sleep(1000) for _ in range(9)))  # ENDLESS


if "endless" in sys.argv:
    asyncio.run(endless())  # RUN-ENDLESS
else:
    asyncio.run(main())  # RUN
    asyncio.run(asyncio.sleep(0.6))  # ALONE
