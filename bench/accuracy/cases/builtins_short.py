"""Calls of C builtins that take a microsecond or a few: the call is native, the loop is Python."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, keep_arenas, seconds

import hashlib
import json
import random
import re

RANDOM = random.Random(5)
FLOATS = [RANDOM.random() for _ in range(60)]
PATTERN = re.compile("[aeiou]")
LINE = "the quick brown fox jumps"
WORDS = LINE.split() * 6
SHORT_LIST = list(range(150))
NUMBER = 7 ** 700
BLOCK = b"x" * 1024


def sorting(count):
    for _ in range(count):
        sorted(FLOATS)


def substitution(count):
    for _ in range(count):
        PATTERN.sub("-", LINE)


def membership(count):
    for _ in range(count):
        -1 in SHORT_LIST


def big_integers(count):
    for _ in range(count):
        NUMBER * NUMBER


def joining(count):
    for _ in range(count):
        " ".join(WORDS)


def hashing(count):
    for _ in range(count):
        hashlib.sha256(BLOCK)


def dumping(count):
    for _ in range(count):
        json.dumps(LINE)


def summing(count):
    for _ in range(count):
        sum(SHORT_LIST)


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


ARENAS = keep_arenas()
case = Case()
case.phase(sorting, unit_s=0.001, native=(0.9, 1))  # the list is dropped after the call
case.phase(substitution, unit_s=0.001, native=(0.9, 1))
case.phase(membership, unit_s=0.001)  # neither a call nor long: either answer is fair
case.phase(big_integers, unit_s=0.001)
case.phase(joining, unit_s=0.001, native=(0.8, 1))
case.phase(hashing, unit_s=0.001, native=(0.8, 1))
case.phase(dumping, unit_s=0.001)  # partly Python code of the standard library
case.phase(summing, unit_s=0.001, native=(0.85, 1))
case.phase(in_python, unit_s=0.001, python=1)
case.play(seconds())
case.write()
