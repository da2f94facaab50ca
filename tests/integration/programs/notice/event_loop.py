"""asyncio: tasks, timers, signals, children, streams, threads of an executor."""

import asyncio
import os
import signal
import sys
import warnings

from burn import burn

warnings.simplefilter("ignore", DeprecationWarning)


async def worker(number, results):
    for _ in range(3):
        await asyncio.sleep(0.005)
        burn(0.002)
    results.append(number)


async def numbers(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield number


async def echo(reader, writer):
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def main():
    loop = asyncio.get_running_loop()
    results = []
    await asyncio.gather(*(worker(number, results) for number in range(20)))
    print("tasks", sorted(results))
    print("generator", [number async for number in numbers(10)])
    got = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, got.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(got.wait(), 10)
    print("signal")
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print(6 * 7)", stdout=asyncio.subprocess.PIPE
    )
    print("child", (await child.communicate())[0], child.returncode)
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"hello\n")
    print("stream", await reader.readline())
    writer.close()
    server.close()
    print("executor", await loop.run_in_executor(None, lambda: burn(0.05) or "done"))
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.05)
    except asyncio.TimeoutError:
        print("timeout")
    print("left", len(asyncio.all_tasks()))


asyncio.run(main())
