"""One line that leaks, and others that look a little like it: python leaking.py SECONDS"""

import collections
import sys
import time

KB = 1024
cache = {}
recent = collections.deque(maxlen=40)
queue = []


def leaks(number):
    cache[number] = bytearray(30 * KB)  # LEAK


def temporaries():
    return len([bytearray(10 * KB) for _ in range(20)])


def bounded():
    recent.append(bytearray(30 * KB))


def produce():
    queue.append(bytearray(50 * KB))  # freed by consume


def consume():
    while len(queue) > 5:
        queue.pop(0)


def filled_and_emptied(number, bag=[]):
    bag.append(bytearray(20 * KB))
    if number % 50 == 49:
        bag.clear()


def main():
    start = [bytearray(KB) for _ in range(5000)]  # built once, kept
    begin = last = time.monotonic()
    number, longest = 0, 0
    # Where the machine was busy elsewhere for a while it takes longer: that while is no quarter of it.
    while last - begin < max(float(sys.argv[1]), 8 * longest):
        leaks(number)
        temporaries()
        bounded()
        produce()
        consume()
        filled_and_emptied(number)
        number += 1
        time.sleep(0.002)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    return start


start = main()
