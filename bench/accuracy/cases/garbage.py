"""Cycles that only the garbage collector frees, beside work that makes none; how long it collects."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, cpu_clock, seconds

import gc


class Node:
    pass


def cycles(count):
    for _ in range(count):
        node = Node()
        node.me = node


def numbers(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def on_collect(phase, _info):
    global began_s
    if phase == "start":
        began_s = cpu_clock()
    else:
        collecting["gc_s"] += cpu_clock() - began_s


kept = [[i] for i in range(100000)]  # what a full collection goes through
case = Case()
began_s = 0.0
collecting = {"gc_s": 0.0}
gc.set_threshold(20000)  # rare and long: being told of a collection costs some microseconds
gc.callbacks.append(on_collect)
case.phase(cycles, 60, unit_s=0.01).apart = collecting
case.phase(numbers, 40, unit_s=0.01, python=1)
case.play(2 * seconds())  # half of a phase is a matter of chance: twice the samples
gc.callbacks.remove(on_collect)
case.write()
