"""Calling Python functions: the interpreter's work, however they are called.  How much of a sort is
its key's is not known to the last point, so the split of C code that calls them is not judged."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

import functools
import random

RANDOM = random.Random(5)
NUMBERS = list(range(2000))
ROWS = [(i, RANDOM.random()) for i in range(2000)]


def target(a, b=1, *, c=2):  # @keywords
    return a  # @keywords


def other(a, b):  # @unpacked
    return a  # @unpacked


class Point:
    def __init__(self, x, y):  # @instances
        self.x = x  # @instances


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **more):  # @wrapped
        return function(*args, **more)  # @wrapped
    return wrapper


@logged
def quiet(a, b):  # @wrapped
    return b  # @wrapped


def keywords():
    for i in NUMBERS:
        target(i, b=2, c=3)


def unpacked():
    for i in NUMBERS:
        other(*(i, 2))


def instances():
    for i in NUMBERS:
        Point(x=i, y=i)


def wrapped():
    for i in NUMBERS:
        quiet(i, 2)


def reducing():
    functools.reduce(lambda a, b: a + b, NUMBERS)


def sorting():
    sorted(ROWS, key=lambda row: row[1])


def adding():
    sum(x * x for x in NUMBERS)


case = Case()
for function in (keywords, unpacked, instances, wrapped):
    case.phase(function, python=(0.9, 1))
for function in (reducing, sorting, adding):
    case.phase(function)
case.play(seconds())
case.write()
