"""Two callers that take turns every microsecond: a stack that mixes them is impossible."""
import os
import signal
import time


def leaf_a(x):
    return x + 1


def leaf_b(x):
    return x - 1


def hot_a(x):
    return leaf_a(x)


def hot_b(x):
    return leaf_b(x)


def report(*_):
    os.write(1, b"%d %f\n" % (count, time.process_time()))  # print() may be what was interrupted


count = 0
signal.signal(signal.SIGUSR1, report)
print("ready", flush=True)
while True:
    for _ in range(1000):
        hot_b(hot_a(0))
    count += 1
