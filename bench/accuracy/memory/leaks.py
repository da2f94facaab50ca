"""Lines that leak, in three ways, among lines that look a little like it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import Truth, size_of

import collections
import time

truth = Truth()
cache, log, queue, listeners = {}, [], [], []
recent = collections.deque(maxlen=100)


class Handler:
    def __init__(self):
        self.state = bytearray(6000)  # @handler


def serve(number):
    cache[number] = bytes(20000)  # @cache
    log.append("request %d %s" % (number, "x" * 1500))  # @log
    listeners.append(Handler())
    bytearray(200000)  # @temporary
    recent.append(bytes(30000))  # @recent
    queue.append(bytes(40000))  # @queued
    if len(queue) > 20:
        del queue[:10]
    return sorted(str(i) for i in range(50))  # @sorted


def build():
    return [bytes(1000) for _ in range(10000)]  # @built


table = build()
end = time.monotonic() + float(os.environ.get("ACCURACY_SECONDS", "3"))
number = 0
while time.monotonic() < end:
    serve(number)
    number += 1
    time.sleep(0.001)
for name in ("cache", "log", "handler"):
    truth.line(name, leaks=True)
truth.line("cache", malloc=None, kept=number * size_of(bytes(20000)), leaks=True)
truth.line("temporary", malloc=number * size_of(bytearray(200000)), kept=0)
truth.line("queued", malloc=number * size_of(bytes(40000)))
truth.write()
