"""Zeroed memory takes room only when it is touched."""

import ctypes
import mmap

from burn import burn

SIZE = 256 << 20
libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def resident_mib():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * mmap.PAGESIZE / (1 << 20)


def grows(make):
    before = resident_mib()
    kept = make()
    burn(0.02)
    grown = resident_mib() - before
    del kept
    return "stays small" if grown < 16 else "grows" if grown > 200 else grown


address = libc.calloc(1, SIZE)
print("calloc", "null" if not address else grows(lambda: libc.calloc(1, SIZE)))
libc.free(address)
print("bytes", grows(lambda: bytes(SIZE)))
print("mmap", grows(lambda: mmap.mmap(-1, SIZE)))
print("ctypes array", grows(lambda: (ctypes.c_char * SIZE)()))
print("touched", grows(lambda: b"x" * SIZE))
print("given back", resident_mib() < 200)
