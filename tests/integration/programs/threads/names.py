"""Threads with names of every kind: given, set while they run, of a pool, of C code."""

import ctypes
import threading
import time
from concurrent.futures import ThreadPoolExecutor


class Named(threading.Thread):
    def __init__(self):
        super().__init__()
        self.name = "näme of more than 15 letters"

    def run(self):
        vars(self)["attribute"] = 1  # from now on with a dictionary of its own
        time.sleep(0.4)


def renamed():
    threading.current_thread().name = "renamed"
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        sum(range(1000))


def of_the_system():
    ctypes.CDLL(None).prctl(15, b"of-the-system")
    time.sleep(0.4)


def from_c():
    """A thread of the C library that calls into Python."""
    library = ctypes.CDLL(None)
    routine = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: of_the_system())
    thread = ctypes.c_ulong()
    library.pthread_create(ctypes.byref(thread), None, routine, None)
    library.pthread_join(thread, None)


threads = [Named(), threading.Thread(target=renamed), threading.Thread(target=from_c)]
threads.append(threading.Thread(target=time.sleep, args=(0.4,), name="sleeper"))
for thread in threads:
    thread.start()
with ThreadPoolExecutor(2, thread_name_prefix="pool") as pool:
    list(pool.map(time.sleep, [0.3, 0.3]))
for thread in threads:
    thread.join()
