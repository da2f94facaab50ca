"""Time in the kernel: reading, page faults; beside native code and Python."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

import hashlib
import mmap

ZERO = os.open("/dev/zero", os.O_RDONLY)
SINK = os.open("/dev/null", os.O_WRONLY)
BUFFER = bytearray(1 << 20)
PAGES = 2000


def reading():
    os.readv(ZERO, [BUFFER])


def faulting():
    pages = mmap.mmap(-1, PAGES * 4096)
    pages[::4096] = ONES
    pages.close()


def small_calls(count):
    for _ in range(count):
        os.write(SINK, b"x")


def hashing():
    hashlib.sha256(BUFFER)


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


ONES = bytes(PAGES)
case = Case()
case.phase(reading, 2, system=(0.95, 1))
case.phase(faulting, 2, system=(0.75, 1))
case.phase(small_calls, 1, unit_s=0.001)
case.phase(hashing, 1, native=(0.98, 1))
case.phase(in_python, 2, unit_s=0.001, python=1)
case.play(seconds())
case.write()
