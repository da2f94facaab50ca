"""asyncio: fifty thousand tasks that wait, a few of which are woken at a time."""
import asyncio
import sys

TASKS = 50_000


async def sleeper(gate, results):
    while True:
        await gate.wait()
        results.append(1)
        gate.clear()


async def main(turns):
    results = []
    gates = [asyncio.Event() for _ in range(TASKS)]
    tasks = [asyncio.create_task(sleeper(gate, results)) for gate in gates]
    await asyncio.sleep(0)
    for turn in range(turns):
        for i in range(20):
            gates[(turn * 7919 + i * 2503) % TASKS].set()
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return len(results)


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(asyncio.run(main(max(10, int(25_000 * scale)))))
