"""The same arithmetic in a comprehension, a lambda, a decorated function, a closure, a generator
expression, a while loop: all Python, all with the same share."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

import functools


def comprehension(count):
    [i * i % 7 for i in range(count)]


def dict_comprehension(count):
    {i % 64: i * i for i in range(count)}


def generator_expression(count):
    total = 0
    for value in (i * i % 7 for i in range(count)):
        total += value
    return total


def through_lambda(count):
    square = lambda i: i * i % 7  # noqa: E731
    total = 0
    for i in range(count):
        total += square(i)
    return total


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


@logged
@logged
def decorated(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def closure(count):
    total = 0

    def add(i):
        nonlocal total
        total += i * i % 7

    for i in range(count):
        add(i)
    return total


def while_loop(count):
    total = i = 0
    while i < count:
        total += i * i % 7
        i += 1
    return total


case = Case()
for function in (comprehension, dict_comprehension, generator_expression, through_lambda, decorated, closure,
                 while_loop):
    case.phase(function, unit_s=0.0007, python=(0.97, 1))
case.play(seconds())
case.write()
