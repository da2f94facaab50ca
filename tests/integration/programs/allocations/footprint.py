"""A peak of 60 MB in the middle; 200 MB in all, hardly anything at the end."""

import time

MB = 1 << 20
for _ in range(10):
    bytearray(10 * MB)
    time.sleep(0.01)
low = bytearray(20 * MB)
high = [bytearray(4 * MB) for _ in range(10)]  # PEAK
time.sleep(0.1)
del high
time.sleep(0.1)
for _ in range(10):
    bytearray(4 * MB)
    time.sleep(0.01)
