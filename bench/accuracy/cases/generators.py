"""A pipeline of generators, each with work of its own between its yields."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

from truth import cpu_clock


def produce(count):
    while True:
        start = cpu_clock()
        total = 0
        for i in range(count):
            total += i * i % 7
        first.cpu_s += cpu_clock() - start
        yield total


def transform(source, count):
    for value in source:
        start = cpu_clock()
        for i in range(count):
            value += i * i % 7
        second.cpu_s += cpu_clock() - start
        yield value


def delegate(source):
    yield from source


def consume(source, count, until_s):
    for value in source:
        start = cpu_clock()
        for i in range(count):
            value += i * i % 7
        third.cpu_s += cpu_clock() - start
        if first.cpu_s + second.cpu_s + third.cpu_s >= until_s:
            return


case = Case()
first = case.part("produce", python=1)
second = case.part("transform", python=1)
third = case.part("consume", python=1)
consume(delegate(transform(delegate(produce(3000)), 1500)), 6000, seconds())
case.write()
