"""numpy on one line, Python on another, for the same CPU time each."""

import time

import numpy

a = numpy.random.rand(200, 200)


def product():
    for _ in range(10):
        a @ a  # NATIVE product
        numpy.sin(a)  # NATIVE ufunc


def loop():
    for i in range(3000):
        i * i + i  # PYTHON


for work in (product, loop):
    end = time.process_time() + 0.4
    while time.process_time() < end:
        work()
