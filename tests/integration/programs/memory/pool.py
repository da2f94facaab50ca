"""Address space that an allocator takes once and gives memory out of, wherever the program is."""

import ctypes
import mmap
import sys
import time

MB = 1 << 20
MAP_NORESERVE = 0x4000  # the module has it from Python 3.13 on
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
pool = mmap.mmap(-1, 800 * MB, flags=flags)  # MAPS
start = ctypes.addressof(ctypes.c_char.from_buffer(pool))

# Sleep before and after, on the same line: long enough to be seen there.


def first():
    (time.sleep(1), ctypes.memset(start, 1, 40 * MB), time.sleep(1))  # FIRST


def second():
    (time.sleep(1), ctypes.memset(start + 40 * MB, 1, 24 * MB), time.sleep(1))  # SECOND


# Goes when the pool has been unmapped, by the interpreter's end: that was kept until then.  (A
# method that could be seen from here would keep the pool.)
apart = {}
exec("class Late:\n    def __del__(self, sleep=__import__('time').sleep):\n        sleep(0.3)", apart)
sys.late = apart.pop("Late")()
del apart

first()
second()
pool.madvise(mmap.MADV_DONTNEED, 40 * MB, 24 * MB)
time.sleep(0.5)
