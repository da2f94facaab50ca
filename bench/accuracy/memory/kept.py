"""Arrays that are made and kept: large ones, middling ones, tables of pointers."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import MB, Truth, size_of

import array

truth, kept = Truth(), []
little = [None] * 2000
for _ in range(10):
    kept.append(bytearray(10 * MB))  # @large
truth.line("large", malloc=10 * size_of(kept[-1]), kept=10 * size_of(kept[-1]))
for _ in range(600):
    kept.append(bytes(100000))  # @middling
truth.line("middling", malloc=600 * size_of(kept[-1]), kept=600 * size_of(kept[-1]))
for i in range(2000):
    little[i] = bytes(3000)  # @little
truth.line("little", malloc=2000 * size_of(little[0]), kept=2000 * size_of(little[0]))
for _ in range(10):
    kept.append([None] * 700000)  # @pointers
truth.line("pointers", malloc=10 * size_of(kept[-1]), kept=10 * size_of(kept[-1]))
pattern = array.array("d", [0.0])
for _ in range(10):
    kept.append(pattern * 1000000)  # @doubles
truth.line("doubles", malloc=10 * size_of(kept[-1]), kept=10 * size_of(kept[-1]))
truth.write()
