"""Python work at the bottom of a stack of argv[1] frames."""
import sys


def work(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def descend(depth, count):
    return work(count) if depth <= 1 else descend(depth - 1, count)


sys.setrecursionlimit(20000)
descend(int(sys.argv[1]), 20_000_000)
