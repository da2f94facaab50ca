"""Three functions that take 70, 20 and 10 percent of the time by construction.

On SIGUSR1 it says what they have really taken, by its own CPU clock: on a busy
machine, or one whose host takes the processor away, one of them may be hit.
"""
import os
import signal
from itertools import repeat
from time import process_time


def burn(count):
    total = 0
    for _ in repeat(None, count):
        total = (total + 3) & 7
    return total


def seventy():
    burn(7000)


def twenty():
    burn(2000)


def ten():
    burn(1000)


def report(*_):
    os.write(1, b"%f %f %f\n" % tuple(taken))  # print() may be what was interrupted


taken = [0.0, 0.0, 0.0]
signal.signal(signal.SIGUSR1, report)
print("ready", flush=True)
while True:
    start = process_time()
    seventy()
    after_seventy = process_time()
    twenty()
    after_twenty = process_time()
    ten()
    end = process_time()
    taken[0] += after_seventy - start
    taken[1] += after_twenty - after_seventy
    taken[2] += end - after_twenty
