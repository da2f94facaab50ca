"""Works for so many seconds of CPU time, and is to be ended from outside."""

import os
import sys
import time


def hot(until):
    total = 0
    while time.process_time() < until:
        for number in range(2000):
            total += number * number
    return total


print("ready", os.getpid(), flush=True)
hot(time.process_time() + float(sys.argv[1] if len(sys.argv) > 1 else 60))
print("end", flush=True)
