"""Costs of single lines of one function: loops on one line, the arguments of a call over several."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

import hashlib

from truth import cpu_clock

BLOCK = bytes(100000)
NUMBERS = range(2000)


def combine(*values):
    return values


def work(until_s):
    total = 0
    spent = [0.0] * 5
    while sum(spent) < until_s:
        t0 = cpu_clock()
        for i in range(4000): total += i * i % 7  # @loop_long
        t1 = cpu_clock()
        for i in range(1000): total += i * i % 7  # @loop_short
        t2 = cpu_clock()
        stamps = combine(
            cpu_clock(),
            hashlib.sha256(BLOCK).digest(),  # @argument_hash
            cpu_clock(),
            [i * i % 7 for i in NUMBERS],  # @argument_list
            cpu_clock(),
            sum(NUMBERS) + sum(NUMBERS)  # @argument_sum
            + sum(NUMBERS) + sum(NUMBERS),  # @argument_sum
            cpu_clock(),
        )
        for k, s in enumerate((t1 - t0, t2 - t1, stamps[2] - stamps[0], stamps[4] - stamps[2],
                               stamps[6] - stamps[4])):
            spent[k] += s
    return spent


case = Case()
parts = [case.part("loop_long", python=1), case.part("loop_short", python=1),
         case.part("argument_hash", native=(0.97, 1)), case.part("argument_list", python=(0.97, 1)),
         case.part("argument_sum", native=(0.97, 1))]
for part, spent_s in zip(parts, work(seconds())):
    part.cpu_s = spent_s
case.write()
