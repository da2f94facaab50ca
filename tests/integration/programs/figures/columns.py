"""Two calls on one line, of which the second takes nine tenths of the time."""

import time


def some(n):
    return sum(range(n))


def line():
    return some(2000) + some(18000)  # LINE


end = time.process_time() + 0.8
while time.process_time() < end:
    line()
