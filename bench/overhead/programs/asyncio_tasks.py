"""asyncio: ten thousand tasks alive at once, that pass the turn and meet in queues."""
import asyncio
import sys

TASKS = 10_000


async def worker(index, turns, inbox, results):
    total = 0
    for turn in range(turns):
        await asyncio.sleep(0)
        total += (index * turn) & 15
        if turn == turns // 2:
            total += await inbox.get()
    results.append(total)


async def main(turns):
    inbox, results = asyncio.Queue(), []
    tasks = [asyncio.create_task(worker(i, turns, inbox, results)) for i in range(TASKS)]
    for i in range(TASKS):
        inbox.put_nowait(i & 7)
    await asyncio.gather(*tasks)
    return len(results), sum(results)


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(asyncio.run(main(max(2, int(90 * scale)))))
