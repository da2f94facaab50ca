"""Handlers on an alternate stack with room for two signals, but not for much more; it ends at a guard."""

import ctypes
import faulthandler
import mmap
import os
import signal
import time

AT_MINSIGSTKSZ = 51
GUARD = STACK = 65536
HANDLER = 1440


class Stack(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


libc = ctypes.CDLL(None)
libc.getauxval.restype = ctypes.c_ulong
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
memory = mmap.mmap(-1, GUARD + STACK)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
print("guard", libc.mprotect(start, GUARD, 0))
size = max(8192, 2 * libc.getauxval(AT_MINSIGSTKSZ) + HANDLER)


def go_down(levels):
    if levels:
        return go_down(levels - 1)
    with open(os.devnull, "w") as nowhere:
        faulthandler.register(signal.SIGUSR1, file=nowhere)
        stack = Stack(start + GUARD, 0, size)
        print("stack", libc.sigaltstack(ctypes.byref(stack), None), flush=True)
        end = time.thread_time() + 1
        while time.thread_time() < end:
            os.kill(os.getpid(), signal.SIGUSR1)
        faulthandler.unregister(signal.SIGUSR1)
        stack.flags = 2  # SS_DISABLE
        print("none", libc.sigaltstack(ctypes.byref(stack), None))


go_down(80)
