"""numpy: large and small arrays, linear algebra, sorting, and Python in between."""
import os
import sys

# One thread: the benchmark compares CPU time, and BLAS threads spin while they wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np


def large(rounds):
    rng = np.random.default_rng(7)
    a = rng.random((300, 300))
    v = rng.random(400_000)
    total = 0.0
    for _ in range(rounds):
        a = a @ a
        a /= a.max()
        w = np.sort(v)
        total += float(np.sqrt(v * v + 1.0).sum() + w[1000] + a[3, 3])
        v = np.roll(v, 13)
    return total


def small(rounds):
    point = np.array([1.0, 2.0, 3.0])
    step = np.array([0.001, -0.002, 0.003])
    total = 0.0
    for i in range(rounds):
        point = point + step
        if i % 3 == 0:
            total += float(point.dot(step))
    return total


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print("%.6e %.6e" % (large(max(1, int(70 * scale))), small(int(1_800_000 * scale))))
