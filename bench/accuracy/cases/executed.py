"""Code from exec, beside code from the file."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

SOURCE = """
total = 0
for i in range(count):
    total += i * i % 7
"""
CODE = compile(SOURCE, "<string>", "exec")


def executed(count):
    exec(CODE, {"count": count})



def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


case = Case()
case.phase(executed, unit_s=0.001, python=(0.97, 1)).file = "<string>"
case.phase(in_python, unit_s=0.001, python=1)
case.play(seconds())
case.write()
