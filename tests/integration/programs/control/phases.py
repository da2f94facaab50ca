"""Works in three phases; each ends when the file that is named after it appears."""

import os
import sys
import time

folder = sys.argv[1]


def ended(name):
    return os.path.exists(os.path.join(folder, name))


def before():
    kept = []
    while not ended("before"):
        kept.append(bytearray(300000))
        del kept[:-20]
        for _ in range(20000):
            pass
        time.sleep(0.005)


def during():
    kept = []
    while not ended("during"):
        for _ in range(20000):
            pass
        kept.append(bytearray(200000))
        del kept[:-20]
        time.sleep(0.005)


def after():
    while not ended("after"):
        for _ in range(20000):
            pass
        time.sleep(0.005)


print("ready", os.getpid(), flush=True)
before()
during()
after()
