"""Works for half a second, then ends as its argument says."""

import ctypes
import os
import signal
import sys
import time


def hot(seconds):
    end = time.process_time() + seconds
    n = 0
    while time.process_time() < end:
        for i in range(500):
            n += i * i % 7  # HOT


hot(0.5)
how = sys.argv[1]
if how == "os_exit":
    os._exit(7)
elif how == "abort":
    os.abort()
elif how == "segfault":
    ctypes.string_at(0)
elif how == "exception":
    raise ValueError("as asked")
elif how == "exec":
    os.execv(sys.executable, [sys.executable, "-c", "print('another program')"])
else:
    os.kill(os.getpid(), getattr(signal, how))
    hot(10)
