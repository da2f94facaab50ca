"""A busy main thread, a busy helper, and threads that only wait: those take no part."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

import hashlib
import threading
import time

from truth import cpu_clock

BLOCK = bytes(1 << 18)


def waiting():
    done.wait()


def napping():
    while not done.is_set():
        time.sleep(0.05)


def hashing(until_s):
    start = cpu_clock()
    while helper.cpu_s < until_s:
        hashlib.sha256(BLOCK)
        helper.cpu_s = cpu_clock() - start


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


done = threading.Event()
case = Case()
helper = case.part("hashing", native=(0.97, 1))
case.phase(in_python, unit_s=0.01, python=1)
case.part("waiting")
case.part("napping")
threads = [threading.Thread(target=waiting), threading.Thread(target=napping),
           threading.Thread(target=hashing, args=(0.3 * seconds(),))]
for thread in threads:
    thread.start()
case.play(0.7 * seconds())
done.set()
for thread in threads:
    thread.join()
case.write()
