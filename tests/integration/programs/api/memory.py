"""Memory in two sessions beside threads that allocate; Python's allocators are as before afterwards."""

import ctypes
import threading

import heatline
from parts import say

KEPT_BEFORE = [bytearray(100_000) for _ in range(100)]
MB = 1024 * 1024


class Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")]


def allocators():
    found = []
    for domain in range(3):
        allocator = Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(domain, ctypes.byref(allocator))
        found.append([getattr(allocator, name) for name, _ in Allocator._fields_])
    return found


def work():
    rows = [[i] * 100 for i in range(20_000)]  # ROWS
    block = bytearray(40 * MB)  # BLOCK
    copy = bytes(block)  # COPY
    raw = ctypes.CDLL(None).malloc  # what a library written in C does
    raw.restype, raw.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    KEPT_BEFORE.clear()
    KEPT_BEFORE.extend(bytearray(100_000) for _ in range(100))
    return len(rows) + len(copy)


class Churn(threading.Thread):
    is_ending = False

    def run(self):
        while not self.is_ending:
            [bytearray(3000) for _ in range(50)]


threads = [Churn() for _ in range(2)]
for thread in threads:
    thread.start()
before = allocators()
found = []
during = None
for _ in range(2):
    with heatline.profiling() as p:
        during = allocators()
        work()
    lines = {word: line for line in p.profile.lines for word in ("ROWS", "BLOCK", "COPY")
             if line.text.endswith("# " + word) and line.file == __file__}
    found.append({
        "rows": lines["ROWS"].allocated_mb,
        "block": lines["BLOCK"].peak_mb,
        "copied": lines["COPY"].copied_mb,
        "kept": lines["BLOCK"].kept_mb,
        "memory": p.profile.data["memory"],
        "warnings": [text for text in p.profile.data["heatline"]["quality"]["warnings"] if "memory" in text],
    })
after = allocators()
for thread in threads:
    thread.is_ending = True
    thread.join()
say(found=found, is_restored=before == after, is_wrapped=before != during, raw_is_left=before[0] == during[0])
