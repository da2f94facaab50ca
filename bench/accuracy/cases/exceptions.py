"""Exceptions: raised and caught at once, through many frames, with finally; beside plain Python."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds



def near(count):
    for _ in range(count):
        try:
            raise ValueError
        except ValueError:
            pass


def far(count):
    def fall(depth):
        if depth == 0:
            raise KeyError
        try:
            fall(depth - 1)
        finally:
            pass

    for _ in range(count):
        try:
            fall(12)
        except KeyError:
            pass


def in_c(count):
    for _ in range(count):
        try:
            {}[1]
        except KeyError:
            pass


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


case = Case()
case.phase(near, unit_s=0.001, python=(0.85, 1))
case.phase(far, unit_s=0.001, python=(0.85, 1))
case.phase(in_c, unit_s=0.001, python=(0.85, 1))
case.phase(in_python, unit_s=0.001, python=1)
case.play(seconds())
case.write()
