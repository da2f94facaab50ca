"""Two busy threads with CPU times of 3 to 1, one that waits, a main thread that joins."""

import threading
import time

stop = threading.Event()


def spend(seconds, work):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        work()


def large():
    for i in range(1000):
        i * i + i  # LARGE


def small():
    for i in range(1000):
        i * i + i  # SMALL


def waits():
    stop.wait()  # WAITS


idle = threading.Thread(target=waits, name="idle")
busy = [
    threading.Thread(target=spend, args=(0.6, large), name="large"),
    threading.Thread(target=spend, args=(0.2, small), name="small"),
]
for thread in [idle, *busy]:
    thread.start()
for thread in busy:
    thread.join()  # JOIN
stop.set()
idle.join()
