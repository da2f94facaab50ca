"""Dicts, sets, lists and strings by operators, without a call: Python, however much C is below."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

KEYS = ["key%d" % i for i in range(500)]
SET = set(KEYS[::2])
LIST = list(range(500))
COUNTS = dict.fromkeys(KEYS, 0)


def counting(count):
    counts = COUNTS
    for _ in range(count):
        for key in KEYS:
            counts[key] = counts[key] + 1


def testing(count):
    present = 0
    for _ in range(count):
        for key in KEYS:
            if key in SET:
                present += 1


def filling(count):
    for _ in range(count):
        table = {}
        for key in KEYS:
            table[key] = key
        for key in KEYS:
            del table[key]


def indexing(count):
    numbers = LIST
    for _ in range(count):
        for i in LIST:
            numbers[i] = numbers[-i] ^ 1


def unpacking(count):
    a, b, c = 1, 2, 3
    for _ in range(count):
        for _ in KEYS:
            a, b, c = c, a, b


def concatenating(count):
    for _ in range(count):
        text = ""
        for _ in KEYS:
            text += "ab"


def formatting(count):
    for _ in range(count):
        for i in LIST:
            f"{i} is {i}"


def slicing(count):
    text = "the quick brown fox jumps over the lazy dog"
    for _ in range(count):
        for i in LIST:
            text[3:9]


case = Case()
for function in (counting, testing, filling, indexing, unpacking, concatenating, formatting, slicing):
    case.phase(function, unit_s=0.001, python=(0.95, 1))
case.play(seconds())
case.write()
