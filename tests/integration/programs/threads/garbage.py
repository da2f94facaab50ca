"""python garbage.py on|off SECONDS: cycles, with or without a collector for them."""

import gc
import sys
import time

if sys.argv[1] == "off":
    gc.disable()
keep = [[] for _ in range(200000)]  # what every collection has to go through


class Node:
    pass


def churn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(3000):
            node = Node()  # garbage
            node.me = node
        if gc.isenabled():
            gc.collect()  # collects


churn(float(sys.argv[2]))
