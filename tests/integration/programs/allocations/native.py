"""Memory through a C library: python native.py HELPER.so (see lines.py for the comments)."""

import ctypes
import sys
import threading

MB = 1 << 20
helper = ctypes.CDLL(sys.argv[1])
libc = ctypes.CDLL(None)
libc.free.argtypes = helper.give_back_elsewhere.argtypes = [ctypes.c_void_p]


def getter(name):
    function = getattr(helper, "get_" + name)
    function.argtypes, function.restype = [ctypes.c_size_t], ctypes.c_void_p
    return function


posix_memalign, aligned_alloc, memalign = map(getter, "posix_memalign aligned_alloc memalign".split())
valloc, reallocarray, strdup, in_thread = map(getter, "valloc reallocarray strdup in_thread".split())

for _ in range(5):
    libc.free(posix_memalign(4 * MB))  #: malloc 20, python 0, kept 0, peak 4
    libc.free(aligned_alloc(4 * MB))  #: malloc 20, python 0, kept 0, peak 4
    libc.free(memalign(4 * MB))  #: malloc 20, python 0, kept 0, peak 4
    libc.free(valloc(4 * MB))  #: malloc 20, python 0, kept 0, peak 4
    libc.free(reallocarray(4 * MB))  #: malloc 20, python 0, kept 0, peak 4
    libc.free(strdup(4 * MB))  #: malloc 40, python 0, kept 0, peak 8
for _ in range(2000):
    libc.free(aligned_alloc(6400))  #: malloc 12.2, kept 0

for _ in range(5):
    block = posix_memalign(4 * MB)  #: malloc 20, kept 0, peak 4
    helper.give_back_elsewhere(block)

# Handed from one thread to another.
blocks = [aligned_alloc(2 * MB) for _ in range(10)]  #: malloc 20, kept 0, peak 20
thread = threading.Thread(target=lambda: [libc.free(block) for block in blocks])
thread.start()
thread.join()


def worker():
    for _ in range(10):
        results.append(bytearray(MB))  #: malloc 40, python 1, kept 20, peak 40


results = []
threads = [threading.Thread(target=worker) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
del results[20:]

outside = in_thread(8 * MB)  # on a thread without Python: no line's, but the program's
print("done")
