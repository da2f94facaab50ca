"""numpy: large operations, small ones, and Python between them."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

MATRIX = np.random.default_rng(1).random((200, 200))
VECTOR = np.random.default_rng(2).random(200000)
ROOM = np.empty(200000)  # results go here: how many page faults a new array takes is up to the C library
SMALL = np.array([1.0, 2.0, 3.0])


def product():
    MATRIX @ MATRIX


def elementwise():
    np.multiply(VECTOR, VECTOR, out=ROOM)
    np.add(ROOM, VECTOR, out=ROOM)


def sort():
    np.copyto(ROOM, VECTOR)
    ROOM.sort()


def transcendental():
    np.sin(VECTOR, out=ROOM)


def small_arrays(count):
    total = SMALL
    for _ in range(count):
        total = SMALL + total
    return total


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


case = Case()
case.phase(product, native=(0.95, 1))
case.phase(elementwise, native=(0.95, 1))
case.phase(sort, native=(0.95, 1))
case.phase(transcendental, native=(0.95, 1))
case.phase(small_arrays, unit_s=0.001, native=(0.75, 1))
case.phase(in_python, unit_s=0.001, python=1)
case.play(seconds())
case.write()
