"""Two threads of Python that share the GIL, and one that does without it.

python gil.py SECONDS: CPU seconds of each."""

import hashlib
import sys
import threading
import time

SECONDS = float(sys.argv[1])
DATA = b"x" * (96 << 20)


def busy():
    end = time.thread_time() + SECONDS
    total = 0
    while time.thread_time() < end:
        total += sum([i * i for i in range(20000)])  # shares
    return total


def native():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        hashlib.sha256(DATA).digest()  # releases


threads = [threading.Thread(target=busy, name="busy %d" % i) for i in range(2)]
threads.append(threading.Thread(target=native, name="native"))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
