"""A task that waits in an asynchronous generator, and one that waits for the network."""

import asyncio


async def ticks(count):
    for tick in range(count):
        await asyncio.sleep(0.1)  # TICK
        yield tick


async def iterate():
    async for _ in ticks(8):  # ITERATE
        pass


async def serve(reader, writer):
    for _ in range(8):
        await reader.readline()
        await asyncio.sleep(0.1)
        writer.write(b"answer\n")
    writer.close()


async def talk(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(8):
        writer.write(b"question\n")
        await reader.readline()  # READ
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await asyncio.gather(iterate(), talk(port))
    server.close()


asyncio.run(main())
