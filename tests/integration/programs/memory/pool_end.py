"""Pages of a pool and of a mapping are given back as the interpreter ends, which takes a while."""

import ctypes
import mmap
import time

MB = 1 << 20
MAP_NORESERVE = 0x4000  # the module has it from Python 3.13 on


class Pool:
    def __init__(self, size, flags):
        flags |= mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self.bytes = mmap.mmap(-1, size, flags=flags)  # MAPS
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.bytes))
        self.give_back = mmap.MADV_DONTNEED
        self.sleep = time.sleep
        self.goes_first = bytearray(MB)

    def take(self, size):
        # Long enough on this line to be seen there.
        (time.sleep(0.5), ctypes.memset(self.start, 1, size), time.sleep(0.5))  # TAKES

    def __del__(self):
        del self.goes_first
        self.bytes.madvise(self.give_back)
        self.sleep(0.4)


pool = Pool(400 * MB, MAP_NORESERVE)
large = Pool(30 * MB, 0)
pool.take(40 * MB)
large.take(20 * MB)
