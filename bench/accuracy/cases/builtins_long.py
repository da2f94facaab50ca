"""C builtins that take a tenth of a millisecond or more a call: native."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, keep_arenas, seconds

import hashlib
import json
import random
import re

RANDOM = random.Random(3)
FLOATS = [RANDOM.random() for _ in range(5000)]
TEXT = "the quick brown fox jumps over the lazy dog " * 500
WORDS = TEXT.split() * 5
BLOCK = bytes(1 << 20)
DOCUMENT = [{"key": str(i), "value": [i, i / 7, None, True]} for i in range(500)]


def sorting():
    sorted(FLOATS)


def substitution():
    re.sub(r"[aeiou]\w", "<>", TEXT)


def joining():
    " ".join(WORDS)


def hashing():
    hashlib.sha256(BLOCK).digest()


def dumping():
    json.dumps(DOCUMENT)


def summing():
    sum(range(50000))


def counting():
    TEXT.count("zebra")


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


ARENAS = keep_arenas()
case = Case()
case.phase(sorting, native=(0.97, 1))
case.phase(substitution, native=(0.97, 1))
case.phase(joining, native=(0.95, 1))
case.phase(hashing, native=(0.97, 1))
case.phase(dumping, native=(0.95, 1))
case.phase(summing, native=(0.97, 1))
case.phase(counting, native=(0.97, 1))
case.phase(in_python, unit_s=0.001, python=1)
case.play(seconds())
case.write()
