"""Computes until a file is there, then waits in another place."""

import os
import sys
import time


def compute():
    while not os.path.exists(sys.argv[1]):
        for _ in range(20000):
            pass


def wait():
    time.sleep(2)


print("ready", os.getpid(), flush=True)
compute()
wait()
