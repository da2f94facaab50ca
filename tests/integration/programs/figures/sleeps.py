"""Sleeps on one line, works on another, one half each of the time."""

import time


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(1000):
            pass


def rest(seconds):
    time.sleep(seconds)  # SLEEP


for _ in range(4):
    began = time.monotonic()
    work(0.1)
    rest(time.monotonic() - began)
