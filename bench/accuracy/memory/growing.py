"""Lists, dictionaries, sets and byte arrays that grow bit by bit."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import Growth, Truth

truth = Truth()
numbers = []
growth = Growth(numbers)
append, seen = numbers.append, growth.seen
for _ in range(1000000):
    append(None)  # @list
    seen()
truth.line("list", malloc=growth.malloc, kept=growth.size - growth.empty)
keys = list(range(300000))
table = {}
growth = Growth(table)
for key in keys:
    table[key] = None  # @dict
    growth.seen()
truth.line("dict", malloc=growth.malloc)
several = set()
growth = Growth(several)
add = several.add
for key in keys:
    add(key)  # @set
    growth.seen()
truth.line("set", malloc=growth.malloc)
buffer, part = bytearray(), bytes(1000)
growth = Growth(buffer)
for _ in range(20000):
    buffer += part  # @bytearray
    growth.seen()
truth.line("bytearray", malloc=growth.malloc)
truth.write()
