"""Works for half a second and ends as its argument says."""

import ctypes
import os
import signal
import sys
import time


def hot():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        for _ in range(1000):
            pass


print("ready", os.getpid(), flush=True)
hot()
how = sys.argv[1]
if how == "segfault":
    ctypes.string_at(0)
elif how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "killed child":
    pid = os.fork()
    if pid == 0:
        hot()
        os.kill(os.getpid(), signal.SIGKILL)
    sys.exit(os.waitpid(pid, 0)[1])
