"""Work at the bottom of a deep stack, work on the way down, and work near the top."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

from truth import cpu_clock


def bottom(count):
    start = cpu_clock()
    total = 0
    for i in range(count):
        total += i * i % 7
    deep.cpu_s += cpu_clock() - start
    return total


def descend(depth, count):
    return bottom(count) if depth == 0 else descend(depth - 1, count)


def at_every_level(depth):
    total = 0
    for i in range(20):
        total += i * i % 7
    return total if depth == 0 else total + at_every_level(depth - 1)


def near_the_top(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


case = Case()
deep = case.part("bottom", python=1)
way = case.part("descend")
# The interpreter maps and unmaps memory for its frames on the way: system time.
levels = case.phase(at_every_level, argument=800, python=(0.7, 1))
top = case.phase(near_the_top, unit_s=0.001, python=1)
while deep.cpu_s < seconds() / 3:
    before, start = deep.cpu_s, cpu_clock()
    descend(850, 12000)
    way.cpu_s += cpu_clock() - start - (deep.cpu_s - before)
    case.play((levels.cpu_s + top.cpu_s) + 0.002)
case.write()
