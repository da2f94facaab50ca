"""Lines whose work C does, and one of pure Python, each for a given CPU time."""

import hashlib
import random
import re
import time
import zlib

random.seed(1)
data = random.randbytes(1 << 16) if hasattr(random, "randbytes") else bytes(range(256)) * 256
text = "abc, " * 3000
numbers = [random.random() for _ in range(20000)]
haystack = list(range(100000))
big = 3**20000


def spend(work, seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        work()


def hashes():
    hashlib.sha256(data)  # NATIVE hash


def compresses():
    zlib.compress(data, 6)  # NATIVE zlib


def sorts():
    sorted(numbers)  # NATIVE sorted


def sums():
    sum(range(100000))  # NATIVE sum


def searches():
    -1 in haystack  # NATIVE in


def multiplies():
    big * big  # NATIVE int


def replaces():
    re.sub("b+", "x", text)  # NATIVE re


def joins():
    ",".join(map(str, haystack[:20000]))  # NATIVE join


def pure():
    total = 0
    for i in range(5000):
        total += i * i % 7 - i  # PYTHON


for call in (hashes, compresses, sorts, sums, replaces, joins):
    spend(call, 0.15)
# An operator's length shows only in the number of samples beside its operands'.
for operation in (searches, multiplies):
    spend(operation, 0.8)
spend(pure, 0.4)
