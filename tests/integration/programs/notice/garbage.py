"""The garbage collector's settings, its callbacks, weak references, finalisers, tracemalloc."""

import gc
import sys
import tracemalloc
import weakref

from burn import burn

print(
    "threshold",
    gc.get_threshold(),
    gc.isenabled(),
    gc.callbacks,
    gc.get_freeze_count(),
    gc.get_debug(),
)
phases = []
gc.callbacks.append(lambda phase, info: phases.append(phase))


class Node:
    def __init__(self):
        self.me = self
        self.load = [0] * 50


dead = []
for _ in range(5000):
    node = Node()
    weakref.finalize(node, dead.append, 1)
del node
gc.collect()
print("finalised", len(dead), set(phases), len(phases) % 2)
burn()
print("garbage", gc.garbage)
print("tracemalloc", tracemalloc.is_tracing())
tracemalloc.start()
kept = [bytes(1000) for _ in range(1000)]
burn()
print("traced", 1000000 < tracemalloc.get_traced_memory()[0] < 1300000)
tracemalloc.stop()
print("blocks", sys.getallocatedblocks() >= 0, sys.getrefcount(kept))
