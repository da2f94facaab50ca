"""Hundreds of thousands of small objects, made side by side."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import time

from memory_truth import Truth, size_of


class Point:
    __slots__ = ("x", "y")


truth, count = Truth(), 300000
start = time.monotonic()
points, texts, pairs, floats = ([None] * count for _ in range(4))
for i in range(count):
    points[i] = Point()  # @points
    texts[i] = "%d" % (i + 1000000)  # @texts
    pairs[i] = (i, None)  # @pairs
    floats[i] = i * 0.5  # @floats
for name, objects in (("points", points), ("texts", texts), ("pairs", pairs), ("floats", floats)):
    size = sum(map(size_of, objects))
    if name != "texts":  # formatting takes more than the text itself
        truth.line(name, malloc=size, kept=size)
    else:
        truth.line(name, kept=size)
size = count * size_of(pairs[0])
pairs.clear()
truth.line("pairs", malloc=size, kept=0)
time.sleep(2 * (time.monotonic() - start))  # built, then used
truth.write()
