"""numpy: arrays that are kept, temporaries of expressions, copies (astype, concatenate, slices)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import Truth

import numpy as np

truth, kept = Truth(), []
for _ in range(20):
    kept.append(np.zeros(500000))  # @kept
truth.line("kept", malloc=20 * 4000000, kept=20 * 4000000)
first, second = np.ones(200000), np.ones(200000)
for _ in range(50):
    first + second  # @sum
truth.line("sum", malloc=50 * 1600000, kept=0)
for _ in range(50):
    (first * 2 + second) / 3  # @expression
truth.line("expression", kept=0)
for _ in range(40):
    first.copy()  # @copy
truth.line("copy", malloc=40 * 1600000, kept=0, copy=40 * 1600000)
for _ in range(40):
    np.concatenate((first, second))  # @joined
truth.line("joined", malloc=40 * 3200000, kept=0, copy=40 * 3200000)
for _ in range(100000):
    np.empty(100)  # @small
truth.line("small", kept=0)
truth.write()
