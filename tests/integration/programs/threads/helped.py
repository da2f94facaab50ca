"""A library's thread computes while the main thread waits for it, then while it sleeps.  Prints how long each took."""

import ctypes
import time

libc = ctypes.CDLL(None)
shuffle = ctypes.cast(libc.strfry, ctypes.c_void_p)
text = ctypes.create_string_buffer(b"x" * 30_000_000)


def begin():
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, shuffle, text) == 0
    return thread


start = time.perf_counter()
thread = begin()
libc.pthread_join(thread, None)  # joins
joined = time.perf_counter()
thread = begin()
time.sleep(0.3)  # sleeps
print(joined - start)
libc.pthread_join(thread, None)
