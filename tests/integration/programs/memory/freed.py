"""Much memory comes and goes, on other lines and in waves; nothing leaks."""

import time
from collections import deque

queue = deque()


def produce():
    queue.append(bytearray(60_000))  # PRODUCE


def consume():
    queue.popleft()


def batch(count):
    rows = [{"a": i, "b": str(i)} for i in range(count)]  # BATCH
    return sum(row["a"] for row in rows)


def wave():
    rows = []
    for i in range(200):
        rows.append("y" * 10_000)  # WAVE
        if i % 50 == 0:
            time.sleep(0.002)


for turn in range(400):
    produce()
    if len(queue) > 60:
        consume()
    if turn % 10 == 0:
        batch(1000)
    if turn % 20 == 0:
        wave()
    time.sleep(0.002)
