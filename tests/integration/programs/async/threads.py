"""An event loop in another thread, and one that works in the main thread."""

import asyncio
import threading
import time


async def elsewhere():
    await asyncio.sleep(1.0)  # ELSEWHERE


async def here():
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        await asyncio.sleep(0)  # SPIN


thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
thread.start()
asyncio.run(here())
thread.join()
