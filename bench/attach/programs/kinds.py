"""Python code, work in C and time in the kernel in known parts: a third each, roughly.

On SIGUSR1 it says what they have really taken, by its own CPU clock.
"""
import hashlib
import os
import signal
from itertools import repeat
from time import thread_time

BLOCK = b"x" * 100_000
room = bytearray(400_000)
zeroes = os.open("/dev/zero", os.O_RDONLY)


def interpret(count):
    total = 0
    for _ in repeat(None, count):
        total = (total + 3) & 7  # Python
    return total


def compute():
    return hashlib.sha256(BLOCK)  # native


def read():
    return os.readv(zeroes, [room, room])  # system


def report(*_):
    os.write(1, b"%f %f %f\n" % tuple(taken))


taken = [0.0, 0.0, 0.0]
signal.signal(signal.SIGUSR1, report)
print("ready", flush=True)
while True:
    start = thread_time()
    interpret(2500)
    interpreted = thread_time()
    compute()
    computed = thread_time()
    read()
    read()
    end = thread_time()
    taken[0] += interpreted - start
    taken[1] += computed - interpreted
    taken[2] += end - computed
