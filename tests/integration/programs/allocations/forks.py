"""Memory across fork: what the parent made is the parent's, what the child makes counts too."""

import ctypes
import os

MB = 1 << 20
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

mine = [bytearray(MB) for _ in range(20)]  #: malloc 20, python 1, kept 20, peak 20
native = [libc.malloc(MB) for _ in range(20)]  #: malloc 20, python 0, kept 20, peak 20
small = [bytes(1000) for _ in range(5000)]  #: kept 4.9


def child():
    mine.clear()  # gives back what is the parent's
    small.clear()
    for block in native:
        libc.free(block)
    own = [bytearray(MB) for _ in range(5)]  #: malloc 20, python 1, kept 20
    for _ in range(10):
        bytearray(MB)  #: malloc 40, python 1, kept 0
    os._exit(0 if own else 1)


for _ in range(4):
    pid = os.fork()
    if pid == 0:
        child()
    assert os.waitpid(pid, 0)[1] == 0
print("done")
