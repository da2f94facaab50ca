"""Two threads of Python that share the GIL, and one that hashes without it; how long each waits for it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, OffClock, seconds

import hashlib
import threading

from truth import cpu_clock

BLOCK = bytes(32 << 20)


def first(until_s):
    part, start, off = parts["first"], cpu_clock(), OffClock()
    total = 0
    while part.cpu_s < until_s:
        for i in range(3000):
            total += i * i % 7
        part.cpu_s = cpu_clock() - start
    part.apart["gil_s"] = off.seconds()


def second(until_s):
    part, start, off = parts["second"], cpu_clock(), OffClock()
    total = 0
    while part.cpu_s < until_s:
        for i in range(3000):
            total += i * i % 7
        part.cpu_s = cpu_clock() - start
    part.apart["gil_s"] = off.seconds()


def hashing(until_s):
    part, start, off = parts["hashing"], cpu_clock(), OffClock()
    while part.cpu_s < until_s:
        hashlib.sha256(BLOCK)
        part.cpu_s = cpu_clock() - start
    part.apart["gil_s"] = off.seconds()


case = Case()
parts = {"first": case.part("first", python=1), "second": case.part("second", python=1),
         "hashing": case.part("hashing", native=(0.98, 1))}
workers = [threading.Thread(target=work, args=(share * seconds(),))
           for work, share in ((first, 0.35), (second, 0.35), (hashing, 0.3))]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
case.write()
