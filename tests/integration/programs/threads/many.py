"""python many.py COUNT SECONDS AT_ONCE: so many threads, each working so long.

If all are there at once, none ends before all have worked.  Prints the CPU time of all."""

import sys
import threading
import time

count, seconds, at_once = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])

gate = threading.Barrier(count) if at_once == count else None


def work():
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(500))  # hot
    if gate:
        gate.wait()
    used.append(time.thread_time())


used, threads = [], []
for number in range(count):
    thread = threading.Thread(target=work, name="worker %d" % number)
    thread.start()
    threads.append(thread)
    if len(threads) == at_once:
        for thread in threads:
            thread.join()
        threads = []
for thread in threads:
    thread.join()
print(sum(used))
