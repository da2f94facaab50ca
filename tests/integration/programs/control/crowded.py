"""Computes until the file that is named appears, on one processor with two children that do
the same: each stands ready to run for two thirds of the time."""

import os
import sys

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def work():
    while not os.path.exists(sys.argv[1]):
        for _ in range(20000):
            pass


children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    children.append(child)
print("ready", os.getpid(), flush=True)
work()
for child in children:
    os.waitpid(child, 0)
