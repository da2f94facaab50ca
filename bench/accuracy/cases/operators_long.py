"""Operators that take long, each some tenth of a millisecond: C code at work, native without a call."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

LONG_LIST = list(range(20000))
BIG = 7 ** 20000


def membership():
    -1 in LONG_LIST


def big_integers():
    BIG * BIG


def repeating():
    LONG_LIST * 5


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


case = Case()
case.phase(membership, native=(0.97, 1))
case.phase(big_integers, native=(0.97, 1))
case.phase(repeating)  # memory: the kernel has a large part in it
case.phase(in_python, unit_s=0.001, python=1)
case.play(seconds())
case.write()
