"""Calls of Python functions, by Python and by C code: what of them is the interpreter's work?"""

import functools
import random
import time

random.seed(1)
rows = [(i, random.random()) for i in range(2000)]
numbers = list(range(3000))


def spend(work, seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        work()


def keyword(a, b=1, *, c=2):
    return a


class Point:
    def __init__(self, x, y):
        self.x = x


def keywords():
    for i in numbers:
        keyword(i, b=2, c=3)  # PYTHON keywords


def unpacked():
    for i in numbers:
        keyword(*(i, 2))  # PYTHON unpacked


def instances():
    for i in numbers:
        Point(x=i, y=i)  # PYTHON instances


def reduces():
    functools.reduce(lambda a, b: a + b, numbers)  # CALLED reduce


def maps():
    list(map(lambda x: x + 1, numbers))  # CALLED map


def sorts():
    sorted(rows, key=lambda row: row[1])  # BOTH sorted


def sorts_more():
    sorted(rows, key=lambda row: row[1] * 2 + row[0] % 7 - row[1])  # BOTH heavier


for call in (keywords, unpacked, instances, reduces, maps, sorts, sorts_more):
    spend(call, 0.4)
