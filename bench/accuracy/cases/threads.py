"""Threads with unequal work: three of Python that share the GIL, one that hashes without it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

import hashlib
import threading

from truth import cpu_clock

BLOCK = bytes(1 << 18)


def first(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def second(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def third(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def hashing(count):
    for _ in range(count):
        hashlib.sha256(BLOCK)


def spend(part, work, count, until_s):
    start = cpu_clock()
    while part.cpu_s < until_s:
        work(count)
        part.cpu_s = cpu_clock() - start


case = Case()
plan = [
    (case.part("first", python=1), first, 3000, 0.4),
    (case.part("second", python=1), second, 3000, 0.2),
    (case.part("third", python=1), third, 3000, 0.1),
    (case.part("hashing", native=(0.98, 1)), hashing, 3, 0.3),
]
workers = [threading.Thread(target=spend, args=(part, work, count, share * seconds()))
           for part, work, count, share in plan]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
case.write()
