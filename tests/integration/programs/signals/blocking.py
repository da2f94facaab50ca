"""Counts interrupted system calls: in a thread beside a busy one, and in a thread that works itself."""

import ctypes
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])
CALLS = """nanosleep clock_nanosleep poll ppoll select epoll_wait sem_timedwait recv sigtimedwait
           read""".split()


def spin(until):
    while not until.is_set():
        sum(range(200))


def count(name, times, us):
    return getattr(library, "count_" + name)(ctypes.c_long(times), ctypes.c_long(us))


done = threading.Event()
busy = threading.Thread(target=spin, args=(done,))
busy.start()
for name in CALLS:
    print(name, "long", count(name, 2, 50000), "short", count(name, 60, 1000), flush=True)
done.set()
busy.join()

for name in CALLS:
    results = []
    waiting = threading.Thread(target=lambda: results.append(count(name, 60, 1000)))
    waiting.start()
    while waiting.is_alive():
        sum(range(200))
    print(name, "in a thread", results, flush=True)

for name in CALLS:
    # Alone, with Python work in between: the clock is due when the call begins.
    interrupted = 0
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        sum(range(3000))
        interrupted += count(name, 2, 200)
    print(name, "alone", interrupted, flush=True)
