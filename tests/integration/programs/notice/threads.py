"""Threads: their number for Python and for the system, names, ends, and a crowd of short ones."""

import _thread
import os
import signal
import sys
import threading
import time

from burn import burn


def look(where):
    burn()
    print(where, "python", sorted(t.name for t in threading.enumerate()), threading.active_count())
    print(where, "frames", len(sys._current_frames()), "system", len(os.listdir("/proc/self/task")))
    print(where, "main", threading.current_thread() is threading.main_thread())


look("alone")
names = []
for task in os.listdir("/proc/self/task"):
    with open("/proc/self/task/%s/comm" % task) as comm:
        names.append(comm.read().strip())
print("system names", names)

go = threading.Event()
threads = [threading.Thread(target=go.wait, name="waiter-%d" % i) for i in range(3)]
for thread in threads:
    thread.start()
time.sleep(0.05)
look("with three")
go.set()
for thread in threads:
    thread.join()
time.sleep(0.05)
look("after")

inside = threading.Thread(target=look, args=("inside",), name="inside")
inside.start()
inside.join()

print("stack size", threading.stack_size())
threading.stack_size(256 * 1024)
small = threading.Thread(target=burn)
small.start()
small.join()
threading.stack_size(0)

# A crowd of short threads, some of which end by raising SystemExit.
count = []


def short(i):
    count.append(i)
    if i % 3 == 0:
        sys.exit(i)
    if i % 3 == 1:
        _thread.exit()


for batch in range(20):
    crowd = [threading.Thread(target=short, args=(i,)) for i in range(20)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
print("crowd", len(count))

seen = []
signal.signal(
    signal.SIGUSR1, lambda n, f: seen.append(threading.current_thread() is threading.main_thread())
)
busy = threading.Thread(target=burn, args=(0.1,))
busy.start()
signal.pthread_kill(busy.ident, signal.SIGUSR1)
busy.join()
print("handler ran in the main thread", seen)

# A daemon that still works when the interpreter goes down.
threading.Thread(target=burn, args=(3600,), daemon=True).start()
burn()
