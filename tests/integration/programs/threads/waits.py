"""A line for each kind of waiting."""

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


def main():
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

    read, write = os.pipe()
    later(lambda: os.write(write, b"x"))
    os.read(read, 1)  # pipe

    subprocess.run([sys.executable, "-S", "-c", "import time; time.sleep(0.4)"])  # child


main()
