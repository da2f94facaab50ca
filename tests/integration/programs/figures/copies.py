"""numpy copies on many lines, a few samples each: the C library's memmove does the work."""

import time

import numpy

a = numpy.zeros(20000)
b = numpy.ones(20000)

BODY = "def part():\n    for _ in range(50):\n        a[:] = b\n"
parts = []
for number in range(12):
    names = {"a": a, "b": b}
    exec(compile("\n" * (100 + 10 * number) + BODY, __file__, "exec"), names)
    parts.append(names["part"])

for part in parts:
    end = time.process_time() + 0.05
    while time.process_time() < end:
        part()
