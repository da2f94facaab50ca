"""A session that is never stopped; the process ends as its argument says."""

import os
import signal
import sys

import heatline
from parts import burn, collectors

heatline.start()
folder = heatline.api._state.collector.folder
print(folder, *collectors(), flush=True)
burn(0.1)
how = sys.argv[1]
if how == "raise":
    raise ValueError("mine")
if how == "_exit":
    os._exit(3)
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "exec":
    os.execv(sys.executable, [sys.executable, "-c", "print('another')"])
