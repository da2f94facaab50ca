"""A program that looks at its own memory with tracemalloc: what it sees is its own matter."""

import sys
import tracemalloc

MB = 1 << 20
was_on = tracemalloc.is_tracing()
tracemalloc.start(5)
before = tracemalloc.get_traced_memory()[0]
kept = [bytearray(MB) for _ in range(10)]  # TRACED
now, peak = tracemalloc.get_traced_memory()
top = tracemalloc.take_snapshot().statistics("lineno")[0]
print(was_on, round((now - before) / MB, 1), top.traceback[0].lineno, round(top.size / MB, 1))
print(tracemalloc.get_object_traceback(kept[0])[-1].lineno)
del kept[5:]
tracemalloc.stop()
after = [bytearray(MB) for _ in range(20)]  # UNTRACED
tracemalloc.start()
again = [bytearray(MB) for _ in range(10)]  # TRACED AGAIN
print(round(tracemalloc.get_traced_memory()[0] / MB, 1))
tracemalloc.stop()
del kept, after
print(len(again), tracemalloc.is_tracing(), sys.getsizeof(again[0]) // MB)
