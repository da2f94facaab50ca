"""Things that are built and dropped again and again: how much of them lives at most?"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import MB, Truth, size_of

truth, seconds = Truth(), float(os.environ.get("ACCURACY_SECONDS", "5"))
rounds = int(40 * seconds)


def build(count):
    """So many rows, and what they take; a row is a list of one."""
    rows = [[None] for _ in range(count)]
    return size_of(rows) + count * (size_of([]) + 8)


for _ in range(rounds):
    rows = [[None] for _ in range(60000)]  # @replaced
truth.line("replaced", kept=build(60000), peak=2 * build(60000))
for _ in range(rounds):
    others = [[None] for _ in range(100000)]  # @dropped
    del others
truth.line("dropped", kept=0, peak=build(100000))
for i in range(rounds):
    mixed = [[None] for _ in range(400000 if i == rounds // 2 else 20000)]  # @once
del mixed
truth.line("once", kept=0, peak=build(400000) + build(20000))
for i in range(2 * rounds):
    block = bytearray(6 * MB if i == rounds else 3 * MB)  # @blocks
del block
truth.line("blocks", kept=0, peak=9 * MB)
for part in range(4):
    for _ in range(rounds // 4):
        growing = [[None] for _ in range(40000 * (part + 1))]  # @growing
del growing
truth.line("growing", kept=0, peak=2 * build(160000))
truth.write()
