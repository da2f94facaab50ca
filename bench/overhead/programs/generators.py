"""Generators and comprehensions: pipelines that yield one element at a time."""
import itertools
import sys


def numbers(limit):
    n = 1
    while n < limit:
        yield n
        n += 1


def odd(source):
    for n in source:
        if n % 2:
            yield n


def pairs(source):
    previous = 0
    for n in source:
        yield previous, n
        previous = n


def flatten(depth, width):
    if depth == 0:
        yield width
    else:
        for _ in range(width):
            yield from flatten(depth - 1, width)


def run(limit):
    total = sum(b - a for a, b in pairs(odd(numbers(limit))))
    table = [[x * y for x in range(100)] for y in range(limit // 1000)]
    total += sum({v % 1009: v for row in table for v in row}.values())
    total += len({v % 131 for row in table for v in row if v & 1})
    total += sum(itertools.islice(flatten(7, 8), limit // 2))
    return total


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(run(int(6_000_000 * scale)))
