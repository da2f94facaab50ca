"""What a line does to memory, known from the program itself.

A comment that begins with ``#:`` says what the profile must show for its line, in megabytes:
``malloc`` in all, ``kept`` until the end, ``peak`` at once, ``copy``; ``python`` is the share
that is Python's own, ``count`` how many allocations there were.
"""

import ctypes
import mmap
import os
import sys

MB = 1 << 20
libc = ctypes.CDLL(None)
for name, arguments in {
    "malloc": [ctypes.c_size_t],
    "calloc": [ctypes.c_size_t, ctypes.c_size_t],
    "realloc": [ctypes.c_void_p, ctypes.c_size_t],
    "mmap": [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long],
}.items():
    getattr(libc, name).argtypes = arguments
    getattr(libc, name).restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
kept = []


class Small:
    __slots__ = ("a", "b", "c", "d")  # 64 bytes with the collector's header


def failures():
    """Allocations that cannot be: they count for nothing, and what follows still counts."""
    for size in (1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        for _ in range(5):
            assert not libc.malloc(size)  #: malloc 0
            assert not libc.realloc(None, size)  #: malloc 0
            assert not libc.calloc(size, 3)  #: malloc 0
    for _ in range(5):
        try:
            bytearray(sys.maxsize - 100)  #: malloc 0
        except MemoryError:
            pass


def python_blocks():
    for _ in range(20):
        kept.append(bytearray(2 * MB))  #: malloc 40, python 1, kept 40, peak 40, copy 0
    for _ in range(40):
        bytearray(MB)  #: malloc 40, python 1, kept 0, peak 1
    for _ in range(3000):
        bytes(10000)  #: malloc 28.7, python 1, kept 0
    kept.append([None] * (2 * MB))  #: malloc 16, python 1, kept 16, peak 16


def python_objects():
    many = [None] * 200000  #: malloc 1.53, kept 0, peak 1.53
    for i in range(200000):
        many[i] = Small()  #: malloc 12.2, count 200000, python 1, kept 0, peak 12.2
    keep = kept.append
    for _ in range(300000):
        keep(Small())  #: python 1, kept 20.8
    del many


def native_blocks():
    blocks = [0] * 20
    for i in range(20):
        blocks[i] = libc.malloc(MB)  #: malloc 20, python 0, kept 0, peak 20
    for block in blocks:
        libc.free(block)
    libc.malloc(8 * MB)  #: malloc 8, python 0, kept 8, peak 8
    libc.free(libc.calloc(8, MB))  #: malloc 8, python 0, kept 0


def native_objects():
    blocks = [0] * 100000
    for i in range(100000):
        blocks[i] = libc.malloc(1500)  #: malloc 143, kept 0
    for block in blocks:
        libc.free(block)


def resized():
    block = libc.malloc(MB)  #: malloc 1, kept 0
    for i in range(2, 13):
        block = libc.realloc(block, i * MB)  #: malloc 77, python 0, kept 0, peak 12
    block = libc.realloc(block, 4 * MB)  #: malloc 4, kept 0, peak 4
    block = libc.realloc(block, MB)  #: malloc 1, kept 1, peak 1
    growing = bytearray(4 * MB)  #: malloc 4, kept 0
    growing.extend(bytes(8 * MB))  #: python 1, peak 21, kept 13
    kept.append(growing)
    for _ in range(100000):
        shrinking = bytearray(800)
        del shrinking[300:]  #: malloc 28.7, python 1, kept 0


def touch(mapping, size):
    for at in range(0, size, mmap.PAGESIZE):
        mapping[at] = 1


def mapped():
    """Address space is memory as far as it was touched."""
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    first = mmap.mmap(-1, 24 * MB, flags=private)  #: malloc 24, python 0, kept 0, peak 24
    touch(first, 24 * MB)
    first.resize(48 * MB)  #: malloc 48, python 0, kept 0, peak 48
    touch(first, 48 * MB)
    first.close()
    kept.append(mmap.mmap(-1, 16 * MB))  #: malloc 16, python 0, kept 16
    touch(kept[-1], 16 * MB)
    kept.append(mmap.mmap(-1, 900 * MB, flags=private))  #: malloc 20, peak 20, kept 20
    touch(kept[-1], 20 * MB)
    kept.append(mmap.mmap(-1, 500 * MB, flags=private))  #: malloc 0, peak 0, kept 0
    for _ in range(5):
        brief = mmap.mmap(-1, 64 * MB, flags=private)  #: malloc 80, peak 16, kept 0
        touch(brief, 16 * MB)
        brief.close()


def trimmed():
    """As allocators do for alignment: mapped too large, then cut at both ends."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    rights = mmap.PROT_READ | mmap.PROT_WRITE
    at = libc.mmap(None, 80 * MB, rights, flags, -1, 0)  #: malloc 20, peak 20, kept 20
    assert libc.munmap(at, 30 * MB) == 0
    assert libc.munmap(at + 60 * MB, 20 * MB) == 0
    for page in range(at + 30 * MB, at + 50 * MB, mmap.PAGESIZE):
        ctypes.c_char.from_address(page).value = 1
    with open(sys.executable, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ).close()  #: malloc 0


def copied():
    source, target = bytearray(4 * MB), bytearray(4 * MB)
    for _ in range(10):
        bytes(source)  #: malloc 40, copy 40, python 1, kept 0
    for _ in range(10):
        target[:] = source  #: copy 40
    for _ in range(2000):
        source[:30000]  #: malloc 57.2, copy 57.2, kept 0
    part = b"x" * 500
    for _ in range(40000):
        part + part  #: malloc 39.3, copy 38.1


failures()
python_blocks()
python_objects()
native_blocks()
native_objects()
resized()
mapped()
trimmed()
copied()
