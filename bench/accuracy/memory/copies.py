"""Bytes that are copied: whole buffers, slices, joins; large, middling and small ones."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import MB, Truth, size_of

truth = Truth()
source, target = bytearray(b"x" * (5 * MB)), bytearray(5 * MB)
for _ in range(40):
    bytes(source)  # @bytes
truth.line("bytes", copy=40 * 5 * MB, malloc=40 * size_of(bytes(5 * MB)))
for _ in range(40):
    target[:] = source  # @assigned
truth.line("assigned", copy=40 * 5 * MB)
for _ in range(10000):
    source[:8000]  # @slices
truth.line("slices", copy=10000 * 8000, malloc=10000 * size_of(bytearray(8000)))
text = b"y" * 300
for _ in range(200000):
    text + text  # @small
truth.line("small", copy=200000 * 600, malloc=200000 * size_of(text + text))
parts = [b"z" * 20000] * 100
for _ in range(50):
    b"".join(parts)  # @joined
truth.line("joined", copy=50 * 100 * 20000)
view = memoryview(source)
for _ in range(400):
    view[:200000].tobytes()  # @view
truth.line("view", copy=400 * 200000)
truth.write()
