"""Three functions of the same Python work, 70/20/10, in turns of argv[1] seconds.

Turns of 4 ms go in step with a kernel that ticks 250 times a second."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds


def most(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def some(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def little(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


unit_s = float(sys.argv[1])
case = Case()
case.phase(most, 70, unit_s=unit_s, python=1)
case.phase(some, 20, unit_s=unit_s, python=1)
case.phase(little, 10, unit_s=unit_s, python=1)
case.play(seconds())
case.write()
