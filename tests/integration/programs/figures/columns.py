"""Two calls on one line, of which the second takes nine tenths of the time."""

import time


def line():
    return sum(range(2000)) + sum(range(18000))  # LINE


end = time.process_time() + 0.8
while time.process_time() < end:
    line()
