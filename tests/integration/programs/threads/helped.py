"""A library's thread computes while the main thread waits for it, then while it sleeps.  Prints how long the first took,
and its CPU time."""

import ctypes
import time

LONG, SHORT = 60_000_000, 30_000_000
libc = ctypes.CDLL(None)
shuffle = ctypes.cast(libc.strfry, ctypes.c_void_p)
text = ctypes.create_string_buffer(b"x" * LONG)


def begin(length):
    thread = ctypes.c_ulong()
    last = ctypes.byref(text, LONG - length)
    assert libc.pthread_create(ctypes.byref(thread), None, shuffle, last) == 0
    return thread


start, start_cpu = time.perf_counter(), time.process_time()
thread = begin(LONG)
libc.pthread_join(thread, None)  # joins
joined, joined_cpu = time.perf_counter(), time.process_time()
thread = begin(SHORT)
time.sleep(1)  # sleeps
print(joined - start, joined_cpu - start_cpu)
libc.pthread_join(thread, None)
