"""A Python child and, below a shell, one that is no Python; all end when the file appears."""

import os
import subprocess
import sys
import time

path = sys.argv[1]
WAIT = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.02)"
child = subprocess.Popen([sys.executable, "-c", WAIT, path])
other = subprocess.Popen(["sh", "-c", "sleep 60 & echo $! > " + path + ".sleep; wait"])
while not os.path.exists(path + ".sleep") or not open(path + ".sleep").read().endswith("\n"):
    time.sleep(0.02)
print("ready", os.getpid(), child.pid, other.pid, flush=True)
child.wait()
os.kill(int(open(path + ".sleep").read()), 15)
other.wait()
