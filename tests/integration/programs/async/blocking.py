"""Steps that block the loop: one sleeps, one computes; another is split into short ones."""

import asyncio
import time


async def sleeps():
    await asyncio.sleep(0.05)
    time.sleep(0.9)  # SLEEPS
    await asyncio.sleep(0.05)


async def computes():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        sum(range(2000))  # COMPUTES
    await asyncio.sleep(0.05)


async def gives_way():
    end = time.process_time() + 0.4
    while time.process_time() < end:
        sum(range(2000))  # FAIR
        await asyncio.sleep(0)


async def main():
    await asyncio.sleep(0.3)  # until the loop has been met
    await sleeps()
    await computes()
    await gives_way()
    await asyncio.sleep(0.1)


asyncio.run(main())
