"""Consumers that wait for a producer, through the standard library's own coroutines."""

import asyncio


async def consume(queue):
    while await queue.get() is not None:  # GET
        pass


async def produce(queue, consumers):
    for item in range(8):
        await asyncio.sleep(0.1)  # PRODUCE
        await queue.put(item)
    for _ in range(consumers):
        await queue.put(None)


async def main():
    queue = asyncio.Queue()
    consumers = [asyncio.ensure_future(consume(queue)) for _ in range(10)]
    await produce(queue, len(consumers))
    await asyncio.gather(*consumers)


asyncio.run(main())
