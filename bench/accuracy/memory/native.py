"""Memory that Python knows nothing of: malloc, calloc and realloc through ctypes."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import MB, Truth

import ctypes

libc = ctypes.CDLL(None)
malloc, calloc, realloc, free = libc.malloc, libc.calloc, libc.realloc, libc.free
malloc.restype = calloc.restype = realloc.restype = ctypes.c_void_p
malloc.argtypes, calloc.argtypes = [ctypes.c_size_t], [ctypes.c_size_t, ctypes.c_size_t]
realloc.argtypes, free.argtypes = [ctypes.c_void_p, ctypes.c_size_t], [ctypes.c_void_p]

truth = Truth()
held = [None] * 1000
for i in range(1000):
    held[i] = malloc(70000)  # @kept
truth.line("kept", malloc=1000 * 70000, kept=1000 * 70000)
for i in range(4000):
    block = malloc(20000)  # @brief
    free(block)
truth.line("brief", malloc=4000 * 20000, kept=0)
for i in range(100):
    block = calloc(100, 5000)  # @zeroed
    free(block)
truth.line("zeroed", malloc=100 * 100 * 5000, kept=0)
block = malloc(MB)
for i in range(2, 30):
    block = realloc(block, i * 100000)  # @grown
truth.line("grown", malloc=sum(range(2, 30)) * 100000, kept=0)
for i in range(29, 1, -1):
    block = realloc(block, i * 100000)  # @shrunk
truth.line("shrunk", malloc=sum(range(29, 1, -1)) * 100000, kept=200000)
truth.write()
