"""Works for a while, and is to be ended from outside."""

import os
import sys
import time


def hot(until):
    total = 0
    while time.monotonic() < until:
        for number in range(2000):
            total += number * number
    return total


print("ready", os.getpid(), flush=True)
hot(time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 60))
print("end", flush=True)
