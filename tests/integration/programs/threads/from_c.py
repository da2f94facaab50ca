"""Work in a thread that the C library made and that calls into Python, beside as much in the main thread."""

import ctypes
import time


def burn():
    end = time.thread_time() + 0.4
    while time.thread_time() < end:
        sum(range(2000))


def called(_):
    burn()  # CALLED


def main():
    library = ctypes.CDLL(None)
    routine = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(called)
    thread = ctypes.c_ulong()
    library.pthread_create(ctypes.byref(thread), None, routine, None)
    library.pthread_join(thread, None)  # JOIN
    burn()  # MAIN


main()
