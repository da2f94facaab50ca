"""What the C library says of the process: dumpable, death signal, alternate stack, slack."""

import ctypes

from burn import burn

libc = ctypes.CDLL(None, use_errno=True)
PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_GET_TIMERSLACK, PR_GET_CHILD_SUBREAPER = 2, 3, 30, 37


class Stack(ctypes.Structure):
    _fields_ = [("pointer", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


def look():
    value = ctypes.c_int(-1)
    libc.prctl(PR_GET_PDEATHSIG, ctypes.byref(value))
    print("death signal", value.value)
    libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(value))
    print("subreaper", value.value)
    print("dumpable", libc.prctl(PR_GET_DUMPABLE), "slack", libc.prctl(PR_GET_TIMERSLACK))
    stack = Stack()
    print(
        "sigaltstack",
        libc.sigaltstack(None, ctypes.byref(stack)),
        bool(stack.pointer),
        stack.flags,
        stack.size,
    )
    ctypes.set_errno(0)
    burn(0.05)
    print("errno", ctypes.get_errno())


look()
burn()
look()
