"""Pure-Python code of the standard library is booked to the line that calls it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

import fractions
import json
import textwrap

TEXT = "the quick brown fox jumps over the lazy dog " * 20
DOCUMENT = [{"key": str(i), "value": [i, i / 7]} for i in range(20)]


def wrapping():
    textwrap.wrap(TEXT, 40)


def dumping():
    json.dumps(DOCUMENT, indent=2)


def adding():
    third = fractions.Fraction(1, 3)
    total = third
    for _ in range(20):
        total = total + third


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


case = Case()
case.phase(wrapping)
case.phase(dumping)
case.phase(adding)
case.phase(in_python, unit_s=0.0005, python=1)
case.play(seconds())
case.write()
