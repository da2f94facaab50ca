"""Leaves a detached process behind, which goes on after the program's end and finishes its work."""

import os
import sys
import time
import warnings

from burn import burn

warnings.simplefilter("ignore")
path = sys.argv[1]
sys.stdout.flush()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        burn(0.2)
        time.sleep(0.2)
        with open(path + ".new", "w") as out:
            out.write("finished by the daemon")
        os.rename(path + ".new", path)
    os._exit(0)
os.wait()
burn()
print("the program ends")
