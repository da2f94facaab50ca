"""Two threads, one after the other, that work for longer than their samples tell."""

import threading
import time


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def first():
    work(0.14)  # first


def second():
    work(0.13)  # second


for target in (first, second):
    thread = threading.Thread(target=target, name=target.__name__)
    thread.start()
    thread.join()
