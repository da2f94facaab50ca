"""One line takes nearly all the time."""

import time


def cold(n):
    return n + 1


def hot(end):
    n = 0
    while n < end:
        n += (n * 3 + 1) % 7 - n // 3 + n % 5 - (n * 3 + 1) % 7 + n // 3 - n % 5 + 1  # HOT
    return n


start = time.process_time()
cold(1)
while time.process_time() - start < 0.8:
    hot(50000)
