"""Calls a native library that does all sorts of things with signals."""

import ctypes
import signal
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])
NUMBERS = [signal.SIGUSR1, 16, signal.SIGTRAP, signal.SIGVTALRM, signal.SIGIO]
NUMBERS += [signal.SIGRTMIN, signal.SIGRTMAX]

print("signals found while blocked", library.blocked_work(), library.blocked_threads())
for number in NUMBERS:
    print(int(number), "own handler", library.own_handler(int(number)))
    print(int(number), "signal()", library.old_signal(int(number)))
    print(int(number), "python sees", signal.getsignal(number))
print("faults survived", library.faults(50))
print("breakpoints met", library.breakpoints(50))
print("jumps", library.jumps(2000))
print("own profiler", library.own_profiler())


def hot():
    """After all that, the thread is still sampled here."""
    end = time.process_time() + 0.3
    while time.process_time() < end:
        sum(range(1000))


hot()
results = []
threads = [
    threading.Thread(target=lambda: results.append(library.blocked_work())) for _ in range(3)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("in threads", results)
