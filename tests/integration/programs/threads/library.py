"""A library's thread, which no Python has called, waits as long as the program runs."""

import ctypes
import time

libc = ctypes.CDLL(None)
mutex = ctypes.create_string_buffer(128)
libc.pthread_mutex_init(mutex, None)
libc.pthread_mutex_lock(mutex)
thread = ctypes.c_ulong()
lock = ctypes.cast(libc.pthread_mutex_lock, ctypes.c_void_p)
assert libc.pthread_create(ctypes.byref(thread), None, lock, mutex) == 0
time.sleep(0.6)
