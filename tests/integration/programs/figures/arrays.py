"""numpy on two lines, Python on another, for the same CPU time each."""

import time

import numpy

a = numpy.random.rand(200, 200)


def product():
    for _ in range(10):
        a @ a  # NATIVE product


def ufunc():
    for _ in range(10):
        numpy.sin(a)  # NATIVE ufunc


def loop():
    for i in range(3000):
        i * i + i  # PYTHON


for work in (product, ufunc, loop):
    end = time.process_time() + 0.4
    while time.process_time() < end:
        work()
