"""Time in a comprehension, lambda, generator, method, nested and decorated functions, exec."""

import functools
import time


def decorator(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Thing:
    def method(self):
        total = 0
        for i in range(4000):
            total += i * i  # METHOD
        return total


def comprehension():
    return [i * i for i in range(4000)]  # COMPREHENSION


squares = lambda: sum(map(lambda i: i * i, range(4000)))  # noqa: E731  LAMBDA


def generator():
    for i in range(4000):
        yield i * i  # GENERATOR


@decorator
def decorated():
    total = 0
    for i in range(4000):
        total += i * i  # DECORATED
    return total


def nested():
    def inner():
        total = 0
        for i in range(4000):
            total += i * i  # NESTED
        return total

    return inner()


made = {}
exec(compile("def made():\n    for i in range(4000):\n        i * i\n", "<made>", "exec"), made)

for work in (
    Thing().method,
    comprehension,
    squares,
    lambda: list(generator()),
    decorated,
    nested,
    made["made"],
):
    end = time.process_time() + 0.12
    while time.process_time() < end:
        work()
