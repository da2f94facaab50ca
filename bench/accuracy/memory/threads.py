"""Eight threads, each with a line of its own, and one line that they share."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import Truth, size_of

import threading

truth, kept, lock = Truth(), [], threading.Lock()


def even(count):
    for _ in range(count):
        bytes(3000)  # @even
        shared(700)


def odd(count):
    for _ in range(count):
        bytearray(9000)  # @odd
        shared(700)


def keeper(count):
    for _ in range(count):
        kept.append(bytes(20000))  # @keeper


def shared(size):
    return bytes(size)  # @shared


plan = [(even, 6000), (odd, 3000)] * 3 + [(keeper, 2000)] * 2
threads = [threading.Thread(target=work, args=(count,)) for work, count in plan]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
truth.line("even", malloc=18000 * size_of(bytes(3000)), kept=0)
truth.line("odd", malloc=9000 * size_of(bytearray(9000)), kept=0)
truth.line("shared", malloc=27000 * size_of(bytes(700)), kept=0)
truth.line("keeper", kept=4000 * size_of(bytes(20000)))
truth.write()
