"""A line for each kind of waiting."""

import asyncio
import concurrent.futures
import multiprocessing
import os
import queue
import select
import socket
import subprocess
import sys
import threading
import time


def later(action):
    timer = threading.Timer(0.25, action)
    timer.daemon = True
    timer.start()


def forked():
    time.sleep(0.25)  # sleep forked


def pooled(event):
    event.wait()  # lock pooled


async def looped():
    await asyncio.sleep(0.25)  # events


def main():
    process = multiprocessing.get_context("fork").Process(target=forked)
    process.start()
    process.join()  # child forked

    time.sleep(0.25)  # sleep

    lock = threading.Lock()
    lock.acquire()
    later(lock.release)
    lock.acquire()  # lock

    items = queue.Queue()
    later(lambda: items.put(1))
    items.get()  # queue

    here, there = socket.socketpair()
    later(lambda: there.send(b"x"))
    here.recv(1)  # socket
    later(lambda: there.send(b"x"))
    select.select([here], [], [])  # socket too
    here.recv(1)
    here.settimeout(5)
    later(lambda: there.send(b"x"))
    here.recv(1)  # socket timed

    read, write = os.pipe()
    later(lambda: os.write(write, b"x"))
    os.read(read, 1)  # pipe
    later(lambda: os.write(write, b"x"))
    select.select([read], [], [])  # pipe too

    subprocess.run([sys.executable, "-S", "-c", "import time; time.sleep(0.4)"])  # child

    event = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        later(event.set)
        pool.submit(pooled, event).result()

    asyncio.run(looped())


main()
